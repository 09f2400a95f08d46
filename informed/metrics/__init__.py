"""Mahalanobis distances informed by clusters of features, global and local."""

from informed.metrics.local import LocalInformedMahalanobis
from informed.metrics.whole import InformedMahalanobis, MahalanobisMetric

__all__ = ["InformedMahalanobis", "LocalInformedMahalanobis", "MahalanobisMetric"]
