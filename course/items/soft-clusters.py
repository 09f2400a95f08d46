"""Items on soft clusters."""

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("soft-clusters")


@SHELF.number(1)
def columns_of_the_stack(draw: Draw) -> Number:
    n, clusters, p = draw.integer(20, 90), draw.integer(4, 18), draw.integer(2, 9) * 100
    return Number(
        f"There are {n} samples, {p} features and {clusters} clusters. The penalised directions are "
        r"left singular vectors of $[X_c^\top/\sqrt{n-1} \,|\, \sqrt\eta\, H]$. How many columns "
        "has this matrix?",
        n + clusters,
        "The clusters enter as so many invented samples.",
    )


@SHELF.number(3)
def best_factor(draw: Draw) -> Number:
    signal, noise = draw.integer(1, 9), draw.integer(1, 9)
    return Number(
        f"Outside the clusters a direction has the signal $s = {signal}$ and the noise "
        rf"$\nu = {noise}$, in the same unit. By which factor should what lies outside be "
        "multiplied?",
        signal / (signal + noise),
        r"$s/(s + \nu)$, as for a posterior mean.",
    )


@SHELF.number(3)
def best_weight(draw: Draw) -> Number:
    signal, noise, gap = draw.integer(2, 9), draw.integer(1, 9), draw.integer(2, 20)
    return Number(
        f"A direction stands out from the noise floor by $\\ell = {gap}$. Outside the clusters it "
        rf"has the signal $s = {signal}$ and the noise $\nu = {noise}$. What is the best weight "
        r"$\eta^*$ of the penalty?",
        gap * noise / signal,
        r"$\eta^* = \ell\,\nu/s$.",
    )


@SHELF.number(2)
def exchange_rate(draw: Draw) -> Number:
    weight, less = draw.integer(2, 30), draw.decimal(0.01, 0.09, 2)
    return Number(
        rf"At $\eta = {weight}$ the weight is raised a little, and the misfit falls by {less}. By "
        "about how much does the reconstruction error rise?",
        weight * less,
        r"$\eta$ is the slope of the one against the other.",
    )


@SHELF.number(4)
def the_smaller_one(draw: Draw) -> Number:
    held_out, formula = draw.integers(2, 60, 2)
    return Number(
        f"The clusters are fitted, not known. Held-out samples propose the weight {held_out}, the "
        f"formula proposes {formula}. Which weight does the chapter advise?",
        min(held_out, formula),
        "The smaller of the two: the formula trusts fitted labels too much.",
    )


@SHELF.number(5)
def price_of_one_weight(draw: Draw) -> Number:
    first, second = draw.decimal(0.6, 0.95, 2), draw.decimal(0.05, 0.4, 2)
    a, b = draw.integer(1, 4), draw.integer(1, 4)
    return Number(
        f"Two directions have the best factors {first} and {second}, and hold {a} and {b} units of "
        "signal and noise outside of the clusters. By how much is the risk larger if one factor must "
        "serve both?",
        a * b / (a + b) * (first - second) ** 2,
        "The squared distances from the weighted mean of the factors, weighted alike.",
    )


SHELF.choice(
    "path",
    2,
    r"The weight $\eta$ of the penalty grows. What happens along the path?",
    right=["The reconstruction error rises and the misfit falls."],
    wrong=[
        "The reconstruction error falls and the misfit rises.",
        "The reconstruction error and the misfit both fall.",
        "The reconstruction error and the misfit both rise.",
        "The reconstruction error falls first and rises then.",
    ],
    why="Both move monotonically, one against the other.",
)
SHELF.choice(
    "folds",
    4,
    "The weight is chosen by held-out samples. When must the clusters of features be found?",
    right=["Anew in each fold, without the samples held out."],
    wrong=[
        "Once and for all, from all of the samples at hand.",
        "Anew in each fold, from the samples held out alone.",
        "Once and for all, from a fold that is then put aside.",
        "Anew for each weight, from all available samples.",
    ],
    why="Else the held-out samples have had a say in the clusters.",
)
SHELF.choice(
    "limits",
    3,
    "The best penalty is compared with the better one of PCA and the hard constraint. How much of "
    "the squared error of a direction can it save, at best?",
    right=["Half of what lies outside the clusters."],
    wrong=[
        "Half of what lies inside the clusters.",
        "All of what lies outside the clusters.",
        "All of what lies inside the clusters.",
        "Half of what the two make together.",
    ],
    why="Inside the clusters nothing is gained, outside at best half.",
)
SHELF.choice(
    "advice",
    1,
    "In what form do the clusters enter the closed form of the penalised directions?",
    right=["As samples that are added to the real ones."],
    wrong=[
        "As features that are added to the real ones.",
        "As weights that each of the samples is given.",
        "As a constraint that the directions must meet.",
        "As a start from which an iteration sets out.",
    ],
    why=r"$\sqrt\eta H$ is appended to the data as further columns of $X_c^\top$.",
)
