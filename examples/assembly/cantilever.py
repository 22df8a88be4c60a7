"""Bending modes of a uniform beam that is clamped at its root and free at its tip.

With the roots z of cos z cosh z = -1, mass-normalised and positive at the tip:

    phi = (+-1) [cosh z s - cos z s - c (sinh z s - sin z s)] / sqrt(m),   s = x/L,   c = (cosh z + cos z)/(sinh z + sin z)
"""

import numpy as np


def roots(n):
    """The first n roots of cos z cosh z = -1, by Newton's method from those of cos z."""
    z = np.pi * (np.arange(n) + 0.5)
    z[0] = 1.875
    for _ in range(10):
        z -= (np.cos(z) + 1 / np.cosh(z)) / (-np.sin(z) - np.tanh(z) / np.cosh(z))
    return z


def modes(beam, n, x):
    """Returns the first n modes at the positions x (m from the root): (n, len(x)), 1/sqrt(kg)."""
    z = roots(n)[:, None]
    zs = z * x / beam.length
    c = (np.cosh(z) + np.cos(z)) / (np.sinh(z) + np.sin(z))
    sign = (-1.0) ** np.arange(n)[:, None]
    return sign * (np.cosh(zs) - np.cos(zs) - c * (np.sinh(zs) - np.sin(zs))) / np.sqrt(beam.mass)


def amplitudes(beam, n, deflection):
    """Returns the amplitudes (m sqrt(kg)) of the first n modes for a given deflection: (n,
    components).  `deflection` maps positions along the beam (m) to displacements (m) with any
    number of components. The amplitudes are its integrals with the modes over the mass."""
    nodes, weights = np.polynomial.legendre.leggauss(48)
    x = 0.5 * beam.length * (nodes + 1)
    return modes(beam, n, x) @ (0.5 * beam.mass * weights[:, None] * deflection(x))
