"""Items on the informed distance as an algorithm."""

from math import sqrt

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("global-algorithm")


@SHELF.number(1)
def one_direction(draw: Draw) -> Number:
    m, k = draw.pick([4, 9, 16]), draw.pick([25, 36, 49])
    a, b = draw.integer(1, 4), draw.integer(1, 4)
    variance = draw.integer(3, 12)
    return Number(
        f"Two clusters have {m} and {k} features, and the one direction is $U = Ht$ with "
        f"$t = (0.6, 0.8)^\\top$. Two samples differ by {a} in each feature of the first cluster "
        f"and by {b} in each of the second. The variance along the direction is {variance}. What is "
        "the informed distance?",
        (0.6 * sqrt(m) * a + 0.8 * sqrt(k) * b) / sqrt(variance),
        r"The projection is $\sum_k t_k \sqrt{m_k}\,\delta_k$; divide by the standard deviation.",
    )


@SHELF.number(2)
def one_feature(draw: Draw) -> Number:
    size, shift = draw.pick([16, 25, 36, 64]), draw.integer(2, 9)
    variance = draw.integer(2, 8)
    return Number(
        f"The only direction is $H t$ with $t = (1, 0)^\\top$; the first cluster has {size} "
        f"features, and the variance along the direction is {variance}. Two samples differ in one "
        f"feature of the first cluster alone, by {shift}. What is their informed distance?",
        shift / sqrt(size) / sqrt(variance),
        r"A feature counts by $1/\sqrt m$ in the direction.",
    )


@SHELF.number(3)
def pca_or_own(draw: Draw) -> Number:
    own, pca = draw.integer(1, 3), draw.integer(5, 15)
    return Number(
        f"Along the third informed direction the samples have the variance {own}, and PCA's third "
        f"variance is {pca}. By which factor is the share of this direction in squared distances "
        'smaller with `variances="pca"` than with `variances="own"`?',
        pca / own,
        "Squared coordinates are divided by the one or by the other.",
    )


@SHELF.number(5)
def agglomerated(draw: Draw) -> Number:
    size = draw.integer(5, 60)
    return Number(
        f"scikit-learn's FeatureAgglomeration replaces a cluster of {size} features by their mean. By "
        "which factor must that mean be multiplied, so that whitened PCA of such means is the informed "
        "metric with its own variances?",
        size**0.5,
        "The root of the number of features: coordinates in the basis of the indicators.",
    )


SHELF.choice(
    "rotation",
    2,
    "All features are rotated, by one orthogonal matrix, before the algorithm starts. What becomes "
    "of the informed distance?",
    right=["It is another one: the clusters are destroyed."],
    wrong=[
        "It is the same: Euclidean distances are kept.",
        "It is the same: it is a Mahalanobis distance.",
        "It is the same, up to one factor for all pairs.",
        "It is infinite: the directions have no variance.",
    ],
    why="Clusters of features are not invariant under linear maps.",
)
SHELF.choice(
    "too-much",
    3,
    "The hidden square has two directions and three clusters. A third direction, or 16 clusters: "
    "which does more harm to the informed distance with PCA's variances?",
    right=["Both do harm, and on average nearly the same."],
    wrong=[
        "The direction does harm, the clusters do not.",
        "The clusters do harm, the direction does not.",
        "The direction does more, in each single draw.",
        "The clusters do more, in each single draw too.",
    ],
    why="Over 20 draws the agreement falls to 0.83 and to 0.84; no law follows from one of them.",
)
SHELF.choice(
    "pipeline",
    4,
    "Nearest neighbours under the informed distance are judged by cross-validation. Where must the "
    "distance be fitted?",
    right=["Anew in each fold, on its training samples."],
    wrong=[
        "Once, on all the samples, without their labels.",
        "Once, on the samples that are held out first.",
        "Anew in each fold, on the held-out samples.",
        "Once, on the samples of the largest of the folds.",
    ],
    why="In a pipeline this happens by itself; fitting on all samples leaks.",
)
SHELF.choice(
    "invariance",
    2,
    "Which change of the table leaves all informed distances as they are?",
    right=["All the features are given in another common unit."],
    wrong=[
        "Each of the features is given in a unit of its own.",
        "All of the features are rotated into each other.",
        "Each of the features is replaced by its square.",
        "All the features of a cluster are replaced by one.",
    ],
    why="Order, level and common unit do not matter; separate units do.",
)
