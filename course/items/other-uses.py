"""Items on other uses: neighbours and covariances."""

from math import log, sqrt
from statistics import stdev

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("other-uses")


@SHELF.number(3)
def log_determinant(draw: Draw) -> Number:
    p = draw.integer(10, 60)
    first, second = draw.integer(20, 60), draw.integer(5, 18)
    floor = draw.pick([0.5, 2.0, 3.0])
    return Number(
        f"A covariance of {p} features has the variances {first} and {second} along two directions "
        f"and {floor} along all others. What is the natural logarithm of its determinant?",
        log(first) + log(second) + (p - 2) * log(floor),
        "The sum of the logarithms of all eigenvalues.",
    )


@SHELF.number(3)
def spiked_distance(draw: Draw) -> Number:
    along, rest = draw.integer(2, 9), draw.integer(10, 60)
    spike, floor = draw.integer(8, 30), draw.integer(2, 5)
    return Number(
        f"A covariance has the variance {spike} along a unit vector $u$ and {floor} along everything "
        rf"at right angles to it. A centred sample has $u^\top x = {along}$ and $\|x\|^2 = "
        rf"{along**2 + rest}$. What is $x^\top \Sigma^{{-1}} x$?",
        along**2 / spike + rest / floor,
        "Split the squared length; divide each part by its variance.",
    )


@SHELF.number(2)
def error_of_the_difference(draw: Draw) -> Number:
    first = [draw.decimal(0.70, 0.95, 2) for _ in range(4)]
    gaps = draw.some([-0.02, -0.01, 0.01, 0.02, 0.03, 0.05], 4)
    second = [round(a - g, 2) for a, g in zip(first, gaps, strict=True)]
    return Number(
        f"On four splits one method has the accuracies {', '.join(map(str, first))}, the other "
        f"{', '.join(map(str, second))}, in the same order. What is the standard error of the mean "
        "difference, taken split by split (divisor $n - 1$, splits counted as independent)?",
        stdev(gaps) / sqrt(4),
        "The standard deviation of the four differences, divided by two.",
        relative=0.02,
    )


@SHELF.number(5)
def error_of_splits(draw: Draw) -> Number:
    splits, spread = draw.integer(8, 30), draw.decimal(0.01, 0.05, 3)
    return Number(
        f"In {splits} random splits a quarter of the samples is held out. The differences of two "
        f"methods have a standard deviation of {spread} over the splits. What is the standard error of "
        "their mean by the rule of Nadeau and Bengio, which knows that the splits overlap?",
        spread * (1 / splits + 1 / 3) ** 0.5,
        "The variance times one over the number of splits plus held-out over training samples, 1/3.",
    )


SHELF.choice(
    "digits",
    4,
    "Why do informed directions not help to classify handwritten digits?",
    right=["The pixels form no true clusters."],
    wrong=[
        "The pixels are far too few for it.",
        "The samples are far too many for it.",
        "The neighbours need whole numbers.",
        "The digits have no principal directions.",
    ],
    why="The directions are then biased.",
)
SHELF.choice(
    "settings",
    2,
    "Two methods have settings that are to be chosen. Where may the choice be made?",
    right=["Within the training samples of each split."],
    wrong=[
        "On the test samples, once for each method.",
        "On the test samples, in the same way for both.",
        "On all samples, before they are split at all.",
        "On the split that gives the best accuracy.",
    ],
    why="Test samples are looked at once, at the end.",
)
SHELF.choice(
    "floor",
    4,
    "Why does a covariance with informed directions predict new samples well, by likelihood, on data "
    "with true clusters?",
    right=["It leaves an honest floor, since it cannot follow the noise."],
    wrong=[
        "It leaves a low floor, since it follows all of the noise.",
        "It needs no floor, since the directions carry everything.",
        "It has a larger determinant than any of the other estimates.",
        "It has the same eigenvalues as the covariance of the sample.",
    ],
    why="A likelihood punishes a floor that is too low.",
)
SHELF.choice(
    "where",
    1,
    "Informed directions are used in the place of principal ones in some other method. On what does "
    "it depend whether they help?",
    right=["On the features: whether they form clusters."],
    wrong=[
        "On the method: whether it uses distances.",
        "On the samples: whether they form groups.",
        "On the method: whether it has settings.",
        "On the samples: whether they are labelled.",
    ],
    why="They fit wherever principal directions do; the features decide.",
)
