"""Items on the toy problem."""

from math import sqrt

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("toy-problem")


@SHELF.number(1)
def leading_eigenvalue(draw: Draw) -> Number:
    size, variance, covariance = draw.integer(5, 40), draw.integer(3, 9), draw.decimal(0.2, 1.5)
    return Number(
        f"A cluster of {size} features has the variance {variance} in each feature and the "
        f"covariance {covariance} between any two. Features of other clusters are uncorrelated with "
        "it. What is the eigenvalue that belongs to the indicator of the cluster?",
        variance + (size - 1) * covariance,
        "The indicator is constant there: each row sums to this.",
    )


@SHELF.number(1)
def other_eigenvalues(draw: Draw) -> Number:
    variance, covariance = draw.integer(3, 9), draw.decimal(0.2, 1.5)
    return Number(
        f"In the toy each feature has the variance {variance}, and two features of one cluster "
        f"have the covariance {covariance}. What is the eigenvalue of a direction whose entries sum "
        "to zero on each cluster?",
        variance - covariance,
        r"$\Sigma = (\sigma^2 - \rho) I + HMH^\top$, and $H^\top$ annihilates the direction.",
    )


@SHELF.number(3)
def noise_on_a_stair(draw: Draw) -> Number:
    a, b = draw.integer(4, 12), draw.integer(4, 12)
    noise = draw.integer(2, 9)
    return Number(
        f"A tile of a covariance has {a} rows and {b} columns, and its entries have independent "
        f"errors of variance {noise}. What is the variance of the error of its mean?",
        noise / (a * b),
        "The mean of so many independent errors; an error that all share would stay.",
    )


@SHELF.number(2)
def error_of_a_subspace(draw: Draw) -> Number:
    d = draw.integer(6, 18)
    wrong = draw.integer(1, 5)
    return Number(
        rf"Two sets of {d} orthonormal directions $U$ and $V$ share {d - wrong} of them; the other "
        f"{wrong} of $U$ are at right angles to all of $V$. What is "
        r"$e_F = \|UU^\top - VV^\top\|_F$?",
        sqrt(2 * wrong),
        r"$e_F^2 = 2d - 2\|U^\top V\|_F^2$.",
    )


SHELF.choice(
    "what-is-measured",
    2,
    "As many directions as clusters are used in the toy, and the exact method. What do the error "
    "curves of the directions then measure?",
    right=["Whether k-means has found the clusters."],
    wrong=[
        "Whether the gradient has found its minimum.",
        "Whether the variances have been inflated.",
        "Whether the samples outnumber the features.",
        "Whether the types have been told apart.",
    ],
    why="With the true clusters any basis of their span has error zero.",
)
SHELF.choice(
    "types",
    4,
    "With 100 samples and PCA's variances the informed metric separates the two types of the toy, "
    "with its own variances it does not. What separates them, then?",
    right=["Inflated variances, which shrink the noise directions."],
    wrong=[
        "Feature clusters, which denoise principal directions.",
        "Directions of PCA, which are nearer to the types' difference.",
        "Diffusion maps, which find groups whatever the metric.",
        "Chance, which favours PCA on the seeds that are shown.",
    ],
    why="The Euclidean distance separates them, too, and so does PCA after a little shrinkage.",
)
SHELF.choice(
    "true-covariance",
    4,
    "What does the Mahalanobis distance with the *true* covariance of the toy do with the two types, "
    "in a diffusion map of 100 samples?",
    right=["It hides them among the other directions."],
    wrong=[
        "It separates them better than any estimate.",
        "It separates them as the Euclidean one does.",
        "It separates them from 60 samples onwards.",
        "It puts them at a distance that is infinite.",
    ],
    why="Whitening takes from the types' direction the variance that made it stand out. Its shape "
    "still does, but it takes some hundreds of samples to see that.",
)
SHELF.choice(
    "stairs",
    3,
    "Which error does averaging leave in the stairs of a covariance?",
    right=["That of their heights."],
    wrong=[
        "That of their single entries.",
        "That of their diagonals.",
        "That of their edges.",
        "That of their symmetry.",
    ],
    why="It removes the noise on the stairs; how high they are is still estimated.",
)
