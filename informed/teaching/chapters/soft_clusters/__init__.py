"""Material of the chapter *soft-clusters*."""
