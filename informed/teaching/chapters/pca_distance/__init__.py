"""Material of the chapter *pca-distance*."""
