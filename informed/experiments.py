"""The experiments by their public name; the code is in ``informed.studies.experiments``."""

from informed.studies.experiments import *
from informed.studies.experiments import __all__ as __all__
