"""Items on why the usual distance fails."""

from math import sqrt

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("why-the-usual-distance-fails")


@SHELF.number(1)
def pair_distance(draw: Draw) -> Number:
    n, p = draw.integer(12, 60), draw.integer(3, 9) * 1000
    return Number(
        f"{n} samples of {p} features are affinely independent. Their covariance is estimated with "
        "the divisor $n - 1$, and its pseudo-inverse is used. What is the Mahalanobis distance "
        "between two of the samples?",
        sqrt(2 * (n - 1)),
        r"Every pair is at the distance $\sqrt{2(n-1)}$, whatever the data are.",
    )


@SHELF.number(1)
def from_the_mean(draw: Draw) -> Number:
    n, p = draw.integer(9, 50), draw.integer(2, 8) * 500
    return Number(
        f"{n} samples of {p} features are affinely independent; the covariance has the divisor "
        "$n - 1$. What is the Mahalanobis distance of a sample from the mean of all of them?",
        (n - 1) / sqrt(n),
        r"It is $(n-1)/\sqrt n$ for each sample.",
    )


@SHELF.number(2)
def divisor_of_scikit_learn(draw: Draw) -> Number:
    n = draw.integer(10, 70)
    return Number(
        f"`EmpiricalCovariance` of scikit-learn divides by $n$, not by $n - 1$. It is fitted to {n} "
        "affinely independent samples of more features than samples. What distance does it give "
        "for each pair of these samples?",
        sqrt(2 * n),
        r"The covariance is smaller by $(n-1)/n$, so the squared distance is $2n$.",
    )


@SHELF.number(3)
def mean_square(draw: Draw) -> Number:
    p, n = draw.integer(5, 40), draw.integer(8, 30) * 10
    return Number(
        f"There are {n} samples of {p} features, in general position. What is the mean, over all "
        "pairs of different samples, of the *squared* Mahalanobis distance (divisor $n - 1$)?",
        2 * p,
        "It is twice the rank, always; here the rank is the number of features.",
    )


SHELF.choice(
    "what-it-knows",
    1,
    "Samples are affinely independent. Two data sets of the same size are compared, one with two "
    "clear groups and one of pure noise. What do their Mahalanobis distances say?",
    right=["They are the same numbers, with groups and without."],
    wrong=[
        "Groups show, because pairs within a group are nearer.",
        "Groups show, but only after more features are added.",
        "Noise makes all of the distances larger than groups do.",
        "Groups show in the distances from the mean, not in pairs.",
    ],
    why="All pairs are at the same distance: the data have dropped out.",
)
SHELF.choice(
    "invertible",
    3,
    "There are $n = p + 1$ samples in general position, so the covariance has an inverse. What "
    "follows for the distances between the samples?",
    right=["They are still all equal, inverse or not."],
    wrong=[
        "They differ now, since an inverse exists.",
        "They become infinite for some of the pairs.",
        "They equal the Euclidean ones up to a factor.",
        "They are equal only for normal data.",
    ],
    why="Affine independence is what matters, and $p + 1$ points can have it.",
)
SHELF.choice(
    "new-sample",
    1,
    "The covariance comes from $n < p$ samples, and its pseudo-inverse is used. A new sample is "
    "measured. What does its distance to an old one ignore?",
    right=["All that lies outside of the span of the centred old samples."],
    wrong=[
        "All that lies inside of the span of the centred old samples.",
        "Nothing: each new sample is at the common distance, too.",
        "The features whose variance is smallest among the old ones.",
        "The sign of the difference along the first direction.",
    ],
    why="The pseudo-inverse is zero there. A new sample is not at the common distance.",
)
SHELF.choice(
    "cure",
    3,
    "Samples are added until the covariance is well estimated. Why may two groups that differ in a "
    "few hidden directions still be hard to see?",
    right=["Whitening gives each of many noise directions the same weight."],
    wrong=[
        "A covariance from many samples has no inverse any more.",
        "The distances between pairs stay at one common value.",
        "The mean square of the distances grows with the samples.",
        "Many samples make the leading variances too large.",
    ],
    why="A few good directions drown among many that are noise and count as much.",
)
