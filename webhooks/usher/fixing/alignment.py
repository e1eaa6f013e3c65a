"""Pairs the items of a changed list with the items of the old one."""

from usher import paths


def same(one: paths.Json, other: paths.Json) -> bool:
    """Whether two values are the same in JSON. Python also calls True and 1 equal."""
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(same(value, other[key]) for key, value in one.items())
        )
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


Step = tuple[int | None, int | None]
"""Positions of an item in the old and the new list: (3, 4) is kept or changed, (3, None) removed, (None, 4) new."""


def of_lists(before: list[paths.Json], after: list[paths.Json]) -> list[Step]:
    """How the old list becomes the new one, in the order of the new list."""
    first = 0
    while first < min(len(before), len(after)) and same(before[first], after[first]):
        first += 1
    last = 0
    while last < min(len(before), len(after)) - first and same(before[-1 - last], after[-1 - last]):
        last += 1
    steps: list[Step] = [(index, index) for index in range(first)]
    old, new = list(range(first, len(before) - last)), list(range(first, len(after) - last))
    steps += _middle(before, after, old, new)
    return [*steps, *((len(before) - each, len(after) - each) for each in range(last, 0, -1))]


def _middle(before: list[paths.Json], after: list[paths.Json], old: list[int], new: list[int]) -> list[Step]:
    if len(old) > len(new):
        pairs = _embedded([after[index] for index in new], [before[index] for index in old])
        return [(index, None if pairs[place] is None else new[pairs[place] or 0]) for place, index in enumerate(old)]
    pairs = _embedded([before[index] for index in old], [after[index] for index in new])
    return [(None if pairs[place] is None else old[pairs[place] or 0], index) for place, index in enumerate(new)]


def _embedded(few: list[paths.Json], many: list[paths.Json]) -> list[int | None]:
    """The partner among `few` for each of `many`, in order: by similarity, or else one by one from the first."""
    pairs: list[int | None] = []
    partner = 0
    for item in many:
        if partner < len(few) and _alike(few[partner], item):
            pairs.append(partner)
            partner += 1
        else:
            pairs.append(None)
    if partner == len(few):
        return pairs
    return [index if index < len(few) else None for index in range(len(many))]


def _alike(one: paths.Json, other: paths.Json) -> bool:
    if isinstance(one, dict) and isinstance(other, dict) and isinstance(one.get("name"), str):
        return one["name"] == other.get("name")
    return same(one, other)
