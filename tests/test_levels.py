"""What the clustering looks at, and data that other packages carry."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles
from sklearn.cluster import KMeans

from informed.datasets import make_two_types
from informed.experiments import load_result, profile_study
from informed.extras import MissingExtra
from informed.parallel import seeds
from informed.studies.experiments.levels import BREAST, MEASURES, ProfileStudy
from informed.studies.experiments.package_data import read_package_data

RESULTS = Path(__file__).resolve().parent.parent / "book" / "results"


def test_errors_of_the_toy_by_hand():
    seed = seeds(0, 1)[0]
    data = make_two_types(50, random_state=seed)
    centered = data.X - data.X.mean(axis=0)
    covariance = centered.T @ centered / 49
    truth = data.eigenvectors(18)
    found = []
    for rows in (data.X.T, centered.T, (centered / centered.std(axis=0, ddof=1)).T):
        labels = KMeans(19, n_init=10, random_state=seed).fit(rows).labels_
        H = (labels[:, None] == np.arange(19)) / np.sqrt(np.bincount(labels))
        found.append(H @ np.linalg.eigh(H.T @ covariance @ H)[1][:, -18:])
    found.append(np.linalg.eigh(covariance)[1][:, -18:])
    # e_F is the norm of the sines of the angles between the two spaces, twice their squares.
    expected = [np.sqrt(2 * np.sum(np.sin(subspace_angles(truth, U)) ** 2)) for U in found]
    study = profile_study(experiments=["toy"], n_draws=1)
    ratio = study.scores[0, :, 0] / expected
    assert_allclose(ratio, ratio[-1], rtol=0.02)


def test_the_stored_table_and_what_the_book_says_of_it():
    stored = load_result(RESULTS / "profile_study")
    assert stored.experiments == tuple(MEASURES)
    again = profile_study(experiments=["toy", "noisy square"], n_draws=1)
    # Seeds of one draw are not those of five: the first one is the same.
    assert_allclose(again.scores[0, :, 0], stored.scores[0, :, 0], rtol=1e-6)
    assert_allclose(again.scores[1, :, 0], stored.scores[2, :, 0], rtol=1e-6)
    mean = dict(zip(stored.experiments, stored.scores.mean(axis=2), strict=True))
    # In the toy, errors; standardised profiles lose most of the gain.
    assert max(mean["toy"][:2]) < 0.1 * mean["toy"][3] < 0.2 * mean["toy"][2]
    assert np.ptp(mean["square"]) < 0.01
    as_is, centered, standardized, pca = mean["noisy square"]
    assert as_is > centered + 0.03 > standardized > pca + 0.05
    assert np.ptp(mean["risk cohort"][:3]) < 0.02
    assert mean["risk cohort"][:3].min() > mean["risk cohort"][3] + 0.1
    for name in BREAST:
        assert (stored.scores[stored.experiments.index(name)] < 0.05).all()


def test_the_table_tells_means_of_errors_and_the_largest_p_value():
    scores = np.array(
        [[[1, 3], [2, 2], [4, 8], [0, 5]], [[0.5, 0.2], [0.01, 0.03], [0, 1], [1, 1]]]
    )
    found = ProfileStudy(experiments=("toy", "vdv"), scores=scores).table
    assert found.header[2:] == ("as-is", "centered", "standardized", "pca")
    assert found.rows == [
        ("toy", "error e_F", "2 ± 1", "2 ± 0", "6 ± 2", "2.5 ± 2.5"),
        ("vdv", "log-rank p", "0.5", "0.03", "1", "1"),
    ]


def test_names_of_experiments_are_checked():
    with pytest.raises(ValueError, match="experiments='toys'"):
        profile_study(experiments=["toys"])
    with pytest.raises(ValueError, match="experiments is empty"):
        profile_study(experiments=[])


def test_data_are_read_from_a_package_that_is_never_imported(tmp_path, monkeypatch):
    folder = tmp_path / "ISLP" / "data"
    folder.mkdir(parents=True)
    (tmp_path / "ISLP" / "__init__.py").write_text("raise RuntimeError('imported')")
    for part, rows in {"train": "1,2\n3,4\n", "test": "5,6\n"}.items():
        (folder / f"Khan_x{part}.csv").write_text('"V1","V2"\n' + rows)
    (folder / "Khan_ytrain.csv").write_text('"x"\n2\n4\n')
    (folder / "Khan_ytest.csv").write_text('"x"\n3\n')
    np.save(folder / "NCI60data.npy", np.arange(18.0).reshape(6, 3))
    labels = ["CNS", "CNS", "K562", "CNS", "CNS", "K562"]
    (folder / "NCI60labs.csv").write_text("label\n" + "\n".join(f'"{one}"' for one in labels))
    monkeypatch.syspath_prepend(str(tmp_path))
    X, kinds = read_package_data("Khan")
    assert_array_equal(X, [[1, 2], [3, 4], [5, 6]])
    assert kinds.tolist() == ["2", "4", "3"]
    X, kinds = read_package_data("NCI60")
    assert_array_equal(X[:, 0], [0, 3, 9, 12])
    assert set(kinds) == {"CNS"}
    assert "ISLP" not in sys.modules
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="pip install --no-deps ISLP"):
        read_package_data("Khan")
    with pytest.raises(MissingExtra, match="pip install h5py"):
        read_package_data("PBMC")
    with pytest.raises(ValueError, match="name='Iris'"):
        read_package_data("Iris")
