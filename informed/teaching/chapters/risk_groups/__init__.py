"""Material of the chapter *risk-groups*."""
