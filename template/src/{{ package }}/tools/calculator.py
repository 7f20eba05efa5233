"""Arithmetic. The functions are yours to change.

They count in decimal, so that 0.1 + 0.2 is 0.3. A result with more digits than a float holds is
rounded to the nearest float; one that is no ordinary number is an error.
"""

from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow

from ..runtime.errors import ToolError

Number = int | float

LARGEST = 2**53  # beyond it a JSON reader such as a browser shows another number
_DECIMAL = Context(prec=40, traps=[DivisionByZero, InvalidOperation, Overflow])


def add(a: Number, b: Number) -> Number:
    """a + b"""
    return _number(_DECIMAL.add(_decimal(a), _decimal(b)))


def subtract(a: Number, b: Number) -> Number:
    """a - b"""
    return _number(_DECIMAL.subtract(_decimal(a), _decimal(b)))


def multiply(a: Number, b: Number) -> Number:
    """a * b"""
    return _number(_DECIMAL.multiply(_decimal(a), _decimal(b)))


def divide(a: Number, b: Number) -> Number:
    """a / b, a whole number where it divides evenly. Raises ToolError if b is 0."""
    if b == 0:
        raise ToolError("division by zero")
    return _number(_DECIMAL.divide(_decimal(a), _decimal(b)))


def _decimal(value: Number) -> Decimal:
    return Decimal(repr(value))  # repr is the shortest text of a float: the number that was written


def _number(value: Decimal) -> Number:
    if abs(value) > LARGEST:
        raise ToolError(f"the result {value:.4g} is too large; results stay within ±2^53")
    if value == value.to_integral_value():
        return int(value)
    if not float(value):
        raise ToolError(f"the result {value:.4g} is too small to be told from 0")
    return float(value)
