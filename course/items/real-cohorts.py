"""Items on real cohorts."""

from math import log

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("real-cohorts")


@SHELF.number(2)
def fisher_of_two(draw: Draw) -> Number:
    first, second = draw.decimal(0.02, 0.3, 2), draw.decimal(0.02, 0.3, 2)
    product = first * second
    return Number(
        f"Two independent cohorts have the p-values {first} and {second}. What does Fisher's rule "
        "make of them?",
        product * (1 - log(product)),
        r"$q(1 - \ln q)$ with the product $q$.",
    )


@SHELF.number(2)
def fisher_statistic(draw: Draw) -> Number:
    values = [draw.decimal(0.02, 0.6, 2) for _ in range(3)]
    return Number(
        f"Three independent cohorts have the p-values {', '.join(map(str, values))}. What is the "
        "statistic of Fisher's rule, which is compared with a chi-squared distribution?",
        -2 * sum(map(log, values)),
        r"$-2\sum \ln p_i$, with six degrees of freedom.",
    )


@SHELF.number(2)
def harmonic_mean(draw: Draw) -> Number:
    values = [draw.decimal(0.01, 0.5, 2) for _ in range(3)]
    return Number(
        f"Three cohorts have the p-values {', '.join(map(str, values))}. What is their harmonic "
        "mean?",
        3 / sum(1 / value for value in values),
        "One over the mean of the inverse p-values.",
    )


@SHELF.number(3)
def worse_over_better(draw: Draw) -> Number:
    ratio = draw.pick([0.25, 0.4, 0.5, 0.625, 0.8])
    return Number(
        f"The hazard ratio of group A over group B is {ratio}. A table reports the worse group over "
        "the better one. Which ratio stands there?",
        1 / ratio,
        "Above one by construction, whatever the data.",
    )


@SHELF.number(1)
def holm_second(draw: Draw) -> Number:
    number = draw.integer(4, 9)
    first, second = draw.decimal(0.001, 0.005, 3), draw.decimal(0.012, 0.03, 3)
    return Number(
        f"A protocol names {number} tests beforehand. The two smallest p-values are {first} and "
        f"{second}. What is the second one after Holm's correction?",
        min(1.0, max(number * first, (number - 1) * second)),
        "The second is multiplied by one less than the number, and is no smaller than the first.",
    )


@SHELF.number(5)
def smallest_margin(draw: Draw) -> Number:
    middle, half = draw.decimal(0.002, 0.02, 3), draw.decimal(0.005, 0.03, 3)
    return Number(
        f"The difference of two metrics in concordance is {middle}, with a 95 % interval of {half} to "
        "either side. What is the smallest margin within which the two would count as equal?",
        middle + half,
        "The whole interval must lie between minus the margin and the margin.",
    )


SHELF.choice(
    "same-patients",
    2,
    "Two cohorts turn out to be the same patients. What do Fisher's rule and the harmonic mean make "
    "of their two p-values, which are equal and small?",
    right=["Fisher a value too small, the harmonic mean the same value."],
    wrong=[
        "Fisher the same value, the harmonic mean a value too small.",
        "Fisher a value too large, the harmonic mean a value too small.",
        "Fisher and the harmonic mean the same value, which is right.",
        "Fisher and the harmonic mean both of them a value too small.",
    ],
    why="Fisher needs independence; the harmonic mean takes no harm from copies.",
)
SHELF.choice(
    "protocol",
    1,
    "What makes a protocol one, in the sense of the chapter?",
    right=["Each choice is written down before survival is seen."],
    wrong=[
        "Each choice is the one that the method's authors made.",
        "Each choice is made by cross-validation on survival.",
        "Each choice is the same as in all other publications.",
        "Each choice is explained once the results are known.",
    ],
    why="Then it is run once, and all of it is reported.",
)
SHELF.choice(
    "direction",
    3,
    "A ratio of the worse over the better group is 1.6, with an interval from 0.9 to 2.8. How is it "
    "to be read?",
    right=["As one that chance alone can give."],
    wrong=[
        "As a sign that the method works.",
        "As a sign that the worse group is smaller.",
        "As an effect that is above one for certain.",
        "As an effect of the treatment given.",
    ],
    why="It exceeds one by construction; the interval holds one.",
)
SHELF.choice(
    "outcome",
    4,
    "What did the informed metric with exact directions do on the seven real cohorts?",
    right=["About as well as the Euclidean distance."],
    wrong=[
        "Far better than the Euclidean distance.",
        "Far worse than the Euclidean distance.",
        "Better than local PCA in all of these.",
        "Worse than local PCA in all of these.",
    ],
    why="It was ahead of local PCA in some cohorts and behind it in another.",
)
