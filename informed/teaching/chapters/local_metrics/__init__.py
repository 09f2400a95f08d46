"""Material of the chapter *local-metrics*."""
