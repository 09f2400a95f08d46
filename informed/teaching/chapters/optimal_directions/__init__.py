"""Material of the chapter *optimal-directions*."""
