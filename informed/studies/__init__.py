"""The studies: experiments, their figures, and the command line that runs them.

They use the metric and are used by the teaching; the metric knows nothing of them.
"""
