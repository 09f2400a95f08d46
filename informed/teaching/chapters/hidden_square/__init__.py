"""Material of the chapter *hidden-square*."""
