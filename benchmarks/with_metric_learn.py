"""metric-learn's Covariance side by side, run by the interpreter of an environment that has it."""

from __future__ import annotations

import json

import numpy as np
from measure import medians
from metric_learn import Covariance

from informed import InformedMahalanobis

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 6)) @ rng.normal(size=(6, 1000)) + rng.normal(size=(300, 1000))
theirs, ours = medians(
    lambda: Covariance().fit(X).transform(X),
    lambda: InformedMahalanobis(6, random_state=0).fit(X).transform(X),
    repeats=3,
)
print(json.dumps({"ratio": theirs / ours}))
