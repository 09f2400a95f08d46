"""Material of the chapter *toy-problem*."""
