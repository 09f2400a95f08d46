"""Real cohorts of gene expression with survival, from the SurvSet package.

SurvSet ships tables that others compiled from the publications cited below. What it does not say is
added here from those publications and from the documentation of the compilers; where the endpoint
could not be made out, the cohort says so. Nothing is rescaled.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from informed.datasets.cohort import Cohort
from informed.extras import import_extra
from informed.validation import check_choice

__all__ = ["COHORT_NAMES", "load_cohort"]


@dataclass(frozen=True)
class _Facts:
    """What is known of a cohort beyond its numbers, and the size that it must have."""

    n_samples: int
    n_features: int
    n_events: int
    disease: str
    endpoint: str
    time_unit: str
    compiler: str
    citation: str
    notes: str
    treatments: tuple[tuple[str, int], ...] = ()  # in the order of the rows


_REDDY = "gene expression data for survival analysis collected by the group of C. K. Reddy"

_FACTS = {
    "vdv": _Facts(
        n_samples=78,
        n_features=4705,
        n_events=34,
        disease="breast cancer, lymph node negative",
        endpoint="distant metastasis",
        time_unit="years",
        compiler="R package randomForestSRC, data set vdv",
        citation=(
            "van 't Veer et al. (2002), Gene expression profiling predicts clinical outcome of "
            "breast cancer, Nature 415, 530-536"
        ),
        notes=(
            "Patients were chosen by outcome: metastasis within five years, or none for at least "
            "five. So every event is earlier than every censoring, and survival curves do not "
            "describe a population; rows are ordered by outcome. Some of the patients are in DBCD "
            "as well."
        ),
    ),
    "NSBCD": _Facts(
        n_samples=115,
        n_features=549,
        n_events=38,
        disease="breast cancer",
        endpoint="event (the source does not say whether death or relapse)",
        time_unit="months",
        compiler=f"{_REDDY}, Norway/Stanford breast cancer data",
        citation=(
            "Sørlie et al. (2003), Repeated observation of breast tumor subtypes in independent "
            "gene expression data sets, PNAS 100, 8418-8423"
        ),
        notes=(
            "By the literature that uses this table, its genes were chosen because they vary more "
            "between tumours than between samples of one tumour. Genes are numbered, not named. "
            "The time unit is inferred from the range of the times."
        ),
    ),
    "DBCD": _Facts(
        n_samples=295,
        n_features=4919,
        n_events=79,
        disease="breast cancer",
        endpoint="death",
        time_unit="years",
        compiler=f"{_REDDY}, Dutch breast cancer data",
        citation=(
            "van de Vijver et al. (2002), A gene-expression signature as a predictor of survival "
            "in breast cancer, New England Journal of Medicine 347, 1999-2009"
        ),
        notes="Genes are numbered, not named. Some of the patients are in vdv as well.",
    ),
    "MCLcleaned": _Facts(
        n_samples=92,
        n_features=574,
        n_events=64,
        disease="mantle cell lymphoma",
        endpoint="death",
        time_unit="years",
        compiler="R package AdapEnetClass, data set MCLcleaned",
        citation=(
            "Rosenwald et al. (2003), The proliferation gene expression signature is a "
            "quantitative integrator of oncogenic events that predicts survival in mantle cell "
            "lymphoma, Cancer Cell 3, 185-197"
        ),
        notes="The compilers kept 574 of the study's genes.",
    ),
    "AML_Bull": _Facts(
        n_samples=116,
        n_features=6283,
        n_events=67,
        disease="acute myeloid leukaemia in adults",
        endpoint="death",
        time_unit="days",
        compiler=f"{_REDDY}, AML data of Bullinger et al.",
        citation=(
            "Bullinger et al. (2004), Use of gene-expression profiling to identify prognostic "
            "subclasses in adult acute myeloid leukemia, New England Journal of Medicine 350, "
            "1605-1616"
        ),
        notes="Genes are numbered, not named. One patient has a duration of 0.",
    ),
    "DLBCL": _Facts(
        n_samples=240,
        n_features=7399,
        n_events=138,
        disease="diffuse large-B-cell lymphoma",
        endpoint="death",
        time_unit="years",
        compiler=f"{_REDDY}, DLBCL data of Rosenwald et al.",
        citation=(
            "Rosenwald et al. (2002), The use of molecular profiling to predict survival after "
            "chemotherapy for diffuse large-B-cell lymphoma, New England Journal of Medicine 346, "
            "1937-1947"
        ),
        notes="Genes are numbered, not named. Five patients have a duration below 0.001 years.",
    ),
    "chop": _Facts(
        n_samples=414,
        n_features=3824,
        n_events=165,
        disease="diffuse large-B-cell lymphoma",
        endpoint="death",
        time_unit="years",
        compiler="R package bujar, data sets chop and rchop",
        citation=(
            "Lenz et al. (2008), Stromal gene signatures in large-B-cell lymphomas, New England "
            "Journal of Medicine 359, 2313-2323"
        ),
        notes=(
            "The first 181 patients had CHOP, the other 233 R-CHOP, which changes survival: groups "
            "that differ in treatment differ for that reason too. Nine probes for the array's "
            "control sequences (AFFX) are left out. Two patients have a duration of 0."
        ),
        treatments=(("CHOP", 181), ("R-CHOP", 233)),
    ),
}

COHORT_NAMES: tuple[str, ...] = tuple(_FACTS)
"""Names that :func:`load_cohort` knows."""


def load_cohort(name: str) -> Cohort:
    """Load a real cohort from SurvSet.

    Parameters
    ----------
    name : str
        "vdv", "NSBCD", "DBCD" (breast cancer), "MCLcleaned", "DLBCL", "chop" (lymphoma) or
        "AML_Bull" (leukaemia).

    Returns
    -------
    Cohort
        Expression of all genes that SurvSet holds for the cohort, and nothing but genes, with
        survival and with what is known about the data.

    Raises
    ------
    ImportError
        If SurvSet is not installed; it comes with the extra ``data``.
    ValueError
        If the name is unknown, or if SurvSet's table is not the one that was looked through when
        the facts were written down.

    Notes
    -----
    None of the tables has a missing value: where arrays had gaps, the compilers filled them
    before the data came to SurvSet. A table with a missing value is refused, not mended.

    Examples
    --------
    >>> cohort = load_cohort("vdv")
    >>> cohort
    <Cohort 'vdv': 78 samples × 4705 features, 34 events, durations in years>
    >>> cohort.endpoint
    'distant metastasis'
    >>> load_cohort("chop").treatment[[0, 413]].tolist()
    ['CHOP', 'R-CHOP']
    """
    name = check_choice("name", name, COHORT_NAMES)
    facts = _FACTS[name]
    survset = import_extra("SurvSet.data", f"load_cohort({name!r})")
    with warnings.catch_warnings():
        # The tables were pickled by an older numpy, whose module names numpy 2 deprecates.
        warnings.filterwarnings("ignore", "numpy.core", DeprecationWarning)
        loaded = survset.SurvLoader().load_dataset(name)
    table, reference = loaded["df"], loaded["ref"]

    # SurvSet marks numeric covariates by "num_"; none of these cohorts has a categorical one.
    others = [column for column in table.columns if not column.startswith("num_")]
    genes = [
        column
        for column in table.columns
        if column.startswith("num_") and not column.startswith("num_AFFX")
    ]
    events = table["event"].to_numpy()
    found = (len(table), len(genes), int(np.sum(events)), sorted(others))
    expected = (facts.n_samples, facts.n_features, facts.n_events, ["event", "pid", "time"])
    if found != expected:
        raise ValueError(
            f"SurvSet's table {name!r} is not the one that informed knows: (samples, genes, "
            f"events, other columns) are {found}, expected {expected}"
        )
    X = table[genes].to_numpy(dtype=float)
    if np.isnan(X).any():
        raise ValueError(
            f"SurvSet's table {name!r} has {int(np.isnan(X).sum())} missing values; informed does "
            "not fill them"
        )
    return Cohort(
        X=X,
        durations=table["time"].to_numpy(dtype=float),
        events=events,
        feature_names=tuple(gene.removeprefix("num_") for gene in genes),
        sample_names=tuple(str(patient) for patient in table["pid"]),
        name=name,
        disease=facts.disease,
        endpoint=facts.endpoint,
        time_unit=facts.time_unit,
        source=f"SurvSet, {reference} ({facts.compiler})",
        citation=facts.citation,
        notes=facts.notes,
        treatment=_in_order(facts.treatments),
    )


def _in_order(treatments: tuple[tuple[str, int], ...]) -> NDArray[np.str_] | None:
    """One treatment for each row, from names and numbers of patients; None if nothing is known."""
    if not treatments:
        return None
    return np.repeat([name for name, _ in treatments], [count for _, count in treatments])
