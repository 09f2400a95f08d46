"""Items on rows and columns."""

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("rows-and-columns")


@SHELF.number(2)
def objective_value(draw: Draw) -> Number:
    singular = sorted(draw.integers(1, 9, 4), reverse=True)
    kept = draw.integer(1, 3)
    total = sum(s**2 for s in singular) + draw.integer(10, 60)
    return Number(
        rf"The table has $\|X_c\|_F^2 = {total}$, and the matrix of tiles $H_r^\top X_c\, H_c$ "
        f"has the singular values {', '.join(map(str, singular))}. What is the cost $\\Phi_d$ of the two "
        f"clusterings with $d = {kept}$?",
        total - sum(s**2 for s in singular[:kept]),
        "The squared norm of the table less the $d$ largest squared singular values.",
    )


@SHELF.number(1)
def tiles(draw: Draw) -> Number:
    rows, columns = draw.integer(3, 9), draw.integer(4, 14)
    n, p = draw.integer(4, 9) * 10, draw.integer(3, 9) * 100
    return Number(
        f"{n} samples are put into {rows} clusters and {p} features into {columns}. How many entries "
        "has the matrix whose singular value decomposition gives the best directions?",
        rows * columns,
        r"$H_r^\top X_c\, H_c$ has one entry a tile.",
    )


@SHELF.number(1)
def most_directions(draw: Draw) -> Number:
    rows, columns = draw.integers(3, 15, 2)
    return Number(
        f"The samples of a table are put into {rows} clusters and its features, which are centred over "
        f"the samples, into {columns}. How many singular values of the matrix of tiles can differ from "
        "zero, at most?",
        min(rows - 1, columns),
        r"$\min(K_r - 1, K_c)$: since the features are centred, the rows of the matrix are dependent.",
    )


SHELF.choice(
    "settles",
    2,
    "Why do the labels settle, when rows and columns are clustered in turn?",
    right=["One number never rises, and it has finitely many values."],
    wrong=[
        "Two numbers fall by turns, and both of them are positive.",
        "The true labels are a fixed point, and all starts reach it.",
        "Successive steps become shorter by some constant factor.",
        "The rows stop first, since there are fewer of these to move.",
    ],
    why="Each half of a round lowers $\\Phi_d$ or leaves it; so it cannot go in a circle.",
)
SHELF.choice(
    "no-scaling",
    3,
    "Why are the directions not scaled to unit variance in this procedure?",
    right=["Scaling gives noise the same voice as clusters."],
    wrong=[
        "Scaling takes more time than all of k-means.",
        "Scaling makes the labels of samples unstable.",
        "Scaling is undone by the k-means that follows.",
        "Scaling needs more samples than there are.",
    ],
    why="It also takes away the number that falls.",
)
SHELF.choice(
    "on-noise",
    4,
    "The procedure is run on a table of pure noise. What happens to the labels?",
    right=["They settle, which proves nothing about clusters."],
    wrong=[
        "They never settle, which demonstrates pure noise.",
        "They settle, with everything in one cluster.",
        "They settle later than with clusters, which shows it.",
        "They alternate between two different partitions.",
    ],
    why="Settling is a property of the procedure, not of the data.",
)
SHELF.choice(
    "when",
    4,
    "On which tables do both sides gain most from informing each other?",
    right=["On those with a weak checkerboard."],
    wrong=[
        "On those with a strong checkerboard.",
        "On those without clusters of samples.",
        "On those without clusters of features.",
        "On those with very many samples.",
    ],
    why="With a strong signal there is nothing left to gain.",
)
SHELF.choice(
    "one-number",
    1,
    r"What does the cost $\Phi_d(H_r, H_c)$ measure?",
    right=["How far the table is from a checkerboard."],
    wrong=[
        "How far the rows are from the columns.",
        "How far the labels are from the truth.",
        "How far the directions are from PCA's.",
        "How far the clusters are from each other.",
    ],
    why="The squared distance from a checkerboard of rank $d$.",
)
