"""Items on when clusters help, and by how much."""

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("when-clusters-help")


@SHELF.number(1)
def error_left(draw: Draw) -> Number:
    clusters, d = draw.integer(8, 20), draw.integer(2, 5)
    p = draw.integer(20, 90) * 10
    return Number(
        f"The error of {d} directions of {p} features by PCA is $1$, to first order in many "
        f"samples. What is it with {clusters} known clusters that fit?",
        (clusters - d) / (p - d),
        "The error is proportional to the dimension without the directions, $q - d$.",
        relative=0.02,
    )


@SHELF.number(1)
def threshold(draw: Draw) -> Number:
    n, ratio = draw.integer(12, 60), draw.integer(2, 5)
    return Number(
        f"A direction of {n * ratio**2} features is {ratio} times as strong as the variance of the noise. From "
        "how many samples on does PCA see anything of it, in the limit?",
        n,
        r"The threshold is $\ell = \sigma^2\sqrt{p/n}$, solved for $n$.",
    )


@SHELF.number(1)
def first_order(draw: Draw) -> Number:
    n, clusters = draw.integer(50, 200), draw.integer(5, 12)
    strength, noise = draw.integer(3, 9), draw.integer(1, 2)
    return Number(
        f"There are {n} samples, {clusters} known clusters that fit, and one direction of strength "
        f"{strength} in noise of variance {noise}. What is the expected squared sine of its angle, "
        "to first order, with $n$ in the denominator?",
        (clusters - 1) * noise * (strength + noise) / (n * strength**2),
        r"$(K - 1)\,\sigma^2(\ell + \sigma^2)/(n\ell^2)$.",
        relative=0.02,
    )


@SHELF.number(2)
def shrinkage(draw: Draw) -> Number:
    gamma, ratio = draw.integer(2, 9), draw.integer(10, 40)
    return Number(
        f"There are {gamma} features for each sample, and a direction is {ratio} times as strong as "
        "the variance of the noise. By PCA's directions and variances, what is the variance of new "
        "samples along its axis after division, in the limit?",
        (1 + gamma / ratio) ** -2.0,
        "One factor for the direction that has turned away, the same for the inflated variance.",
        relative=0.02,
    )


@SHELF.number(3)
def centers(draw: Draw) -> Number:
    n, separation = draw.integer(10, 60), draw.decimal(0.5, 3.0)
    return Number(
        f"The signals of two clusters of features differ by a variable of variance {separation}. "
        f"There are {n} samples. What is the expected squared distance of the two centres, as points "
        "with one centred coordinate a sample?",
        separation * (n - 1),
        r"It is distributed like the variance times $\chi^2_{n-1}$.",
        relative=0.02,
    )


SHELF.choice(
    "misfit",
    1,
    "Directions lie in the span of clusters that do not fit the truth. How does the misfit enter "
    "the squared error?",
    right=["It is added to what is lost within the span."],
    wrong=[
        "It is multiplied by what is lost within the span.",
        "It is taken off from what is lost in the span.",
        "It enters only if it is above the noise level.",
        "It enters by its root, and so with a mixed term.",
    ],
    why="Pythagoras: what lies outside of the span is orthogonal to what lies within.",
)
SHELF.choice(
    "same-samples",
    3,
    "Clusters with some mistakes and directions come from the same samples. What is overstated "
    "compared with samples that had no part in finding the clusters?",
    right=["The variance along the weaker directions."],
    wrong=[
        "The misfit between directions and clusters.",
        "The number of wrongly placed features.",
        "The number of detectable directions.",
        "The noise that each of the features carries.",
    ],
    why="A feature is misplaced because its noise, in these samples, looks like the signal there.",
)
SHELF.choice(
    "wide-window",
    4,
    "When is there a wide range of sample sizes at which clusters that must be found bring out a "
    "direction that PCA does not see?",
    right=["When it is weak, and strong ones show the clusters."],
    wrong=[
        "When it is strong, and weak ones show the clusters.",
        "When all directions have one and the same strength.",
        "When there are about as many clusters as features.",
        "When there is one direction only, and it is weak.",
    ],
    why="K-means uses the strong directions, PCA has to see each direction by itself.",
)
