"""One folder for each chapter: exercises that check themselves, wrong answers to them, the quiz."""

ORDER = (
    "why-the-usual-distance-fails",
    "hidden-variables",
    "pseudo-inverse",
    "pca-distance",
    "kmeans-and-pca",
    "averaging",
    "optimal-directions",
    "global-algorithm",
    "when-clusters-help",
    "hidden-square",
    "local-metrics",
    "toy-problem",
    "risk-groups",
    "own-patients",
    "critical-reading",
    "soft-clusters",
    "rows-and-columns",
    "real-cohorts",
    "other-uses",
)
"""The chapters with exercises, in the order of the book."""
