"""Items on the relation of k-means and PCA."""

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("kmeans-and-pca")


@SHELF.number(1)
def lower_bound(draw: Draw) -> Number:
    values = sorted(draw.integers(1, 40, 6), reverse=True)
    kept = draw.integer(2, 3)
    return Number(
        r"The matrix $M = (n-1)\hat\Sigma$ of features that are centred both ways has the eigenvalues "
        f"{', '.join(map(str, values))} and no others but zeros. Which lower bound does Ky Fan's "
        f"theorem give for the k-means cost of {kept + 1} clusters of features?",
        sum(values[kept:]),
        "The sum of the eigenvalues from number $K$ on: $K$ clusters go with $K - 1$ directions.",
    )


@SHELF.number(2)
def how_many_clusters(draw: Draw) -> Number:
    directions = draw.integer(3, 19)
    return Number(
        f"Features are centred over samples and over features. How many clusters go with "
        f"{directions} principal directions?",
        directions + 1,
        "One more: the constant vector is taken.",
    )


@SHELF.number(4)
def without_second_centring(draw: Draw) -> Number:
    clusters = draw.integer(4, 18)
    return Number(
        f"Features are centred over samples, but *not* over features, and they agree within "
        f"{clusters} clusters whose profiles are linearly independent. How many principal "
        "directions with non-zero variance are there?",
        clusters,
        "Without the second centring the constant vector is not taken: as many as clusters.",
    )


@SHELF.number(3)
def upper_bound_of_misfit(draw: Draw) -> Number:
    excess = draw.integer(2, 9)
    top, next_ = draw.integer(25, 40), draw.integer(8, 20)
    return Number(
        f"The k-means cost of the features exceeds its lower bound by {excess}. The eigenvalues "
        rf"are $\omega_d = {top}$ and $\omega_{{d+1}} = {next_}$. What is the upper bound for "
        r"$\|U_d - HH^\top U_d\|_F^2$?",
        excess / (top - next_),
        r"$\beta / (\omega_d - \omega_{d+1})$, the excess over the gap.",
    )


SHELF.choice(
    "same-function",
    1,
    "k-means on features and PCA maximise the same function. In what do they differ?",
    right=["In what they maximise it over: partitions or all orthonormal matrices."],
    wrong=[
        "In the centring: k-means works with raw features, PCA with centred ones.",
        "In the sign of the trace, which k-means wants to be as small as it can.",
        "In the data: k-means sees correlations where PCA sees the covariances.",
        "In the norm: k-means works with absolute values, and PCA with squares.",
    ],
    why="PCA is the relaxation: indicators may take any values.",
)
SHELF.choice(
    "equality",
    3,
    r"Features are centred twice. When is the Ky Fan bound of the k-means cost attained?",
    right=["If and only if the principal directions are constant on the clusters."],
    wrong=[
        "If and only if k-means has found the best partition that there is.",
        "If and only if the clusters have the same number of features each.",
        "If and only if the principal directions are zero on all but one.",
        "If and only if noise is normally distributed with constant variance.",
    ],
    why="Equality means $U_d = HT$; with one centring the bound may lie above the cost.",
)
SHELF.choice(
    "model",
    3,
    "What is $U_K = HT$, for directions that are computed from data?",
    right=["A model of the truth, which data meet up to a misfit."],
    wrong=[
        "A theorem, which data meet exactly after k-means.",
        "A definition, by which the clusters are then found.",
        "An identity, which holds for more samples than features.",
        "A convention, which fixes the signs of the directions.",
    ],
    why="Its failure on data is what averaging repairs.",
)
SHELF.choice(
    "centrings",
    4,
    "Why must features be centred over features as well, if $K - 1$ directions are to go with $K$ "
    "clusters?",
    right=["So that the constant vector carries no variance."],
    wrong=[
        "So that each of the features has variance one.",
        "So that the sample covariance gets an inverse.",
        "So that k-means does not depend on its start.",
        "So that the clusters come out of equal size.",
    ],
    why="The constant vector $Ht_1$ is then an eigenvector with eigenvalue zero.",
)
