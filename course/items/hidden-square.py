"""Items on the hidden square and diffusion maps."""

from math import exp, pi, sqrt

from informed.teaching.assessment.items import Draw, Number, Shelf

SHELF = Shelf("hidden-square")


@SHELF.number(1)
def slope(draw: Draw) -> Number:
    side = draw.integer(2, 15)
    return Number(
        f"Hidden points fill a square of side {side} evenly, and features are a linear map of them "
        "without noise. With the true covariance, what is the slope of the Mahalanobis distances "
        "of the features against the hidden Euclidean distances?",
        sqrt(12) / side,
        r"A uniform variable on an interval of length $L$ has the standard deviation "
        r"$L/\sqrt{12}$.",
    )


@SHELF.number(2)
def markov_entry(draw: Draw) -> Number:
    a, b = draw.integers(1, 3, 2)
    epsilon = draw.integer(3, 8)
    first, second = exp(-(a**2) / epsilon), exp(-(b**2) / epsilon)
    return Number(
        rf"A diffusion map has the kernel $\exp(-d^2/\varepsilon)$ with $\varepsilon = {epsilon}$, "
        f"and each row is divided by its sum. There are three samples; the first is at the "
        f"distance {a} from the second and {b} from the third. What is the probability of a step "
        "from the first to the second?",
        first / (1 + first + second),
        "The row of the kernel is $1, e^{-a^2/\\varepsilon}, e^{-b^2/\\varepsilon}$.",
    )


@SHELF.number(3)
def kernel_at_the_median(draw: Draw) -> Number:
    scale = draw.decimal(0.2, 3.0)
    return Number(
        r"The scale is $\varepsilon = s \cdot m$, where $m$ is the median of the squared distances "
        rf"and $s = {scale}$. Which value has the kernel $\exp(-d^2/\varepsilon)$ at a pair whose "
        "squared distance is the median?",
        exp(-1 / scale),
        r"$\exp(-m/(s m)) = e^{-1/s}$.",
    )


@SHELF.number(2)
def eigenvalue_of_a_cosine(draw: Draw) -> Number:
    epsilon, k = draw.pick([0.005, 0.01, 0.02]), draw.integer(1, 3)
    return Number(
        r"On the interval $[0, 1]$, filled evenly, one step of the walk is "
        r"$1 + \frac{\varepsilon}{4} \frac{d^2}{dx^2}$ for small $\varepsilon$. Which eigenvalue "
        rf"belongs to $\cos {k} \pi x$ for $\varepsilon = {epsilon}$?".replace("1 \\pi", "\\pi"),
        1 - epsilon * (k * pi) ** 2 / 4,
        r"The second derivative multiplies it by $-(k\pi)^2$.",
    )


SHELF.choice(
    "cosines",
    2,
    "Which functions do the first eigenvectors of a diffusion map approach, on points that fill an "
    "interval evenly?",
    right=["Cosines whose slope vanishes at both ends."],
    wrong=[
        "Sines that vanish at both of the two ends.",
        "Polynomials of growing degree, orthogonal.",
        "Indicators of pieces of the interval each.",
        "Gaussians around points that are evenly set.",
    ],
    why=r"$\cos k\pi x$: the walk is reflected at the ends.",
)
SHELF.choice(
    "strip",
    2,
    "Points fill a long strip evenly. What do the first two coordinates of a diffusion map show?",
    right=["A horseshoe: the second is a function of the first."],
    wrong=[
        "The strip: one coordinate for each of its sides.",
        "A disc: the two eigenvalues are in a tie.",
        "Two clusters: one for each of the two ends.",
        "A line: the second coordinate vanishes all along.",
    ],
    why=r"$\cos 2\pi x$ comes before anything that varies across a long strip.",
)
SHELF.choice(
    "epsilon",
    3,
    r"The kernel scale $\varepsilon$ of a diffusion map grows without bound. What does the map tend "
    "to?",
    right=["A linear map of the samples."],
    wrong=[
        "A tree of their neighbours.",
        "A cluster for each sample.",
        "A circle through all samples.",
        "A map with cosines for axes.",
    ],
    why="For large scales the kernel is linear in the squared distances.",
)
SHELF.choice(
    "centring",
    1,
    r"Features of a hidden square $[0,1]^2$ are not centred before the covariance is computed. "
    "Which hidden distances are wrong?",
    right=[r"Those along the diagonal of the mean, by $\sqrt 7$."],
    wrong=[
        r"Those across the diagonal of the mean, by $\sqrt 7$.",
        r"Those along both of the sides, by the same $\sqrt{12}$.",
        r"All of them, by one common factor of $\sqrt{12}$.",
        r"None of them: the pseudo-inverse repairs the lack.",
    ],
    why=r"$1 + \mu^\top\Sigma_x^{-1}\mu = 1 + 2 \cdot 3 = 7$.",
)
