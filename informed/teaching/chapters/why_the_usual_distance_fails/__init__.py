"""Material of the chapter *why-the-usual-distance-fails*."""
