"""Items on averaging directions over clusters."""

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("averaging")


@SHELF.number(1)
def averaged_entry(draw: Draw) -> Number:
    values = [draw.decimal(-0.6, 0.6) for _ in range(5)]
    return Number(
        f"A direction has the entries {', '.join(map(str, values))}. The first three features form "
        r"a cluster, the last two another. What is the first entry after multiplication by "
        "$HH^\\top$?",
        sum(values[:3]) / 3,
        "The mean of its cluster.",
        relative=0.02,
    )


@SHELF.number(3)
def error_that_remains(draw: Draw) -> Number:
    p, clusters = draw.integer(10, 60) * 10, draw.integer(4, 20)
    noise = draw.decimal(0.01, 0.09, 2)
    return Number(
        f"To each of the {p} entries of a vector independent noise of variance {noise} is added. It "
        f"is averaged over {clusters} clusters on which the vector was constant. What is the "
        "expected sum of the squared errors afterwards?",
        clusters * noise,
        "Of $p$ shares of the noise $K$ remain, whatever the sizes.",
    )


@SHELF.number(3)
def common_error(draw: Draw) -> Number:
    size = draw.integer(10, 50)
    own, common = draw.integer(2, 9), draw.decimal(0.2, 0.9)
    return Number(
        f"In a cluster of {size} features each entry has an error of its own with variance {own}, "
        f"and all share one more error with variance {common}. All are independent. What is the "
        "variance of the error after averaging?",
        common + own / size,
        "Errors of their own are divided by the size; the common one stays.",
    )


@SHELF.number(2)
def tile(draw: Draw) -> Number:
    values = [draw.decimal(0.2, 3.0) for _ in range(6)]
    rows = f"({', '.join(map(str, values[:3]))}) and ({', '.join(map(str, values[3:]))})"
    return Number(
        r"The matrix $U\Lambda U^\top$ of PCA has, at the rows of a cluster of two features and the "
        f"columns of a cluster of three, the entries {rows}. What stands there in "
        r"$\tilde U \Lambda \tilde U^\top$ after averaging?",
        sum(values) / 6,
        "Each tile of the checkerboard is the mean of the entries on it.",
    )


SHELF.choice(
    "projector",
    1,
    r"Onto what does $HH^\top$ project?",
    right=["Onto the vectors that are constant on clusters."],
    wrong=[
        "Onto the vectors whose cluster sums are zero.",
        "Onto the principal directions of the features.",
        "Onto the largest of the clusters of features.",
        "Onto the vectors with non-negative entries.",
    ],
    why="It replaces each entry by the mean of its cluster.",
)
SHELF.choice(
    "harm",
    3,
    "The clusters are right. With more and more samples, what becomes of the advantage of averaged "
    "directions over those of PCA, if the truth varies within clusters?",
    right=["It turns into a disadvantage at some number of samples."],
    wrong=[
        "It grows, because cluster means become more exact as well.",
        "It stays as it is, because both errors fall at one rate.",
        "It shrinks to zero, but never turns into a disadvantage.",
        "It stays as it is, because clusters do not change.",
    ],
    why="PCA's noise goes away, what averaging removes from the truth does not.",
)
SHELF.choice(
    "lengths",
    2,
    "Orthonormal directions are averaged over clusters that they do not fit exactly. What are the "
    "results?",
    right=["Shorter than one, and not at right angles in general."],
    wrong=[
        "Shorter than one, but still mutually at right angles.",
        "Of length one, but no longer at right angles in general.",
        "Longer than one, and still at right angles to each other.",
        "Of length one, and still mutually at right angles.",
    ],
    why=r"$\tilde U^\top \tilde U = I - E^\top E$ with the misfit $E$.",
)
