"""Material of the chapter *averaging*."""
