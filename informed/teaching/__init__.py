"""The teaching: explorers, exercises and quizzes, and the material of each chapter.

All that belongs to one chapter besides its notebook is in ``chapters/<chapter>/``: the checks of
its exercises, its quiz, and the wrong answers that the tests try on the checks.
"""
