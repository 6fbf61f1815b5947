"""Random numbers of the shared forest, computed from a key and a counter. They do not depend on the order of calls."""

# mypy: allow-untyped-defs

import numpy as np
from numba import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_U27, _U30, _U31, _U32 = (np.uint64(bits) for bits in (27, 30, 31, 32))


@njit(nogil=True, cache=True, inline="always")
def mix(state):
    """Mix the bits of a 64-bit state with the finalizer of SplitMix64 (Steele et al., OOPSLA 2014)."""
    state = (state ^ (state >> _U30)) * _MIX_1
    state = (state ^ (state >> _U27)) * _MIX_2
    return state ^ (state >> _U31)


@njit(nogil=True, cache=True, inline="always")
def draw(key, counter, bound):
    """Draw a number from 0 ... bound - 1 by key and counter, uniform up to a bias below bound / 2**32."""
    bits = mix(key + GOLDEN * np.uint64(counter))
    return np.int64(((bits >> _U32) * np.uint64(bound)) >> _U32)


@njit(nogil=True, cache=True)
def tree_keys(seed, subset, n_trees):
    """Return a random key for each tree. It depends only on the seed, the subset's columns and the tree.

    Parameters
    ----------
    seed : uint64
        Seed of the forest.
    subset : ndarray of int64
        Positions of the columns, ascending.
    n_trees : int
        Number of trees.

    Returns
    -------
    ndarray of uint64, shape (n_trees,)
    """
    base = mix(seed + GOLDEN)
    for i in range(subset.shape[0]):
        base = mix(base + GOLDEN * np.uint64(subset[i] + 1))
    keys = np.empty(n_trees, np.uint64)
    for tree in range(n_trees):
        keys[tree] = mix(base + GOLDEN * np.uint64(tree + 1))
    return keys
