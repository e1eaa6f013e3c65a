"""Why an intent changes nothing, in the words of reports, and the strategies that several fields share."""

from collections.abc import Mapping
from typing import Final

from usher import errors, paths, quantities
from usher.mutation.editing import Edit

ALREADY_THERE: Final = "it is there already"
USER_DECIDES: Final = "the user set another value"
MATCHES_NOTHING: Final = "its node affinity matches no node at all"
NO_PLACE: Final = "the kind has no place for it"
ELSEWHERE: Final = "the kind keeps the containers of its pods in fields of its own"
SHARED_METADATA: Final = "its pods have their metadata in common with others, which would be given it too"
NOT_CHANGEABLE: Final = (
    "a change here would not reach its pods, or would be refused; the webhook changes the pods when they are made"
)


_DEFAULTS: Final[Mapping[str, paths.Json]] = {"defaultMode": 420, "apiVersion": "v1"}
"""Defaults that the API server adds to volumes and to references in variables."""

_QUANTITIES: Final = frozenset({"sizeLimit"})
"""Fields that hold quantities, which the API server may spell differently from the user."""


def is_same(present: paths.Json, wanted: paths.Json) -> bool:
    """Whether a value equals the wanted one, as a user or the API server would write it."""
    if not isinstance(present, dict) or not isinstance(wanted, dict):
        return present == wanted
    return all(
        _is_same_field(key, present[key], wanted[key])
        if key in present and key in wanted
        else key in present and _DEFAULTS.get(key) == present[key]
        for key in {**present, **wanted}
    )


def _is_same_field(key: str, present: paths.Json, wanted: paths.Json) -> bool:
    if key not in _QUANTITIES:
        return is_same(present, wanted)
    try:
        return quantities.parse(present) == quantities.parse(wanted)
    except errors.QuantityError:
        return False


def set_if_absent(edit: Edit, pointer: str, entries: Mapping[str, paths.Json]) -> str:
    """Sets the entries that an object lacks. An empty text counts as missing, as in the API."""
    existing = edit.get(pointer)
    present = existing if isinstance(existing, dict) else {}
    missing = {key: value for key, value in entries.items() if present.get(key) in (None, "")}
    for key, value in missing.items():
        edit.add(paths.join(pointer, key), value)
    if missing:
        return ""
    return ALREADY_THERE if all(present[key] == value for key, value in entries.items()) else USER_DECIDES


def set_unless_chosen(edit: Edit, pointer: str, value: paths.Json, *, instead: paths.Json = None) -> str:
    """Sets a field that is unset or empty, or that holds the default that Kubernetes writes (`instead`)."""
    current = edit.get(pointer)
    if current == value:
        return ALREADY_THERE
    if current not in (None, "", instead):
        return USER_DECIDES
    edit.add(pointer, value)
    return ""


def list_at(edit: Edit, pointer: str) -> list[paths.Json]:
    """The list at a pointer; empty without one.

    Raises:
        LookupError: the value at the pointer is not a list.
    """
    existing = edit.get(pointer)
    if existing is None:
        return []
    if not isinstance(existing, list):
        raise LookupError(pointer)
    return existing


def named(entries: list[paths.Json], key: str, value: paths.Json) -> paths.Object | None:
    """The entry of a list that has a value under a key."""
    return next((each for each in entries if isinstance(each, dict) and each.get(key) == value), None)
