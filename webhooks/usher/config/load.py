"""Loads usher.yaml from a file; errors name the line and key of every problem."""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pydantic

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
        more: finds mistakes of meaning in the valid part of a file with other mistakes, so that one run names all of
            them. For a valid file the caller runs it.

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
        problems = [
            (_line(where, pointer), paths.readable(pointer) if pointer else "", reason)
            for pointer, reason in _mistakes(documents[0].value, error, more)
        ]
        raise errors.ConfigError(source, sorted(problems, key=lambda problem: problem[0])) from None


def mistakes(value: paths.Json, *, more: Callable[[models.Config], Iterable[Problem]] = _nothing) -> list[Problem]:
    """All mistakes in the value of usher.yaml, at their pointers; `more` also checks a valid value."""
    try:
        config = models.Config.model_validate(value)
    except pydantic.ValidationError as error:
        return list(_mistakes(value, error, more))
    return list(more(config))


def _mistakes(
    value: paths.Json, error: pydantic.ValidationError, more: Callable[[models.Config], Iterable[Problem]]
) -> Iterable[Problem]:
    for detail in error.errors():
        yield paths.join(paths.ROOT, *detail["loc"]), reasons.reason(detail)
    rest = salvage.salvage(value)
    if rest is not None:
        for pointer, reason in more(rest.config):
            yield rest.pointer_in_file(pointer), reason


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
    """Line, key and text of problems, like `located`, for the content of a file."""
    where = None
    if data and problems:
        with contextlib.suppress(errors.ManifestError):
            documents = reader.parse(data, source="usher.yaml")
            where = places.Places(documents[0]) if documents else None
    return [
        (0 if where is None else _line(where, pointer), paths.readable(pointer), reason) for pointer, reason in problems
    ]


def _line(where: places.Places, pointer: str) -> int:
    position = where.nearest(pointer)
    return position.key.line if position.key is not None else position.line
