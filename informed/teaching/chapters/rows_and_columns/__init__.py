"""Material of the chapter *rows-and-columns*."""
