"""The first import of the figures: says what to type where matplotlib is missing."""

from informed.extras import import_extra

import_extra("matplotlib", "informed.plots")
