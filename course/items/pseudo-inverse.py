"""Items on the pseudo-inverse."""

from math import hypot

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("pseudo-inverse")


@SHELF.number(1)
def rank_one(draw: Draw) -> Number:
    u, v = (draw.integer(1, 4), draw.integer(1, 4)), (draw.integer(1, 4), draw.integer(1, 4))
    return Number(
        rf"Let $A = u v^\top$ with $u = ({u[0]}, {u[1]})^\top$ and $v = ({v[0]}, {v[1]})^\top$. "
        r"What is the entry of $A^\dagger$ in the first row and the second column?",
        v[0] * u[1] / ((u[0] ** 2 + u[1] ** 2) * (v[0] ** 2 + v[1] ** 2)),
        r"$A^\dagger = v u^\top / (\|u\|^2 \|v\|^2)$.",
    )


@SHELF.number(1)
def trace_of_projector(draw: Draw) -> Number:
    rank = draw.integer(2, 6)
    rows, columns = rank + draw.integer(1, 5), rank + draw.integer(1, 5)
    return Number(
        f"A matrix $A$ has {rows} rows, {columns} columns and the rank {rank}. What is the trace "
        r"of $A^\dagger A$?",
        rank,
        "It is an orthogonal projection, so its trace is the dimension of its range: the rank.",
    )


@SHELF.number(3)
def one_row(draw: Draw) -> Number:
    a, b = draw.integers(2, 6, 2)
    u, v = draw.integer(1, 5), draw.integer(1, 5)
    return Number(
        "Two hidden variables are uncorrelated with variance one, but only one feature, "
        f"${a} x_1 + {b} x_2$, is seen. Two samples differ by $({u}, {v})$ in the hidden variables. "
        "What is their Mahalanobis distance, computed from the feature?",
        (a * u + b * v) / hypot(a, b),
        "The smallest hidden distance that explains what is seen: the part across the row is lost.",
    )


@SHELF.number(4)
def nearly_deficient(draw: Draw) -> Number:
    s = draw.pick([0.01, 0.02, 0.04, 0.05])
    error = draw.decimal(0.001, 0.009, 3)
    return Number(
        rf"A map has the singular values 1 and {s}, and its pseudo-inverse is applied to a "
        f"measurement with an error of length {error} along the weaker left singular vector. What "
        "is the length of the error afterwards?",
        error / s,
        r"The pseudo-inverse divides it by the small singular value.",
    )


@SHELF.number(2)
def entry_of_the_formula(draw: Draw) -> Number:
    a, b = draw.integers(2, 6, 2)
    s, t = draw.integers(2, 5, 2)
    return Number(
        f"Features are $c = ({a} x_1, {b} x_2, 0)^\\top$, where $x_1, x_2$ are uncorrelated with "
        rf"variances {s} and {t}. What is the first diagonal entry of $\Sigma^\dagger$?",
        1 / (a**2 * s),
        r"$\Sigma^\dagger = A^{\dagger\top} \Sigma_x^{-1} A^\dagger$, and here all is diagonal.",
    )


SHELF.choice(
    "wide",
    3,
    r"$A$ has more columns than rows, full row rank, and $\Sigma_x$ is not special. Which of "
    r"Penrose's conditions does $A^{\dagger\top} \Sigma_x^{-1} A^\dagger$ break, as a candidate for "
    r"the pseudo-inverse of $A \Sigma_x A^\top$?",
    right=["Each one of the four."],
    wrong=[
        "The first two of the four.",
        "The last two of the four.",
        "None of the four.",
        "The first one of the four.",
    ],
    why=r"$A^\dagger A$ is a projector that does not commute with $\Sigma_x$; all four fail.",
)
SHELF.choice(
    "unique",
    1,
    r"What makes it enough to guess $A^\dagger$ and verify Penrose's four conditions?",
    right=["Exactly one matrix meets the four of them."],
    wrong=[
        "At most two matrices meet the four of them.",
        "Every matrix that meets two of them meets all.",
        "The conditions are linear in the candidate.",
        "The conditions hold for each left inverse.",
    ],
    why="Existence and uniqueness: a candidate that meets all four is the pseudo-inverse.",
)
SHELF.choice(
    "jump",
    4,
    "A singular value of a matrix shrinks to zero. What does the pseudo-inverse do on the way?",
    right=["It grows without bound, and then jumps."],
    wrong=[
        "It shrinks to zero, and then stays there.",
        "It changes little, and is continuous.",
        "It grows to a bound, and then stays there.",
        "It loses its rank long before the limit.",
    ],
    why=r"The norm is $1/s_{\min}$ until the rank changes.",
)
SHELF.choice(
    "cut-off",
    4,
    r"Singular values of $A$ below a cut-off $t$ are to be treated as zero. Which cut-off does the "
    r"same for eigenvalues of $\Sigma = AA^\top$?",
    right=["$t^2$"],
    wrong=["$t$", r"$\sqrt t$", "$2t$", "$t/2$"],
    why=r"The eigenvalues of $\Sigma$ are the squares of the singular values of $A$.",
)
SHELF.choice(
    "projector",
    2,
    r"What is $A A^\dagger$, for any real matrix $A$?",
    right=["The orthogonal projection onto the range of $A$."],
    wrong=[
        "The orthogonal projection onto the row space of $A$.",
        "The identity matrix, as for ordinary inverses.",
        "The orthogonal projection onto the null space of $A$.",
        "A projection onto the range, not orthogonal in general.",
    ],
    why=r"$A^\dagger A$ is the one onto the row space.",
)
