"""Items on survival and risk groups."""

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("risk-groups")


@SHELF.number(1)
def kaplan_meier(draw: Draw) -> Number:
    times = sorted(draw.integers(2, 40, 6))
    events = [draw.integer(0, 1) for _ in times]
    events[draw.integer(0, 2)] = 1
    events[draw.integer(3, 4)] = 1
    survival = 1.0
    for at, event in enumerate(events[:5]):
        if event:
            survival *= 1 - 1 / (6 - at)
    told = ", ".join(f"{t}{'' if e else '+'}" for t, e in zip(times, events, strict=True))
    return Number(
        f"Six patients were followed for these months, where + means alive when last seen: {told}. "
        f"What is the Kaplan–Meier estimate of survival just after month {times[4]}?",
        survival,
        "At each death multiply by one minus one over the number still at risk.",
    )


@SHELF.number(1)
def expected_deaths(draw: Draw) -> Number:
    first, second = draw.integer(12, 40), draw.integer(10, 40)
    deaths = draw.integer(2, 5)
    return Number(
        f"At some time {first} patients of group A and {second} of group B are at risk, and {deaths} "
        "of all these die. How many deaths does the log-rank test expect in group A?",
        deaths * first / (first + second),
        "Deaths times the group's share of those at risk.",
    )


@SHELF.number(1)
def variance_of_one_time(draw: Draw) -> Number:
    first, second = draw.integer(5, 30), draw.integer(5, 30)
    n = first + second
    return Number(
        f"At a time with *one* death, {first} patients of group A and {second} of group B are at "
        "risk. Which variance does this time contribute to the log-rank statistic?",
        first * second / n**2,
        r"One death: $n_A n_B / n^2$, a Bernoulli variance.",
    )


@SHELF.number(4)
def censored_at_the_horizon(draw: Draw) -> Number:
    horizon = draw.pick([36, 48, 60])
    early = draw.integer(7, 20)
    late, alive = draw.integer(3, 9), draw.integer(10, 30)
    return Number(
        f"A study is cut at {horizon} months, rightly. {early} patients died before that, {late} "
        f"died later, and {alive} were alive when last seen. How many patients stay in the data?",
        early + late + alive,
        "All: late deaths are censored at the horizon, not dropped.",
    )


SHELF.choice(
    "censored",
    1,
    "A patient was alive when last seen, after 30 months. How does the Kaplan–Meier estimate use "
    "this patient?",
    right=["As one at risk until month 30, and not after."],
    wrong=[
        "As one who died in month 30, to be careful.",
        "As one at risk for ever, since no death is known.",
        "As one who is left out, since the end is unknown.",
        "As half a death in month 30, on average.",
    ],
    why="The patient tells us that nothing happened for 30 months, and nothing about later.",
)
SHELF.choice(
    "late-deaths",
    4,
    "Patients who died after the horizon are dropped from the data. What becomes of the survival "
    "curves up to the horizon?",
    right=["They are too low, since survivors are missing."],
    wrong=[
        "They are too high, since deaths are missing.",
        "They stay right, but become less certain.",
        "They stay right, if both groups are treated alike.",
        "They are too low in the first months alone.",
    ],
    why="Who died late was alive at the horizon; dropping selects on the outcome.",
)
SHELF.choice(
    "luck",
    3,
    "The same split of patients is found with small changes from seed to seed. What does the p-value "
    "of the log-rank test do?",
    right=["It may change tenfold, while the hazard ratio hardly moves."],
    wrong=[
        "It hardly moves, while the hazard ratio may change tenfold.",
        "It stays the same, since the groups are nearly the same.",
        "It falls with each seed, since more seeds are more data.",
        "It changes with the seed only for fewer than ten patients.",
    ],
    why="A few patients near the line move it by factors of ten.",
)
SHELF.choice(
    "baseline",
    2,
    "In the gene experiment, which simple rival does about as well as the informed metric?",
    right=["The Euclidean distance."],
    wrong=[
        "The local PCA distance.",
        "A split by age.",
        "The Mahalanobis distance.",
        "A random split.",
    ],
    why="With its wide kernel it amounts to the first principal component.",
)
SHELF.choice(
    "smaller-p",
    3,
    "Two splits of the same cohort have $p = 0.001$ and $p = 0.01$. What follows about the splits?",
    right=["Little: the truth itself has p-values that vary."],
    wrong=[
        "The first is ten times as likely to be right.",
        "The first has a hazard ratio ten times as large.",
        "The second presumably is a chance finding.",
        "The first one will hold up in a new cohort.",
    ],
    why="A smaller p-value is not a better split.",
)
