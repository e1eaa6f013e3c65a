"""Loads usher.yaml from a file; errors name the line and key of every problem."""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pydantic
import pydantic_core

from usher import errors, paths
from usher.config import models, reasons, salvage
from usher.documents import places, reader

Problem = tuple[str, str]
"""JSON Pointer into usher.yaml, and the problem there."""


def _nothing(_config: models.Config) -> Iterable[Problem]:
    return ()


def load(file: Path, *, more: Callable[[models.Config], Iterable[Problem]] = _nothing) -> models.Config:
    """The configuration in a file.

    Args:
        file: usher.yaml.
        more: finds mistakes of meaning. It is asked about the good part of a file with other mistakes, so that one run
            names all of them; the caller asks it about a good file.

    Raises:
        ConfigError: the file cannot be read, is not YAML, or does not match the schema; names every line and key.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise errors.ConfigError(str(file), [(0, "", f"cannot be read: {error.strerror}")]) from None
    return parse(data, source=str(file), more=more)


def parse(data: bytes, *, source: str, more: Callable[[models.Config], Iterable[Problem]] = _nothing) -> models.Config:
    """The configuration in the content of a file; `more` as for `load`.

    Raises:
        ConfigError: the content is not YAML, or does not match the schema; names every line and key.
    """
    try:
        documents = reader.parse(data, source=source)
    except errors.ManifestError as error:
        raise errors.ConfigError(source, [(error.line, "", error.reason)]) from None
    if not documents:
        return models.Config()
    if len(documents) > 1:
        raise errors.ConfigError(source, [(documents[1].line, "", "expected one document, found several")])
    try:
        return models.Config.model_validate(documents[0].value)
    except pydantic.ValidationError as error:
        where = places.Places(documents[0])
        problems = [_problem(detail, where) for detail in error.errors()]
        problems += _of_meaning(documents[0].value, where, more)
        raise errors.ConfigError(source, sorted(problems, key=lambda problem: problem[0])) from None


def _of_meaning(
    value: paths.Json, where: places.Places, more: Callable[[models.Config], Iterable[Problem]]
) -> Iterable[tuple[int, str, str]]:
    rest = salvage.salvage(value)
    for pointer, reason in () if rest is None else more(rest.config):
        place = rest.pointer_in_file(pointer) if rest is not None else pointer
        yield _line(where, place), paths.readable(place), reason


def refusal(file: Path | None, problems: Sequence[tuple[str, str]]) -> errors.ConfigError:
    """The error for problems at pointers of a file that was loaded before; with lines, if possible."""
    return errors.ConfigError("usher.yaml" if file is None else str(file), located(file, problems))


def located(file: Path | None, problems: Sequence[tuple[str, str]]) -> list[tuple[int, str, str]]:
    """Line (0 where unknown), key and text of problems at pointers of a file that was loaded before."""
    data = b""
    if file is not None and problems:
        with contextlib.suppress(OSError):
            data = file.read_bytes()
    return located_in(data, problems)


def located_in(data: bytes, problems: Sequence[tuple[str, str]]) -> list[tuple[int, str, str]]:
    """As `located`, for the content of a file."""
    where = None
    if data and problems:
        with contextlib.suppress(errors.ManifestError):
            documents = reader.parse(data, source="usher.yaml")
            where = places.Places(documents[0]) if documents else None
    return [
        (0 if where is None else _line(where, pointer), paths.readable(pointer), reason) for pointer, reason in problems
    ]


def _problem(detail: pydantic_core.ErrorDetails, where: places.Places) -> tuple[int, str, str]:
    pointer = paths.join(paths.ROOT, *detail["loc"])
    place = paths.readable(pointer) if detail["loc"] else ""
    return _line(where, pointer), place, reasons.reason(detail)


def _line(where: places.Places, pointer: str) -> int:
    position = where.nearest(pointer)
    return position.key.line if position.key is not None else position.line
