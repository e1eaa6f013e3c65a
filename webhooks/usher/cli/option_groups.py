"""Groups of options: a command gets the options of one topic as one frozen value."""

import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Command = Callable[..., Any]
Option = Callable[[Command], Command]
"""A decorator, as `click.option` and `click.argument` return it."""


def as_value(parameter: str, kind: "type[DataclassInstance]", *options: Option) -> Option:
    """Adds options to a command, which gets them as one value.

    Args:
        parameter: the parameter of the command that gets the value.
        kind: the class of the value. Each field without a default has the name of an option of the command, which may
            stand anywhere in its list, or of a group above this one.
        options: those to add, in the order of the help page.
    """
    fields = dataclasses.fields(kind)
    names = [each.name for each in fields if each.default is dataclasses.MISSING]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(*arguments: object, **values: Any) -> object:  # noqa: ANN401 - click passes values of all options
            value = kind(**{name: values.pop(name) for name in names})
            return command(*arguments, **{parameter: value}, **values)

        return added(run, *options)

    return decorate


def added(command: Command, *options: Option) -> Command:
    """The command with options, in the order of the help page."""
    for option in reversed(options):
        command = option(command)
    return command
