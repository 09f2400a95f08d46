"""Material of the chapter *real-cohorts*."""
