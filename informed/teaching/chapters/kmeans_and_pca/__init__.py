"""Material of the chapter *kmeans-and-pca*."""
