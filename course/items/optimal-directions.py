"""Items on the optimal piecewise constant directions."""

from math import sqrt

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("optimal-directions")


@SHELF.number(2)
def closed_form_entry(draw: Draw) -> Number:
    m, k = draw.integer(2, 6), draw.integer(2, 6)
    a, b = draw.integers(1, 6, 2)
    return Number(
        f"Two clusters have {m} and {k} features. There are two samples; after centring, all "
        f"features of the first cluster are $\\pm {a}$ and all of the second $\\pm {b}$ (plus for "
        "the first sample). What is the entry of the optimal piecewise constant direction of length "
        "one at a feature of the first cluster, up to sign?",
        a / sqrt(m * a**2 + k * b**2),
        r"PCA of $H^\top X_c^\top$: the direction is proportional to the cluster means "
        f"$({a}, {b})$, over all features.",
    )


@SHELF.number(3)
def step_limit(draw: Draw) -> Number:
    s = draw.integer(3, 40)
    return Number(
        rf"The largest eigenvalue of $H^\top \hat\Sigma H$ is $s_1 = {s}$. Up to which constant step do "
        "the optimal directions attract nearby points under gradient projection?",
        1 / (2 * s),
        "Below $1/(2 s_1)$.",
    )


@SHELF.number(4)
def penalised_eigenvalue(draw: Draw) -> Number:
    a, b = sorted(draw.integers(2, 9, 2), reverse=True)
    weight = draw.integer(1, 6)
    centre, half = (a + b + weight) / 2, (a - b) / 2
    return Number(
        rf"Two uncorrelated features with variances {a} and {b} form one cluster, so "
        rf"$H = (1, 1)^\top/\sqrt2$. What is the largest eigenvalue of "
        rf"$\hat\Sigma + \eta HH^\top$ for $\eta = {weight}$?",
        centre + sqrt(half**2 + (weight / 2) ** 2),
        r"The matrix has $a + \eta/2$ and $b + \eta/2$ on the diagonal and $\eta/2$ beside "
        "it.",
    )


@SHELF.number(1)
def reconstruction_error(draw: Draw) -> Number:
    total = draw.integer(50, 90)
    kept = draw.integers(5, 20, 2)
    return Number(
        f"The variances of all features sum to {total}. Two orthonormal, uncorrelated directions "
        f"carry the variances {kept[0]} and {kept[1]}. What is the reconstruction error "
        r"$R(U) = \operatorname{tr}[(I - UU^\top)\,\Sigma]$?",
        total - sum(kept),
        "What the directions do not carry.",
    )


SHELF.choice(
    "best",
    2,
    "Which directions minimise the reconstruction error among the orthonormal ones in the span of "
    "the indicators?",
    right=["PCA of the cluster means, weighted by the roots of the sizes."],
    wrong=[
        "PCA of the cluster means, each of them weighted in the same way.",
        "The averaged principal directions, scaled to the length one.",
        "The averaged principal directions, made orthonormal in turn.",
        "PCA of one feature for each cluster, the one nearest its mean.",
    ],
    why=r"With $U = HT$ the problem is PCA of $H^\top X_c^\top$.",
)
SHELF.choice(
    "constant-length",
    3,
    "Each gradient step is scaled to the same length. Why do the steps not come to rest where the "
    "clusters fit well?",
    right=["Near the minimum the step is as long as far from it."],
    wrong=[
        "Near the minimum the gradient does not have a sign.",
        "The objective has minima that are not the global one.",
        "The projection onto the span undoes each of the steps.",
        "The columns grow in length with each further step.",
    ],
    why="The gradient is divided by its norm, so it steps over the minimum for ever.",
)
SHELF.choice(
    "scaling",
    3,
    "The columns of the directions are scaled to unit length at the end. What may still be wrong "
    "with them?",
    right=["They need not be at right angles to each other."],
    wrong=[
        "They need not lie in the span of the indicators.",
        "They need not be of length one in each case.",
        "They need not be constant on all the clusters.",
        "They need not be as many as were asked for.",
    ],
    why=r"Scaling is not orthonormalising: $\tilde U\tilde U^\top$ is no projector.",
)
SHELF.choice(
    "minima",
    1,
    "Which local minima does the reconstruction error have on the matrices whose columns are "
    "constant on clusters?",
    right=["None but global ones."],
    wrong=[
        "One for each cluster.",
        "One for each start.",
        "None of any kind.",
        "Two for each column.",
    ],
    why="Every local minimum is global: the iteration has no false end.",
)
SHELF.choice(
    "penalty-ends",
    4,
    r"The penalty $\eta\|(I - HH^\top)U\|_F^2$ is added to the reconstruction error. Between what "
    r"does $\eta$ lead, from zero to infinity?",
    right=["From PCA to piecewise constant directions."],
    wrong=[
        "From piecewise constant directions to PCA.",
        "From averaged directions to those of PCA.",
        "From PCA to directions on one cluster alone.",
        "From one direction to as many as clusters.",
    ],
    why=r"It is PCA at zero and the hard constraint in the limit.",
)
