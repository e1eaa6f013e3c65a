"""Random changes of a value."""

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from unit.check.fix.written import KEYS, Draw, values


def _collections(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for child in value.values() if isinstance(value, dict) else value:
            yield from _collections(child)


@st.composite
def changed(draw: Draw, value: Any) -> Any:
    """A copy of a value after one to three changes."""
    result = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        found = list(_collections(result))
        if not found:
            break
        one = draw(st.sampled_from(found))
        action = draw(st.sampled_from(["add", "add", "set", "remove", "rename"]))
        if action == "add" and isinstance(one, list):
            one.append(draw(values))
        elif action == "add":
            one[draw(st.sampled_from([*KEYS, "new", "other"]))] = draw(values)
        elif one and isinstance(one, list):
            place = draw(st.integers(0, len(one) - 1))
            if action == "set":
                one[place] = draw(values)
            else:
                del one[place]
        elif one:
            key = draw(st.sampled_from(sorted(one)))
            if action == "set":
                one[key] = draw(values)
            elif action == "rename" and "renamed" not in one:
                one["renamed"] = one.pop(key)
            else:
                del one[key]
    return result
