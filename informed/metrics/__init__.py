"""Mahalanobis distances informed by clusters of features, global and local."""

from informed.metrics.covariance import SpikedCovariance, spiked_covariance
from informed.metrics.global_metric import InformedMahalanobis, MahalanobisMetric
from informed.metrics.local_metric import LocalInformedMahalanobis, LocalMahalanobisMetric
from informed.metrics.neighbors import RandomTrees

__all__ = [
    "InformedMahalanobis",
    "LocalInformedMahalanobis",
    "LocalMahalanobisMetric",
    "MahalanobisMetric",
    "RandomTrees",
    "SpikedCovariance",
    "spiked_covariance",
]
