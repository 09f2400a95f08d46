"""Items on local metrics."""

from math import sqrt

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("local-metrics")


@SHELF.number(2)
def mean_of_two(draw: Draw) -> Number:
    a, b = draw.integers(2, 30, 2)
    return Number(
        f"Measured with the local covariance of its first end, the squared distance of a pair is "
        f"{a}; with that of its other end it is {b}. What is the local Mahalanobis distance of the "
        "pair (not squared)?",
        sqrt((a + b) / 2),
        "The mean of the two squared distances, then the root.",
    )


@SHELF.number(2)
def orders(draw: Draw) -> Number:
    factor = draw.integer(2, 7)
    return Number(
        f"Pairs on a smooth curve are brought nearer, to one part in {factor} of their hidden "
        "distance. By which factor does the error of the two-sided squared distance shrink, for "
        "short distances?",
        factor**4,
        "The error is of order four; of one side alone it would be of order three.",
    )


@SHELF.number(1)
def stretched(draw: Draw) -> Number:
    place, seen = draw.integer(2, 6), draw.decimal(0.1, 0.9)
    return Number(
        rf"A hidden variable $x$ is seen as $c = x^2$. Near $x = {place}$ two samples differ by "
        f"{seen} in $c$. By how much do they differ in $x$, if the local derivative is taken for the "
        "map?",
        seen / (2 * place),
        "A local metric divides by the derivative $2x$ there.",
    )


@SHELF.number(2)
def constant_on_a_circle(draw: Draw) -> Number:
    speed, radius = draw.integer(1, 5), draw.integer(6, 12)
    return Number(
        r"On a curve the leading error of the two-sided squared distance has the constant "
        r"$\tfrac34 (v'/v)^2 - v''/(6v) - (v\kappa)^2/3$. What is it on a circle of radius "
        f"{radius} that is run through with the constant speed $v = {speed}$?",
        -((speed / radius) ** 2) / 3,
        r"The speed does not change, and the curvature is $\kappa = 1/R$.",
    )


SHELF.choice(
    "neighbours",
    3,
    "Local covariances are taken from nearest neighbours in the observed space. What do they not "
    "show?",
    right=["How the hidden space was stretched along the surface."],
    wrong=[
        "Which directions are tangential to the surface somewhere.",
        "How densely the samples lie at some place of the surface.",
        "How many hidden variables there are, if there is no noise.",
        "Where in the observed space the surface is to be found.",
    ],
    why="A ball of the observed space is round there, not in the hidden space.",
)
SHELF.choice(
    "size",
    4,
    "What do clusters of features change in the choice of the neighbourhood size?",
    right=["Fewer neighbours are enough; too many harm as before."],
    wrong=[
        "More neighbours are needed; too few harm as before.",
        "Fewer neighbours are enough; and too many harm less.",
        "The size no longer matters, from the first few on.",
        "The best size becomes that of the largest cluster.",
    ],
    why="They push back the arm of noise, and leave the arm of the bend as it is.",
)
SHELF.choice(
    "one-matrix",
    1,
    "For which maps from hidden to observed space does one covariance matrix serve everywhere?",
    right=["For those that are isometric up to one linear change."],
    wrong=[
        "For those that are smooth and have a smooth inverse.",
        "For those that map evenly spread points to such points.",
        "For those whose image has no boundary and no corners.",
        "For those that keep the order of all the distances.",
    ],
    why="Otherwise each place needs a matrix of its own.",
)
SHELF.choice(
    "half",
    4,
    r"Someone writes $(\Sigma_1^\dagger + \Sigma_2^\dagger)$ without the factor $\tfrac12$. What "
    "happens to squared distances?",
    right=["They are twice too large."],
    wrong=[
        "They are twice too small.",
        "They lose their symmetry.",
        "They are right to order three.",
        "They are four times too large.",
    ],
    why="It is a sum where a mean should be.",
)
