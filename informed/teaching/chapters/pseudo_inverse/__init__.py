"""Material of the chapter *pseudo-inverse*."""
