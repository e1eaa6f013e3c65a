"""Durations in options of commands: 30m, 24h, 7d."""

import re
from datetime import timedelta
from typing import Final

import click

_UNITS: Final = {"w": 7 * 86_400, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_WRITTEN: Final = re.compile(r"([1-9][0-9]{0,6})([smhdw])", re.ASCII)


class Length(click.ParamType[timedelta]):
    """A number of seconds, minutes, hours, days or weeks, within bounds."""

    name = "duration"

    def __init__(self, shortest: timedelta, longest: timedelta) -> None:
        self._shortest, self._longest = shortest, longest

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = _WRITTEN.fullmatch(str(value))
        if match is None:
            self.fail(f"{value!r} is not a number with s, m, h, d or w, for example 7d.", param, ctx)
        length = timedelta(seconds=int(match[1]) * _UNITS[match[2]])
        if not self._shortest <= length <= self._longest:
            self.fail(f"{value} is not between {text(self._shortest)} and {text(self._longest)}.", param, ctx)
        return length


def text(length: timedelta) -> str:
    """A duration as users write it, in the largest unit that fits; weeks are days."""
    seconds = int(length.total_seconds())
    unit = next(unit for unit in "dhms" if seconds % _UNITS[unit] == 0)
    return f"{seconds // _UNITS[unit]}{unit}"
