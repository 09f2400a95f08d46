"""A coordinate that is learnt from some subjects and carried over to others.

Genes, neighbourhoods, clusters, directions and the diffusion map come from the first subjects
alone. Others get their distances to these, under a local metric each with the model of its own
nearest subjects among them, and their coordinate by the Nyström extension.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sklearn.cluster import FeatureAgglomeration
from sklearn.decomposition import PCA

from informed.centering import center
from informed.datasets import variance_order
from informed.diffusion import DiffusionMap
from informed.directions import pca_directions
from informed.metrics import InformedMahalanobis
from informed.spiked import spikes_from_variances
from informed.studies.experiments.splits import SplitSettings, directions_of
from informed.validation import Array, check_choice

Map = Callable[[Array], Array]

LOCAL = ("local pca", "averaged", "exact")
GLOBAL = ("global exact", "shrunk pca", "agglomeration", "agglomeration + pca")
CARRIED_METHODS = ("euclidean", *LOCAL, *GLOBAL)


def carry(
    training: Array,
    others: Array,
    settings: SplitSettings,
    n_genes: int,
    seed: int,
    methods: Sequence[str] = CARRIED_METHODS,
) -> dict[str, tuple[Array, Array]]:
    """First diffusion coordinate of the subjects that it is learnt from, and of others.

    Parameters
    ----------
    training, others : arrays of shape (n_subjects, n_genes)
        Expression; nothing is learnt from ``others``.
    settings : SplitSettings
        Numbers of directions, clusters and neighbours, and the kernel scale.
    n_genes : int
        Genes of highest variance among ``training``.
    seed : int
        Seed of k-means.
    methods : sequence of str
        Some of ``CARRIED_METHODS``.

    Returns
    -------
    coordinates : dict
        For each method the coordinates of ``training`` and of ``others``; groups are their signs.
    """
    genes = variance_order(training)[:n_genes]
    training, others = training[:, genes], others[:, genes]
    found = {}
    local = None
    for method in methods:
        check_choice("methods", method, CARRIED_METHODS)
        if method in LOCAL:
            # Clusters take most of the time of a fit, so the local metrics share them.
            local = local or settings.fit(training, seed)
            metric = local.with_directions(directions_of(method))
            diffusion = DiffusionMap(1, scale=settings.scale, metric="precomputed")
            own = diffusion.fit_transform(metric.pairwise_distances())
            carried = diffusion.transform(metric.pairwise_distances(Y=others).T)
        else:
            view = _global_view(training, method, settings, seed)
            diffusion = DiffusionMap(1, scale=settings.scale)
            own = diffusion.fit_transform(view(training))
            carried = diffusion.transform(view(others))
        found[method] = own[:, 0], carried[:, 0]
    return found


def _global_view(training: Array, method: str, settings: SplitSettings, seed: int) -> Map:
    """Coordinates in which a global metric is the Euclidean distance."""
    if method == "euclidean":
        return lambda X: X
    if method == "shrunk pca":
        return _shrunk_pca(training, settings.n_components)
    if method == "global exact":
        metric = InformedMahalanobis(
            settings.n_components, settings.n_clusters, random_state=seed
        ).fit(training)
        transform: Map = metric.transform
        return transform
    # Centred, as for the informed metrics: features are alike if they move together.
    agglomeration = FeatureAgglomeration(settings.n_clusters).fit(center(training)[0])

    def means(X: Array) -> Array:
        pooled: Array = agglomeration.transform(X)
        return pooled

    if method == "agglomeration":
        return means
    whitened = PCA(settings.n_components, whiten=True, svd_solver="full").fit(means(training))
    return lambda X: np.asarray(whitened.transform(means(X)))


def _shrunk_pca(training: Array, n_components: int) -> Map:
    """PCA's directions, divided by variances from which the inflation by noise is taken off.

    A direction that cannot be told from noise is left out.
    """
    centered, mean = center(training)
    found = pca_directions(training, n_components)
    n_samples, n_features = centered.shape
    strengths, noise = spikes_from_variances(
        found.variances,
        float(np.sum(centered**2) / (n_samples - 1)),
        n_features,
        n_features / (n_samples - 1),
    )
    seen = strengths > 0
    if not seen.any():  # then nothing is known of the variances, either
        return lambda X: X
    factor = found.directions[:, seen] / np.sqrt(strengths[seen] + noise)
    return lambda X: (X - mean) @ factor
