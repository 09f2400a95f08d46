"""Material of the chapter *hidden-variables*."""
