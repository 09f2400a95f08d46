r"""Clusters of features, and what it means to average over them.

The features are the points here: feature *j* is the vector of its values over the samples. With
:math:`m_k` features in cluster :math:`G_k`, the orthonormal indicator matrix :math:`H` has
:math:`H_{jk} = 1/\sqrt{m_k}` for :math:`j \in G_k` and zero elsewhere, and the projector
:math:`HH^\top` replaces each entry of a vector by the mean of its cluster.
"""

from informed.clusters.clusterers import check_feature_labels, cluster_features
from informed.clusters.features import average_over_clusters, indicator

__all__ = ["average_over_clusters", "check_feature_labels", "cluster_features", "indicator"]
