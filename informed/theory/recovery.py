r"""When k-means on features can find the clusters, and what wrong clusters cost.

A feature is a point with one coordinate for each sample. Given the hidden variables, the features
of a cluster are its centre plus independent noise: a Gaussian mixture of p points in n − 1
dimensions. Two clusters whose signals differ by a variable of variance :math:`\Delta^2` have
centres at the squared distance :math:`\Delta^2\chi^2_{n-1}`: *each sample adds to the separation*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.optimize import brentq
from scipy.spatial.distance import pdist, squareform

from informed.validation import Array, check_count, check_matrix, check_number

__all__ = [
    "Recovery",
    "kmeans_mistakes",
    "linkage_failure",
    "linkage_samples",
    "misclassification_rate",
    "recovery",
]


def misclassification_rate(
    n_samples: float,
    separation: float,
    noise: float,
    *,
    n_clusters: int = 2,
    cluster_size: float = np.inf,
) -> float:
    r"""Chance that a feature is put into a wrong cluster, clusters being equally far apart.

    With known centres and two clusters it is exactly
    :math:`P(t_{n-1} > \sqrt{n-1}\,\Delta/2\sigma)`, with Student's t of :math:`n - 1` degrees
    of freedom, and no method can do better. Centres estimated from m features each make the noise
    across the border look larger by the factor
    :math:`1 + 2\sigma^2/(m\Delta^2)`. For more clusters the chances of all pairs are added, up to
    what guessing gives.

    Parameters
    ----------
    n_samples : float
        Number of samples, above 1.
    separation : float
        Standard deviation Δ of the difference between the signals of two clusters.
    noise : float
        Standard deviation σ of the noise.
    n_clusters : int
        Number of clusters K.
    cluster_size : float
        Features in a cluster; infinite for known centres.

    Examples
    --------
    >>> [round(misclassification_rate(n, 1.0, 1.0), 4) for n in (5, 20, 80)]
    [0.187, 0.021, 0.0]
    """
    n_samples = check_number("n_samples", n_samples, 1.0, open_low=True)
    separation = check_number("separation", separation, open_low=True)
    noise = check_number("noise", noise, open_low=True)
    n_clusters = check_count("n_clusters", n_clusters, 2)
    size = check_number("cluster_size", cluster_size, 1.0, finite=False)
    pair = float(_pair_rates(n_samples - 1, np.array(separation / noise), np.array(size)))
    return min((n_clusters - 1) * pair, 1 - 1 / n_clusters)


def _pair_rates(degrees: float, ratio: Array, size: Array) -> Array:
    """Chance to end on the wrong side between two centres that are ``ratio`` noises apart."""
    blurred = ratio / np.sqrt(1 + 2 / (size * ratio**2))
    rates: Array = stats.t.sf(np.sqrt(degrees) * blurred / 2, degrees)
    return rates


def linkage_failure(n_samples: int, n_features: int, separation: float, noise: float) -> float:
    r"""Upper bound of the chance that single linkage does not find the clusters exactly.

    Two features of one cluster have the squared distance :math:`2\sigma^2\chi^2_N`, two of
    different clusters at least :math:`(2\sigma^2 + \Delta^2)\chi^2_N`. If a number separates the
    two kinds of pairs, linking all pairs below it gives the clusters. The bound adds up the chances
    that a pair is on the wrong side of the best number; ``separation`` is Δ of the closest
    clusters.

    Examples
    --------
    >>> linkage_failure(20, 300, 1.0, 1.0), round(linkage_failure(1500, 300, 1.0, 1.0), 4)
    (1.0, 0.0013)
    """
    degrees = check_count("n_samples", n_samples, 2) - 1
    n_features = check_count("n_features", n_features, 2)
    separation = check_number("separation", separation, open_low=True)
    noise = check_number("noise", noise, open_low=True)
    within, between = 2 * noise**2, 2 * noise**2 + separation**2
    cuts = degrees * np.geomspace(within, between, 2001)
    failed = stats.chi2.sf(cuts / within, degrees) + stats.chi2.cdf(cuts / between, degrees)
    return float(min(1.0, n_features * (n_features - 1) / 2 * failed.min()))


def linkage_samples(n_features: int, separation: float, noise: float, failure: float = 0.05) -> int:
    r"""Return how many samples single linkage needs at most, up to a chance of ``failure``.

    :math:`n - 1 \ge 16\,(1 + 4\sigma^2/\Delta^2)^2\,\log(p^2/2\beta)`. The constant is generous;
    the form is the point: the logarithm of p, and the fourth power of noise over separation.

    Examples
    --------
    >>> linkage_samples(300, 1.0, 1.0)
    5486
    """
    n_features = check_count("n_features", n_features, 2)
    separation = check_number("separation", separation, open_low=True)
    noise = check_number("noise", noise, open_low=True)
    failure = check_number("failure", failure, open_low=True)
    needed = np.log(n_features**2 / (2 * failure)) * (1 + 4 * noise**2 / separation**2) ** 2
    return int(np.ceil(1 + 16 * max(needed, 0.0)))


def kmeans_mistakes(
    n_samples: int,
    sizes: ArrayLike,
    n_components: int,
    separation: float,
    noise: float,
    failure: float = 0.05,
) -> float:
    r"""Upper bound of how many features are in a wrong cluster, if the partition is cheap enough.

    Cheap enough is a partition whose k-means cost is not above that of the true clusters. Up to a
    chance :math:`\beta` of ``failure`` all of them misplace at most

    .. math::

        \zeta &= 16\,(K + d)\,\frac{\sigma^2}{\kappa^2}
        \bigl(\sqrt{n-1} + \sqrt p + \sqrt{2\tau}\bigr)^2 , \\
        \kappa^2 &= \Delta^2\bigl(n - 1 - 2\sqrt{(n-1)\,\tau}\bigr) , \qquad
        \tau = \log\frac{4pK^2}{\beta}

    features, if :math:`\zeta` is smaller than the smallest cluster. If the noise is smaller still,
    those among them that Lloyd's algorithm does not leave are the true clusters.

    Parameters
    ----------
    n_samples : int
        Number of samples n.
    sizes : array-like of shape (K,)
        Number of features in each of the K clusters.
    n_components : int
        Number d of hidden variables.
    separation : float
        Standard deviation Δ of the difference between the signals of the two closest clusters.
    noise : float
        Standard deviation σ of the noise.
    failure : float
        Chance with which the bound may fail.

    Returns
    -------
    float
        0 where partitions that Lloyd's algorithm does not leave are exact; :math:`\zeta` where that
        is not known; the number p of features where the theorem says nothing.

    Examples
    --------
    >>> [round(kmeans_mistakes(n, [500] * 6, 3, 1.0, 0.25)) for n in (100, 400, 1600)]
    [3000, 243, 0]
    """
    degrees = check_count("n_samples", n_samples, 2) - 1
    sizes = np.asarray(sizes, float)
    if sizes.ndim != 1 or sizes.size < 2 or np.any(sizes < 1):
        raise ValueError(f"sizes={sizes!r} must hold the sizes of two or more clusters")
    d = check_count("n_components", n_components, 1)
    separation = check_number("separation", separation, open_low=True)
    noise = check_number("noise", noise, open_low=True)
    failure = check_number("failure", failure, open_low=True)
    K, p, smallest = len(sizes), float(sizes.sum()), sizes.min()
    tau = np.log(4 * p * K**2 / failure)
    if degrees <= 4 * tau:
        return p
    apart = separation * np.sqrt(degrees - 2 * np.sqrt(degrees * tau))
    spread = np.sqrt(degrees) + np.sqrt(p) + np.sqrt(2 * tau)
    lost = float(16 * (K + d) * (noise * spread / apart) ** 2)
    if lost >= smallest:
        return p
    # How far found means are off, in units of the distance of centres.
    off = np.sqrt(lost / (smallest - lost)) / 2
    reach = 2 * np.sqrt(2 * tau) + 4 * off * (np.sqrt(degrees) + np.sqrt(2 * tau))
    return 0.0 if apart * (1 - 2 * off) > noise * reach else lost


def samples_for_rate(
    rate: float, separation: float, noise: float, n_clusters: int, cluster_size: float
) -> float:
    """Return the number of samples at which :func:`misclassification_rate` falls to ``rate``.

    Infinite if it is beyond all that can be collected (e⁴⁰).
    """

    def excess(log_degrees: float) -> float:
        found = misclassification_rate(
            1 + np.exp(log_degrees),
            separation,
            noise,
            n_clusters=n_clusters,
            cluster_size=cluster_size,
        )
        return found - rate

    low, high = -2.0, 40.0
    if excess(low) <= 0:
        return 1 + float(np.exp(low))
    if excess(high) > 0:
        return np.inf
    return 1 + float(np.exp(brentq(excess, low, high)))


# ------------------------------------------------------------------------- clusters of known places


@dataclass(frozen=True, eq=False)
class Recovery:
    """What k-means can be expected to find, and what it costs.

    Attributes
    ----------
    rates : array of shape (K, K)
        Share of the features of cluster k that end up in cluster l.
    misclassified : float
        Share of all features in a wrong cluster.
    misfit : float
        Expected misfit of the true directions with these clusters.
    strengths : array of shape (d,)
        Strengths that are left within the span of the found clusters, for samples that had no part
        in finding them.
    """

    rates: Array
    misclassified: float
    misfit: float
    strengths: Array


def recovery(n_samples: int, loadings: Array, sizes: ArrayLike, noise: float) -> Recovery:
    r"""Predict which features k-means will put where, the places of the clusters being known.

    Between each pair of clusters the chance is that of :func:`misclassification_rate`; if the
    chances of a cluster add up to more than guessing gives, they are scaled down to that.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    loadings : array of shape (K, d)
        Coefficients of a feature of each cluster on d independent hidden variables of variance one.
    sizes : array-like of shape (K,)
        Number of features in each cluster.
    noise : float
        Standard deviation of the noise.

    Returns
    -------
    Recovery

    Examples
    --------
    >>> square = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> for n in (10, 20, 40):
    ...     print(n, round(recovery(n, square, [50] * 4, 2.0).misclassified, 3))
    10 0.208
    20 0.049
    40 0.004
    """
    loadings = check_matrix(loadings, "loadings")
    K, d = loadings.shape
    n_samples = check_count("n_samples", n_samples, 2)
    sizes = np.asarray(sizes, float)
    if sizes.shape != (K,) or np.any(sizes < 1):
        raise ValueError(f"sizes={sizes!r} must hold a number of features for each of {K} clusters")
    noise = check_number("noise", noise, open_low=True)
    apart = squareform(pdist(loadings))
    np.fill_diagonal(apart, np.inf)
    if apart.min() == 0:
        raise ValueError("loadings holds two equal rows: such clusters are one cluster")
    rates = _pair_rates(n_samples - 1, apart / noise, sizes[:, None])
    wrong = rates.sum(axis=1)
    rates *= (np.minimum(wrong, 1 - 1 / K) / np.where(wrong > 0, wrong, 1))[:, None]
    np.fill_diagonal(rates, 1 - rates.sum(axis=1))

    moved = sizes[:, None] * rates
    # Directions and strengths of the truth, and what is left of them after averaging.
    V, roots, _ = np.linalg.svd(np.sqrt(sizes)[:, None] * loadings, full_matrices=False)
    kept = moved.sum(axis=0)[:, None] ** -0.5 * (moved.T @ (V / np.sqrt(sizes)[:, None]))
    return Recovery(
        rates=rates,
        misclassified=float(1 - np.sum(sizes * np.diag(rates)) / sizes.sum()),
        misfit=float(max(d - np.sum(kept**2), 0.0)),
        strengths=np.linalg.svd(kept * roots, compute_uv=False) ** 2,
    )
