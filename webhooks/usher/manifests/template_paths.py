"""The pod templates of an object in CEL, from the paths in the record of its kind.

CEL cannot follow the paths of some kinds: the templates are in another object, or a container is not in a pod spec.
These kinds are left out; they make objects of other kinds, or Pods.
"""

import re
from collections.abc import Iterable
from typing import Final

from usher.kinds.kind import Kind
from usher.kinds.registry import WORKLOADS

_STEP: Final = r"(?:[A-Za-z]+(?:\[\])?|<[a-z]+>|\{[A-Za-z,]+\})"
_PATH: Final = re.compile(rf"{_STEP}(?:\.{_STEP})*\.(?:template|leaderTemplate|workerTemplate)(?:\.spec)?")
_MANY: Final = re.compile(r"\[\]|\.<[a-z]+>|\.\{[A-Za-z,]+\}")


def readable() -> list[Kind]:
    """The kinds whose templates CEL finds, Pods first. Kinds that only other objects refer to make no pods."""
    kinds = [kind for kind in WORKLOADS.values() if kind.plural and not kind.is_template and _is_readable(kind)]
    return sorted(kinds, key=lambda kind: kind.kind != "Pod")


def templates(of: str = "object") -> str:
    """An expression for the list of all pod templates of an object, or of the Pod itself.

    Args:
        of: the variable that holds it.
    """
    return f"(request.resource.resource == 'pods' ? [{of}] : {of_workloads(of)})"


def of_workloads(of: str) -> str:
    """An expression for the list of all pod templates of an object that is not a Pod."""
    paths = {_without_spec(path) for kind in readable() for path in _paths(kind)}
    return " + ".join(_list(path, of) for path in sorted(paths))


def _is_readable(kind: Kind) -> bool:
    return kind.kind == "Pod" or all(_PATH.fullmatch(path) for path in _paths(kind))


def _paths(kind: Kind) -> Iterable[str]:
    if kind.pods is None or kind.kind == "Pod":
        return ()
    return kind.pods.template_paths


def _without_spec(path: str) -> str:
    return path.removesuffix(".spec")


def _list(path: str, of: str) -> str:
    """The templates at a path. At most one step of it may mean several values: a list, or all values of a map."""
    many = _MANY.search(path)
    if many is None:
        return f"[{of}{_fields(path)}.orValue({{}})]"
    holder, rest = f"{of}{_fields(path[: many.start()])}", _fields(path[many.end() :].removeprefix("."))
    if many[0] == "[]":
        return f"{holder}.orValue([]).map(x, x{rest}.orValue({{}}))"
    return f"{holder}.orValue({{}}).map(x, {holder}.orValue({{}})[?x]{rest}.orValue({{}}))"


def _fields(path: str) -> str:
    return "".join(f".?{field}" for field in path.split("."))
