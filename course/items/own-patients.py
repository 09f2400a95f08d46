"""Items on the paper's own patients."""

from math import exp, log

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("own-patients")


@SHELF.number(3)
def share_of_the_hospitals(draw: Draw) -> Number:
    low, gap, step = draw.integer(1, 4), draw.integer(3, 8), draw.integer(1, 2)
    first = [low, low + step, low + 2 * step]
    second = [value + gap for value in first]
    between, within = 6 * (gap / 2) ** 2, 4 * step**2
    return Number(
        f"One gene reads {first[0]}, {first[1]}, {first[2]} in three patients of one hospital and "
        f"{second[0]}, {second[1]}, {second[2]} in three of another. Which share of its variance do "
        "the hospitals explain?",
        between / (between + within),
        "The sum of squares between the two means, over the whole sum of squares.",
    )


@SHELF.number(3)
def centred_by_hospital(draw: Draw) -> Number:
    values = [draw.integer(2, 12) for _ in range(3)]
    other = [value + draw.integer(10, 20) for value in values]
    return Number(
        f"A gene reads {values[0]}, {values[1]}, {values[2]} at one hospital and {other[0]}, "
        f"{other[1]}, {other[2]} at another. What does the first patient read after each hospital "
        "is centred on its own?",
        values[0] - sum(values) / 3,
        "Less the mean of the three patients of the same hospital.",
        relative=0.02,
    )


@SHELF.number(4)
def pooled_ratio(draw: Draw) -> Number:
    first, second = draw.decimal(1.1, 2.4), draw.decimal(1.1, 2.4)
    return Number(
        f"Two hospitals that share no patients have the hazard ratios {first} and {second}, with "
        "intervals that are equally wide on the scale of logarithms. What is the combined ratio?",
        exp((log(first) + log(second)) / 2),
        "Equal precision: the mean of the logarithms.",
    )


SHELF.choice(
    "join",
    1,
    "Two public tables of the same patients have no name in common and are joined by what they "
    "share. What tests the join?",
    right=["Columns that were not used to make it."],
    wrong=[
        "Columns that were used to make it.",
        "The number of rows that it has.",
        "The p-value of the two risk groups.",
        "The order in which the rows stand.",
    ],
    why="What a join did not use can still disagree with it.",
)
SHELF.choice(
    "preprocessing",
    2,
    "The paper's patients are analysed with another preprocessing, and the published difference is "
    "not seen. What follows?",
    right=["That it did not survive other preprocessing."],
    wrong=[
        "That the authors have made an error.",
        "That the method does not work at all.",
        "That the patients were other ones.",
        "That the sample was far too large.",
    ],
    why="Other preprocessing is other data: no claim of error follows.",
)
SHELF.choice(
    "first-direction",
    3,
    "Patients of several hospitals are pooled. What tends to take the first principal direction?",
    right=["The shift between the hospitals."],
    wrong=[
        "The age of all the patients.",
        "The stage of the disease itself.",
        "The gene with the lowest variance.",
        "The length of the follow-up.",
    ],
    why="Look for it first; centring each hospital removes it.",
)
SHELF.choice(
    "price",
    3,
    "Each hospital is centred on its own. What can no longer be done?",
    right=["To treat a single new patient."],
    wrong=[
        "To compare two of the metrics.",
        "To cluster all of the genes.",
        "To use a log-rank test at all.",
        "To pool the hospitals' results.",
    ],
    why="A single patient of a new hospital has no hospital mean.",
)
SHELF.choice(
    "twelve",
    4,
    "Splits learnt at each of four hospitals are tested at the other three; all twelve ratios are "
    "above one. How strong is this evidence?",
    right=["Weaker than twelve independent ratios."],
    wrong=[
        "As strong as twelve independent ratios.",
        "Stronger than twelve independent ratios.",
        "As strong as the best one of the twelve.",
        "Not any evidence, since all agree so well.",
    ],
    why="The same patients are counted several times.",
)
