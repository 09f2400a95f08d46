"""Items on the Mahalanobis distance and hidden variables."""

from math import hypot, sqrt

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("hidden-variables")


@SHELF.number(3)
def uniform_variables(draw: Draw) -> Number:
    length = draw.integer(2, 9)
    a, b = draw.decimal(0.2, 0.9, 2), draw.decimal(0.2, 0.9, 2)
    return Number(
        f"Two hidden variables are independent and uniform on $[0, {length}]$. Features are a "
        "linear map of them, of full column rank. Two samples have hidden values that differ by "
        f"$({a}, {b})$. What is the Mahalanobis distance of their features, with the true "
        "covariance?",
        sqrt(12) / length * hypot(a, b),
        r"Each variance is $L^2/12$, so hidden Euclidean distances come back times "
        r"$\sqrt{12}/L$.",
    )


@SHELF.number(1)
def unequal_variances(draw: Draw) -> Number:
    s, t = draw.integers(2, 7, 2)
    u, v = draw.integer(1, 6), draw.integer(1, 6)
    return Number(
        f"Hidden variables $x_1, x_2$ are uncorrelated with standard deviations {s} and {t}. "
        "Features are $c = Ax + b$ with a matrix $A$ of full column rank that nobody knows. Two "
        f"samples differ by $({u}, {v})$ in the hidden variables. What is the Mahalanobis distance "
        "of their features?",
        hypot(u / s, v / t),
        r"It is that of the hidden variables; $A$ and $b$ cancel.",
    )


@SHELF.number(3)
def not_centred(draw: Draw) -> Number:
    k, mean = draw.integer(2, 5), draw.integer(1, 4)
    variance = draw.integer(1, 5)
    return Number(
        f"{k} independent hidden variables have the mean {mean} and the variance {variance} each. "
        "Somebody forgets to centre before computing the covariance. By which factor do distances "
        "along the direction of the mean come out too short?",
        sqrt(1 + k * mean**2 / variance),
        r"By $\sqrt{1 + \mu^\top \Sigma_x^{-1} \mu}$.",
    )


SHELF.choice(
    "uniqueness",
    2,
    "Which property singles the Mahalanobis distance out, up to a factor, among the quadratic "
    "distances that are computed from a covariance?",
    right=["It is invariant under every invertible linear map."],
    wrong=[
        "It is invariant under every rotation of the features.",
        "It is the smallest one that obeys the triangle rule.",
        "It equals the Euclidean distance for normal data.",
        "It stays unbiased with extremely few samples.",
    ],
    why="Rotations leave many distances as they are; all linear maps leave this one only.",
)
SHELF.choice(
    "rank",
    1,
    "Where does the proof that features and hidden variables have the same Mahalanobis distance "
    "use that $A$ has full column rank?",
    right=[r"In $A^\dagger A = I$, which makes $A$ cancel."],
    wrong=[
        r"In $A A^\dagger = I$, which makes $A$ cancel.",
        r"In $A^\top A = I$, which keeps the lengths.",
        r"In $\Sigma_x = I$, which fixes the scale.",
        r"In $\det A = 1$, which keeps the volumes.",
    ],
    why=r"$A^\dagger A$ is the identity exactly for full column rank.",
)
SHELF.choice(
    "few-samples",
    1,
    "There is no noise, $A$ has full column rank, and the covariance of the features is estimated "
    "from few samples. What do these few samples spoil?",
    right=["The step from hidden Mahalanobis to hidden Euclidean."],
    wrong=[
        "The step from observed Mahalanobis to the hidden one.",
        "Both of the steps, and the second one much more.",
        "The rank of the covariance, and so the whole theorem.",
        "The invariance of the distance under linear maps.",
    ],
    why="The equality holds for sample covariances, too; only the hidden one is estimated badly.",
)
SHELF.choice(
    "scale",
    3,
    r"Hidden variables have the covariance $\sigma^2 I$. Which distances does the Mahalanobis "
    "distance of the features return?",
    right=[r"Hidden Euclidean ones, divided by $\sigma$."],
    wrong=[
        r"Hidden Euclidean ones, multiplied by $\sigma$.",
        r"Hidden Euclidean ones, divided by $\sigma^2$.",
        r"Hidden Euclidean ones, as they are in fact.",
        r"Hidden Euclidean ones, multiplied by $\sigma^2$.",
    ],
    why="It counts in hidden standard deviations.",
)
