"""Typical wrong answers to the exercises on soft clusters, and what the self-check says to them."""

from __future__ import annotations

import numpy as np


def stacked(rows, d):
    return np.linalg.svd(rows, full_matrices=False)[2][:d].T


def scaled(X):
    return (X - X.mean(axis=0)) / np.sqrt(len(X) - 1)


def not_centered(X, H, d, weight):
    return stacked(np.vstack([X / np.sqrt(len(X) - 1), np.sqrt(weight) * H.T]), d)


def no_root(X, H, d, weight):
    return stacked(np.vstack([scaled(X), weight * H.T]), d)


def not_scaled(X, H, d, weight):
    return stacked(np.vstack([X - X.mean(axis=0), np.sqrt(weight) * H.T]), d)


def only_samples(X, H, d, weight):
    return stacked(scaled(X), d)


def rows_instead_of_columns(X, H, d, weight):
    return stacked(np.vstack([scaled(X), np.sqrt(weight) * H.T]), d).T


def plain(penalties, errors):
    return penalties[np.argmin(errors.mean(axis=1))]


def within(penalties, errors, width):
    mean = errors.mean(axis=1)
    return penalties[mean <= mean.min() + width]


def best_row(errors):
    return errors[np.argmin(errors.mean(axis=1))]


def largest(penalties, errors):
    row = best_row(errors)
    return within(penalties, errors, row.std(ddof=1) / np.sqrt(len(row)))[-1]


def whole_deviation(penalties, errors):
    return within(penalties, errors, best_row(errors).std(ddof=1))[0]


def index_instead_of_penalty(penalties, errors):
    return [0.0, 1.0]


def own_standard_error(penalties, errors):
    mean = errors.mean(axis=1)
    spread = errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1])
    return penalties[np.argmax(mean <= mean.min() + spread)]


def strictly_below(penalties, errors):
    mean, row = errors.mean(axis=1), best_row(errors)
    return penalties[mean < mean.min() + row.std(ddof=1) / np.sqrt(len(row))][0]


def by_covariance(X, H, d, weight):
    return np.linalg.eigh(np.cov(X, rowvar=False) + weight * H @ H.T)[1][:, ::-1][:, :d]


def full_svd(X, H, d, weight):
    return np.linalg.svd(np.vstack([scaled(X), np.sqrt(weight) * H.T]))[2][:d].T


WRONG = {
    "ex-soft-angle": [
        ([45, 0.1464, 1.2929], "twice the angle"),
        ([0.3927, 0.1464, 1.2929], "degrees"),
        ([22.5, 0.8536, 1.2929], "inside"),
        ([22.5, 0.1464, 2.7071], "explains"),
        ([22.5, 0.1464, 1.5], "error"),
    ],
    "ex-soft-stack": [
        (not_centered, "not centred"),
        (no_root, "under a root"),
        (not_scaled, "count too much"),
        (only_samples, "where do the clusters come in"),
        (rows_instead_of_columns, "shape"),
        (by_covariance, "megabytes at once"),
        (full_svd, "unless it is told not to"),
    ],
    "ex-soft-cautious": [
        (plain, "plain choice"),
        (largest, "largest penalty"),
        (whole_deviation, "whole standard deviation"),
        (index_instead_of_penalty, "single number"),
        (own_standard_error, "its own standard error"),
        (strictly_below, "which is allowed"),
    ],
}
