"""Material of the chapter *when-clusters-help*."""
