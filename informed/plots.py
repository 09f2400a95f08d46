"""The figures by their public name; the code is in ``informed.studies.plots``."""

from informed.studies.plots import *
from informed.studies.plots import __all__ as __all__
