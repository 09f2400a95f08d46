"""Warnings of their own kind, so that one can be silenced without the others.

All of them are :class:`UserWarning`. ``warnings.simplefilter("ignore", ConstantFeatureWarning)``
before a grid search, which fits again and again, keeps it quiet about the one thing that is known.
"""

__all__ = ["ConstantFeatureWarning", "FewerDirectionsWarning", "IgnoredParameterWarning"]


class ConstantFeatureWarning(UserWarning):
    """Some features never vary: they carry no information, and share a cluster.

    It comes once in a fit, before any work.

    Examples
    --------
    >>> import warnings
    >>> from informed import ConstantFeatureWarning, InformedMahalanobis
    >>> X = [[0.0, 1.0, 5.0], [1.0, 3.0, 5.0], [2.0, 2.0, 5.0]]
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", ConstantFeatureWarning)
    ...     InformedMahalanobis(1).fit(X).n_features_in_
    3
    """


class FewerDirectionsWarning(UserWarning):
    """Some neighbourhoods span fewer directions than were asked for, as with copies of samples.

    Their models have fewer directions; a pseudo-inverse leaves out those without variance.
    """


class IgnoredParameterWarning(UserWarning):
    """A parameter was set that the other parameters leave without effect."""
