"""An engine that asks the own checks of a site beside usher's.

Each set of own checks is a separate module in a separate sandbox: if one fails, usher's findings stay. Its result is
checked, because it may come from a bundle.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from usher import errors, paths
from usher.dataclass import dataclass
from usher.policy.engines import deadline
from usher.policy.engines.engine import Engine, Entrypoint

LONGEST_TEXT: Final = 10_000
"""Characters of a message; the rest is cut."""
_PART: Final = 0.5
"""Share of a review's remaining time for all own checks, so that they never delay usher's verdict."""
_LISTS: Final = (("findings", "finding"), ("unknown", "unknown"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """An engine with own checks."""

    source: str
    keys: frozenset[str]
    """The keys of its checks."""
    engine: Engine


class TogetherEngine:
    """Adds the findings of own checks to those of an engine, which answers all other questions alone."""

    def __init__(self, ours: Engine, beside: Sequence[Beside]) -> None:
        self._ours = ours
        self._beside = tuple(beside)

    @property
    def name(self) -> str:
        return self._ours.name

    @property
    def waits(self) -> bool:
        return self._ours.waits

    def evaluate(self, entrypoint: Entrypoint, document: bytes) -> paths.Object:
        """The result of both. If own checks fail, the result has an unknown: a part of the object was not judged.

        Raises:
            EngineError: usher's own checks failed.
        """
        result = self._ours.evaluate(entrypoint, document)
        if entrypoint is not Entrypoint.FINDINGS:
            return result
        with deadline.share(_PART):
            parts = [result, *(_asked(each, document) for each in self._beside)]
        return {**result, **{name: [entry for part in parts for entry in _list(part, name)] for name, _ in _LISTS}}

    def ready(self) -> None:
        self._ours.ready()

    def close(self) -> None:
        self._ours.close()
        for each in self._beside:
            each.engine.close()


def _asked(beside: Beside, document: bytes) -> paths.Object:
    try:
        result = beside.engine.evaluate(Entrypoint.FINDINGS, document)
        return {name: list(_checked(result, name, inner, beside)) for name, inner in _LISTS}
    except errors.EngineError as error:
        # An unknown without a check counts as a part that was not judged, so the run does not pass.
        return {
            "unknown": [
                {"check": "", "unknown": {"path": paths.ROOT, "reason": f"own checks of {beside.source}: {error}"}}
            ]
        }


def _checked(result: paths.Object, name: str, inner: str, beside: Beside) -> Iterator[paths.Json]:
    for entry in _list(result, name):
        check, found = (entry.get("check"), entry.get(inner)) if isinstance(entry, dict) else (None, None)
        if not isinstance(check, str) or check not in beside.keys or not isinstance(found, dict):
            raise errors.EngineError(f"an entry in {name} is not one of a check of these")
        path = found.get("path")
        if not isinstance(path, str) or (path and not path.startswith("/")):
            raise errors.EngineError(f"{check}: the path of a {inner} is not a JSON Pointer: {path!s:.100}")
        for field, text in found.items():
            if not isinstance(text, str):
                raise errors.EngineError(f"{check}: {field:.100} of a {inner} is not a text")
        required = "message" if inner == "finding" else "reason"
        if required not in found:
            raise errors.EngineError(f"{check}: a {inner} has no {required}")
        yield {"check": check, inner: {field: str(text)[:LONGEST_TEXT] for field, text in found.items()}}


def _list(result: paths.Object, name: str) -> list[paths.Json]:
    found = result.get(name, [])
    if not isinstance(found, list):
        raise errors.EngineError(f"the policy engine's result has no list of {name}")
    return found
