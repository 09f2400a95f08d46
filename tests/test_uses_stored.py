"""The other uses, as they are stored with the book: a part comes out again, and what it says."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import ROOT
from numpy.testing import assert_allclose

from informed.studies.experiments import (
    classification_study,
    covariance_study,
    load_result,
    uses,
)


def test_stored_covariances_come_out_again_and_say_what_the_chapter_says():
    stored = load_result(ROOT / "book" / "results" / "covariance_study")
    assert stored.methods == uses.COVARIANCES
    assert stored.scores.shape == (3, 2, len(uses.COVARIANCES), 10)
    part = covariance_study(data_names=("NSBCD",), train_sizes=(30,), n_splits=1)
    sure = [m for m, name in enumerate(stored.methods) if name != "informed"]
    assert_allclose(part.scores[0, 0, sure, 0], stored.scores[1, 0, sure, 0], rtol=1e-9)
    # Where k-means is involved, near ties may be decided by rounding errors.
    assert part.scores[0, 0, -1, 0] == pytest.approx(stored.scores[1, 0, -1, 0], abs=0.02)
    informed = stored.scores[:, :, stored.methods.index("informed")]
    gains = {
        name: informed - stored.scores[:, :, stored.methods.index(name)] for name in uses.RIVALS
    }
    # On the toy clusters win, whoever finds them; on the cohorts an honest floor does.
    assert np.all(gains["pca"][0] > 0.2)
    assert np.all(gains["shrunk pca"][0] > 0.05)
    assert np.all(np.abs(gains["agglomeration + pca"][0].mean(axis=1)) < 0.01)
    assert np.all(gains["shrunk pca"][1:] < 0)


def test_stored_accuracies_come_out_again():
    stored = load_result(ROOT / "book" / "results" / "classification_study")
    assert stored.methods == uses.CLASSIFIERS
    assert stored.train_sizes.tolist() == [50, 200]
    part = classification_study(train_sizes=(50,), n_splits=1)
    sure = [m for m, name in enumerate(stored.methods) if name != "informed"]
    assert_allclose(part.accuracy[sure, 0, 0], stored.accuracy[sure, 0, 0], atol=0.01)
    assert np.all(stored.differences("informed").mean(axis=1) < 0.01)
