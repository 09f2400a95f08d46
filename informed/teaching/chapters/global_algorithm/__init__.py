"""Material of the chapter *global-algorithm*."""
