"""Assessment: a bank of items, exams that are drawn from it, and the formats of platforms."""
