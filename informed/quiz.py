"""The quizzes by their public name; the code is in ``informed.teaching.quiz``."""

from informed.teaching.quiz import *
from informed.teaching.quiz import __all__ as __all__
