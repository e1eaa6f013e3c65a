"""Loads usher.yaml from a file; errors name the line and key of every problem."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

import pydantic
import pydantic_core

from usher import errors, paths
from usher.config import models
from usher.documents import places, reader


def load(file: Path) -> models.Config:
    """The configuration in a file.

    Raises:
        ConfigError: the file cannot be read, is not YAML, or does not match the schema; names every line and key.
    """
    source = str(file)
    try:
        documents = reader.parse(file.read_bytes(), source=source)
    except OSError as error:
        raise errors.ConfigError(source, [(0, "", f"cannot be read: {error.strerror}")]) from None
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
        raise errors.ConfigError(source, [_problem(detail, where) for detail in error.errors()]) from None


def refusal(file: Path | None, problems: Sequence[tuple[str, str]]) -> errors.ConfigError:
    """The error for problems at pointers of a file that was loaded before; with lines, if possible."""
    return errors.ConfigError("usher.yaml" if file is None else str(file), located(file, problems))


def located(file: Path | None, problems: Sequence[tuple[str, str]]) -> list[tuple[int, str, str]]:
    """Line (0 where unknown), key and text of problems at pointers of a file that was loaded before."""
    where = None
    if file is not None and problems:
        with contextlib.suppress(OSError, errors.ManifestError):
            documents = reader.parse(file.read_bytes(), source=str(file))
            where = places.Places(documents[0]) if documents else None
    return [
        (0 if where is None else _line(where, pointer), paths.readable(pointer), reason) for pointer, reason in problems
    ]


def _problem(detail: pydantic_core.ErrorDetails, where: places.Places) -> tuple[int, str, str]:
    pointer = paths.join(paths.ROOT, *detail["loc"])
    reason = "unknown key" if detail["type"] == "extra_forbidden" else detail["msg"].removeprefix("Value error, ")
    return _line(where, pointer), paths.readable(pointer), reason


def _line(where: places.Places, pointer: str) -> int:
    position = where.nearest(pointer)
    return position.key.line if position.key is not None else position.line
