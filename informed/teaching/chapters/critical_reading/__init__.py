"""Material of the chapter *critical-reading*."""
