r"""Two types of samples whose features form clusters: a model with every truth in closed form.

Sample :math:`x` of type :math:`t`, feature :math:`i` in cluster :math:`k`:

.. math:: x_i = \mu_{k,t} + \sqrt\rho\, \ell_i f_k + \sqrt{\sigma^2 - \rho}\, e_i,

with independent standard normal :math:`f_k` (one for each sample and cluster) and :math:`e_i`. With
all loadings :math:`\ell_i = 1`, two features have covariance :math:`\rho` within a cluster and none
across clusters. Over both types, half of each,

.. math:: \Sigma = (\sigma^2 - \rho) I + F F^\top,

where column :math:`k` of :math:`F` holds :math:`\sqrt\rho\,\ell_i` on cluster :math:`k` and zero
elsewhere, and one more column holds :math:`(\mu_A - \mu_B)/2`. So the leading eigenvectors of
:math:`\Sigma` are the left singular vectors of the narrow matrix :math:`F`, and no matrix of size
n_features × n_features is needed, neither to draw a sample nor to know the truth about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from informed.validation import check_count, check_number, random_source

__all__ = ["TwoTypes", "make_two_types"]

_PAPER_BORDERS = (
    *(0, 50, 120, 190, 220, 285, 320, 355, 400, 470),
    *(500, 545, 603, 642, 700, 735, 800, 850, 900),
)


@dataclass(frozen=True, eq=False)
class TwoTypes:
    """A sample of the model with its truth.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        The samples.
    types : int array of shape (n_samples,)
        0 for type A, 1 for type B.
    feature_labels : int array of shape (n_features,)
        True cluster of each feature.
    mean_a, mean_b : array of shape (n_features,)
        Mean of a sample of each type.
    loadings : array of shape (n_features,)
        How strongly each feature follows the common factor of its cluster.
    rho, sigma2 : float
        Covariance within a cluster and variance, where the loading is 1.
    """

    X: NDArray[np.float64] = field(repr=False)
    types: NDArray[np.intp] = field(repr=False)
    feature_labels: NDArray[np.intp] = field(repr=False)
    mean_a: NDArray[np.float64] = field(repr=False)
    mean_b: NDArray[np.float64] = field(repr=False)
    loadings: NDArray[np.float64] = field(repr=False)
    rho: float
    sigma2: float

    def covariance(self) -> NDArray[np.float64]:
        """Return the true covariance Σ over both types, of shape (n_features, n_features).

        Examples
        --------
        >>> toy = make_two_types(10, borders=[0, 2, 3], random_state=0, shuffle=False)
        >>> covariance = toy.covariance()
        >>> bool(np.isclose(covariance[0, 0] - covariance[0, 1], toy.sigma2 - toy.rho))
        True
        """
        factors = self._factors()
        covariance: NDArray[np.float64] = factors @ factors.T
        covariance[np.diag_indices_from(covariance)] += self.sigma2 - self.rho
        return covariance

    def eigenvalues(self, n_components: int) -> NDArray[np.float64]:
        """Return the ``n_components`` largest eigenvalues of Σ, the largest first.

        Examples
        --------
        >>> toy = make_two_types(10, borders=[0, 2, 3], random_state=0)
        >>> toy.eigenvalues(3)[2] == toy.sigma2 - toy.rho
        np.True_
        """
        n_features = len(self.feature_labels)
        n_components = check_count(
            "n_components", n_components, 1, n_features, f"n_features={n_features}"
        )
        # Beyond the columns of F every eigenvalue is sigma2 - rho.
        values = np.full(n_components, self.sigma2 - self.rho)
        squares = np.linalg.svd(self._factors(), compute_uv=False)[:n_components] ** 2
        values[: len(squares)] += squares
        return values

    def eigenvectors(self, n_components: int) -> NDArray[np.float64]:
        """Return the eigenvectors of Σ for its ``n_components`` largest eigenvalues, as columns.

        At most the rank of F can be asked for: all further eigenvalues equal ``sigma2 - rho``, so
        that no direction among them stands out. Clusters of equal size can make leading
        eigenvalues equal too; then the eigenvectors are one orthonormal basis of their space. The
        entry of largest magnitude in each eigenvector is positive.

        Examples
        --------
        >>> toy = make_two_types(10, borders=[0, 2, 3], random_state=0)
        >>> toy.eigenvectors(2).shape
        (3, 2)
        """
        factors = self._factors()
        vectors, singular_values, _ = np.linalg.svd(factors, full_matrices=False)
        tolerance = max(factors.shape) * np.finfo(float).eps * singular_values[0]
        rank = int(np.sum(singular_values > tolerance))
        n_components = check_count(
            "n_components", n_components, 1, rank, "beyond it all eigenvalues of Σ are equal"
        )
        vectors = vectors[:, :n_components]
        largest = np.argmax(np.abs(vectors), axis=0)
        signs: NDArray[np.float64] = np.sign(vectors[largest, np.arange(n_components)])
        return vectors * signs

    def _factors(self) -> NDArray[np.float64]:
        """Return F, of shape (n_features, n_clusters + 1)."""
        n_features, n_clusters = len(self.feature_labels), int(self.feature_labels.max()) + 1
        factors = np.zeros((n_features, n_clusters + 1))
        factors[np.arange(n_features), self.feature_labels] = np.sqrt(self.rho) * self.loadings
        factors[:, -1] = (self.mean_a - self.mean_b) / 2
        return factors


def make_two_types(
    n_samples: int = 100,
    *,
    borders: Sequence[int] = _PAPER_BORDERS,
    rho: float = 0.6,
    sigma2: float = 1.0,
    loading_sd: float = 0.0,
    shuffle: bool = True,
    random_state: int | RandomState | None = None,
) -> TwoTypes:
    """Draw samples of two types, half of each, with clusters of correlated features.

    Parameters
    ----------
    n_samples : int
        Number of samples; with an odd number, type A has one more.
    borders : sequence of int
        Cluster k holds the features ``borders[k]`` up to but not including ``borders[k + 1]``; it
        starts with 0 and increases. The default is the paper's: 18 clusters of 900 features. With
        x running over equally spaced values from 0.2 to 1, one for each cluster, the means are
        5 ± 5x⁴.
    rho : float
        Covariance of two features of a cluster, from 0 to ``sigma2``.
    sigma2 : float
        Variance of a feature within a type.
    loading_sd : float
        With 0, all features of a cluster follow their common factor alike. Else feature i follows
        it with loading 1 + ``loading_sd`` × standard normal, and variances and covariances change
        accordingly: ``TwoTypes.covariance`` knows them.
    shuffle : bool
        Whether samples and features come in random order, as in the paper's data, or ordered by
        type and by cluster, as in its pictures. The same seed gives the same values either way.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    TwoTypes
        The samples with types, clusters, means, loadings, and the true Σ on request.

    Examples
    --------
    >>> toy = make_two_types(random_state=0)
    >>> toy.X.shape, toy.types.sum(), toy.eigenvectors(18).shape
    ((100, 900), np.int64(50), (900, 18))
    """
    n_samples = check_count("n_samples", n_samples, 2)
    labels = _labels_between(borders)
    sigma2 = check_number("sigma2", sigma2, open_low=True)
    rho = check_number("rho", rho)
    if rho > sigma2:
        raise ValueError(f"rho={rho} is out of range: it must be from 0 to sigma2={sigma2}")
    loading_sd = check_number("loading_sd", loading_sd)
    if not isinstance(shuffle, bool | np.bool_):
        raise TypeError(f"shuffle must be True or False, got {shuffle!r}")
    rng = random_source(random_state)

    n_features, n_clusters = len(labels), int(labels[-1]) + 1
    x = np.linspace(0.2, 1.0, n_clusters)[labels]
    mean_a, mean_b = 5 + 5 * x**4, 5 - 5 * x**4
    types = np.repeat([0, 1], [n_samples - n_samples // 2, n_samples // 2])
    loadings = 1 + loading_sd * rng.standard_normal(n_features)
    common = rng.standard_normal((n_samples, n_clusters))[:, labels]
    own = rng.standard_normal((n_samples, n_features))
    X = np.where(types[:, None] == 0, mean_a, mean_b)
    X += np.sqrt(rho) * loadings * common + np.sqrt(sigma2 - rho) * own

    # The permutations are drawn last, so that they change the order and nothing else.
    rows, columns = np.arange(n_samples), np.arange(n_features)
    if shuffle:
        rows, columns = rng.permutation(n_samples), rng.permutation(n_features)
    return TwoTypes(
        X=X[np.ix_(rows, columns)],
        types=types[rows],
        feature_labels=labels[columns],
        mean_a=mean_a[columns],
        mean_b=mean_b[columns],
        loadings=loadings[columns],
        rho=rho,
        sigma2=sigma2,
    )


def _labels_between(borders: Sequence[int]) -> NDArray[np.intp]:
    edges = np.asarray(borders)
    allowed = "it must hold integers that start with 0 and increase, such as [0, 50, 120]"
    if edges.ndim != 1 or len(edges) < 2 or not np.issubdtype(edges.dtype, np.integer):
        raise ValueError(f"borders={borders!r} cannot be used: {allowed}")
    if edges[0] != 0 or not (np.diff(edges) > 0).all():
        raise ValueError(f"borders={borders!r} cannot be used: {allowed}")
    return np.repeat(np.arange(len(edges) - 1), np.diff(edges))
