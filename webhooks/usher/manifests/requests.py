"""Expressions in CEL for the user and the namespace of a request.

The API server sets both, so tenants cannot forge them.
"""

import re
from collections.abc import Iterable

from usher.config.sections import Identity
from usher.manifests import asking


def by(identity: Identity) -> str:
    """An expression that is true for requests by one of these users, or by a member of one of these groups."""
    users = [_is("request.userInfo.?username.orValue('')", pattern) for pattern in identity.users]
    groups = [f"request.userInfo.?groups.orValue([]).exists(g, {_is('g', pattern)})" for pattern in identity.groups]
    return " || ".join([*users, *groups]) or "false"


def within(namespaces: Iterable[str]) -> str:
    """An expression that is true for requests in namespaces with these names, in which `*` stands for any characters.

    Only the name of a namespace counts, not its labels.
    """
    patterns = sorted(set(namespaces))
    named = [pattern for pattern in patterns if "*" not in pattern]
    here = "request.?namespace.orValue('')"
    found = [f"{here} in {asking.texts(named)}"] if named else []
    return " || ".join([*found, *(_is(here, pattern) for pattern in patterns if "*" in pattern)]) or "false"


def _is(value: str, pattern: str) -> str:
    if "*" not in pattern:
        return f"{value} == {asking.text(pattern)}"
    start, _, rest = pattern.partition("*")
    if not rest:
        return f"{value}.startsWith({asking.text(start)})"
    expression = "^" + ".*".join(map(re.escape, pattern.split("*"))) + "$"
    return f"{value}.matches({asking.text(expression)})"
