"""Items on the distance that PCA makes computable."""

from math import hypot, sqrt

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("pca-distance")


@SHELF.number(1)
def two_directions(draw: Draw) -> Number:
    first, second = draw.integer(6, 20), draw.integer(2, 5)
    a, b = draw.integer(2, 8), draw.integer(1, 6)
    return Number(
        f"PCA keeps two directions with the variances {first} and {second}. The difference of two "
        f"samples has the projections {a} and {b} onto them. What is their PCA distance?",
        hypot(a / sqrt(first), b / sqrt(second)),
        r"Divide each projection by the root of its variance, then take the length.",
    )


@SHELF.number(3)
def shrinkage_of_new_samples(draw: Draw) -> Number:
    true, seen = draw.integer(3, 8), draw.integer(10, 25)
    return Number(
        f"With round noise, the signal of a direction has the variance {true}, and PCA finds the "
        rf"sample variance {seen} along the direction that it finds. What is $\cos^2$ of the angle "
        "between the two directions, by the chapter's exact case?",
        true / seen,
        r"$\cos^2\theta_k = \ell_k / \hat\lambda_k$.",
    )


@SHELF.number(3)
def fitted_mean_square(draw: Draw) -> Number:
    n, kept = draw.integer(30, 90), draw.integer(3, 12)
    return Number(
        f"PCA with {kept} directions is fitted to {n} samples. What is the mean of the squared PCA "
        "distance over all pairs of different samples among these?",
        2 * kept,
        "It is $2K$ by construction: fitted samples hide the damage.",
    )


@SHELF.number(2)
def saturated(draw: Draw) -> Number:
    n = draw.integer(15, 80)
    return Number(
        f"{n} samples of 9,000 features, in general position: all {n - 1} principal directions are "
        "kept. What is the PCA distance of two of the samples?",
        sqrt(2 * (n - 1)),
        "With $d = n - 1$ the distance saturates: it is the Mahalanobis distance again.",
    )


SHELF.choice(
    "division",
    1,
    r"Someone projects onto principal directions but forgets to divide by $\sqrt{\hat\lambda_k}$. "
    "Which distance is this, if all directions are kept?",
    right=["The Euclidean distance."],
    wrong=[
        "The Mahalanobis distance.",
        "The cosine distance.",
        "The distance of the ranks.",
        "The correlation distance.",
    ],
    why="A rotation keeps Euclidean distances; the division makes the Mahalanobis distance.",
)
SHELF.choice(
    "too-many",
    2,
    "Two hidden variables, much noise. PCA keeps more and more directions. What happens to the "
    "share of the distance that the hidden variables have?",
    right=["It falls, because each direction counts the same."],
    wrong=[
        "It rises, because less and less is thrown away.",
        "It stays, because later directions count for little.",
        "It rises up to the rank, and stays there afterwards.",
        "It falls, because the leading variances shrink.",
    ],
    why="After the division each direction has variance one; noise directions dilute.",
)
SHELF.choice(
    "bias",
    3,
    "How does the largest sample variance compare with the largest true variance, on average?",
    right=["It is too large, at every sample size."],
    wrong=[
        "It is too small, at every sample size.",
        "It is unbiased, since the covariance is.",
        "It is too large, for noisy data alone.",
        "It is too small, until $n$ exceeds $p$.",
    ],
    why="A maximum over directions of an unbiased estimate is biased upwards.",
)
SHELF.choice(
    "units",
    2,
    "PCA keeps fewer directions than the rank of the data. A feature is changed from metres to millimetres. What happens "
    "to the PCA distances?",
    right=["They change, since truncation costs invariance."],
    wrong=[
        "They stay, since the division undoes the units.",
        "They stay, since covariances are dimensionless.",
        "Everything is multiplied by one factor.",
        "They change by rounding errors and no more.",
    ],
    why="Only with all directions is the distance invariant under linear maps.",
)
