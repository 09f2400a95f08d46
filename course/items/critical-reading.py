"""Items on critical reading."""

from math import sqrt
from statistics import mean, median

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("critical-reading")


def _p_values(draw: Draw, number: int) -> list[float]:
    return [draw.decimal(0.004, 0.16, 3) for _ in range(number)]


@SHELF.number(3)
def twice_the_mean(draw: Draw) -> Number:
    values = _p_values(draw, 4)
    return Number(
        f"Four k-means seeds give the p-values {', '.join(map(str, values))}. Which valid p-value "
        "does the rule of the mean make of them, whatever their dependence?",
        2 * mean(values),
        "Twice the mean is valid; the mean itself is not.",
    )


@SHELF.number(3)
def twice_the_median(draw: Draw) -> Number:
    values = _p_values(draw, 5)
    return Number(
        f"Five k-means seeds give the p-values {', '.join(map(str, values))}. Which valid p-value "
        "does the rule of the median make of them?",
        2 * median(values),
        "Twice the median.",
    )


@SHELF.number(3)
def permutation(draw: Draw) -> Number:
    rounds, beaten = draw.pick([199, 499, 999, 1999]), draw.integer(3, 30)
    return Number(
        f"The follow-ups are shuffled {rounds} times and everything is done again. In "
        f"{beaten} of these rounds the summary is at least as extreme as the one observed. What is "
        "the p-value?",
        (1 + beaten) / (1 + rounds),
        "The observed one counts as one of the rounds.",
    )


@SHELF.number(3)
def best_of_several(draw: Draw) -> Number:
    number, level = draw.integer(3, 12), draw.pick([0.01, 0.05])
    return Number(
        f"{number} independent tests are made at the level {level}, and the best is reported. No "
        "effect exists. How likely is it that the best one falls below the level?",
        1 - (1 - level) ** number,
        r"$1 - (1 - \alpha)^k$.",
    )


@SHELF.number(2)
def knows_only_the_columns(draw: Draw) -> Number:
    values = [draw.decimal(0.3, 0.9) for _ in range(3)]
    return Number(
        r"With known clusters, as many directions as clusters, and columns that are not "
        rf"orthonormal, $TT^\top$ has the eigenvalues {', '.join(map(str, values))}. What is "
        r"$e_F = \|I - TT^\top\|_F$?",
        sqrt(sum((1 - value) ** 2 for value in values)),
        "The root of the sum of squares of one minus the eigenvalues.",
    )


SHELF.choice(
    "mean-of-p",
    3,
    "A paper reports the mean of 20 log-rank p-values, one for each seed. What is it?",
    right=["No p-value: it can be small too often."],
    wrong=[
        "A p-value, since each of them is one.",
        "A p-value, if the seeds are independent.",
        "A p-value after division by twenty.",
        "No p-value: it can never be small.",
    ],
    why="Under the null it need not be small with a probability of at most its value.",
)
SHELF.choice(
    "whitening",
    1,
    "With 100 samples of the toy, why does the first diffusion coordinate show the types only if "
    "variances are inflated?",
    right=["Whitened directions tie; the largest one left takes it."],
    wrong=[
        "Whitened directions vanish; the types are all that is left.",
        "Inflated variances point along the difference of the types.",
        "Inflated variances move all the samples of a type together.",
        "Whitened directions rotate; the types come first by chance.",
    ],
    why="Whatever has the largest variance, by any margin, takes the first coordinate. In a tie fourth "
    "moments decide, which 100 samples determine too poorly.",
)
SHELF.choice(
    "error-measure",
    2,
    "With known clusters and as many directions as clusters, one method has a smaller $e_F$ than "
    "another. What is better about it?",
    right=["Its columns are nearer to being orthonormal."],
    wrong=[
        "Its span is nearer to that of the true directions.",
        "Its variances are nearer to correct values.",
        "Its clusters are nearer to the true clusters.",
        "Its distances approximate hidden distances better.",
    ],
    why="All methods have the same span there; the measure sees the columns only.",
)
SHELF.choice(
    "compete",
    4,
    "The Euclidean distance is allowed to compete in all cohorts with the informed metric (exact "
    "directions). What is found?",
    right=["Most patients are grouped alike, and no finding is lost."],
    wrong=[
        "Most patients change groups, and many findings are lost.",
        "Most patients are grouped alike, but findings are lost.",
        "Most patients change groups, and yet no finding is lost.",
        "Most patients are grouped as by local PCA in each cohort.",
    ],
    why="A comparison must name the obvious rival.",
)
