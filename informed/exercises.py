"""The exercises by their public name; the code is in ``informed.teaching.exercises``."""

from informed.teaching.exercises import *
from informed.teaching.exercises import __all__ as __all__
