"""Moved to :mod:`informed.running`; this name goes when nothing imports it any more."""

from informed.running import run_tasks, seeds

__all__ = ["run_tasks", "seeds"]
