"""Material of the chapter *other-uses*."""
