"""The number that a quantity is."""

from fractions import Fraction

from usher.quantities import Quantity


def number(quantity: Quantity) -> Fraction:
    return Fraction(quantity.nanos, 10**9)
