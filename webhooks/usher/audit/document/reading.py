"""Reads a saved audit document: of this version of usher, or of an earlier one that wrote v1alpha1 as well."""

from datetime import datetime
from typing import Any, Final

import orjson
from pydantic import ValidationError

from usher import errors
from usher.audit.document.audit import Audit

LARGEST: Final = 256 * 2**20
"""Bytes. An audit of 100,000 workloads, all measured, takes about half of it."""

_MOST_PROBLEMS: Final = 3


def loads(data: bytes, *, source: str) -> Audit:
    """The document in a file.

    Args:
        data: its content.
        source: the name of the file in messages.

    Raises:
        InputError: it is too large, not JSON, another kind of document, or a field is wrong; the message names the
            field.
    """
    if len(data) > LARGEST:
        raise errors.InputError(f"{source}: larger than {LARGEST // 2**20} MiB, so it is not read")
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise errors.InputError(f"{source}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    _check_kind(value, source)
    try:
        found = Audit.model_validate(value)
    except ValidationError as error:
        raise errors.InputError(f"{source}: not an audit document: {_problems(error)}") from None
    _check_time(found.taken, source)
    return found


def _check_time(taken: str, source: str) -> None:
    """Raises InputError for a text by which audits cannot be ordered."""
    try:
        datetime.fromisoformat(taken)
    except ValueError:
        raise errors.InputError(
            f"{source}: not an audit document: taken: {taken[:40]!r} is not a time of ISO 8601, for example "
            "2026-03-02T06:00:00Z"
        ) from None


def _check_kind(value: Any, source: str) -> None:  # noqa: ANN401 - any value of JSON
    found = (value.get("apiVersion"), value.get("kind")) if isinstance(value, dict) else (None, None)
    wanted = tuple(Audit.model_fields[name].default for name in ("api_version", "kind"))
    if found == (wanted[0], "Report"):
        raise errors.InputError(
            f"{source}: a list of findings (kind Report), without the rest of an audit; "
            "write one with `usher audit --format json=FILE`"
        )
    if found[1] == wanted[1] and isinstance(found[0], str) and found[0] != wanted[0]:
        raise errors.InputError(
            f"{source}: an audit document of version {found[0][:80]}; this usher reads {wanted[0]}. "
            "Use the usher that wrote it, or make an audit with this one"
        )
    if found != wanted:
        raise errors.InputError(
            f"{source}: not an audit document: apiVersion {wanted[0]} and kind {wanted[1]} are missing"
        )


def _problems(error: ValidationError) -> str:
    found = error.errors(include_input=False, include_url=False, include_context=False)
    shown = [f"{'.'.join(map(str, each['loc']))[:200] or 'document'}: {each['msg'][:200]}" for each in found]
    more = f"; and {len(shown) - _MOST_PROBLEMS} more" if len(shown) > _MOST_PROBLEMS else ""
    return "; ".join(shown[:_MOST_PROBLEMS]) + more
