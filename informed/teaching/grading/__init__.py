"""Marking of a class: each notebook in a closed process, each answer judged outside of it."""
