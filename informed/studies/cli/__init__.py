"""Command line: run the experiments, or use the metric on a table of your own."""

from informed.studies.cli.commands import main
from informed.studies.cli.runs import experiments

__all__ = ["experiments", "main"]
