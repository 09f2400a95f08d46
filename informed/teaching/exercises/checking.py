"""What an author of exercises imports: three ways to say what a right answer is.

How to use them stands in ``CONTRIBUTING.md``.
"""

from __future__ import annotations

from informed.teaching.exercises.forms import Array
from informed.teaching.exercises.functions import Thrift, function_check
from informed.teaching.exercises.judged import judged_check
from informed.teaching.exercises.numbers import number_check

__all__ = ["Array", "Thrift", "function_check", "judged_check", "number_check"]
