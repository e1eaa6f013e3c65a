"""How often each template of an Argo workflow runs, once it is known how often each runs which others.

Templates form a graph, in which there may be more paths than anybody can walk: every template is looked at once, after
all that run it.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from usher.reading.counts import NEVER, Times, each, together, united

Runs = Sequence[tuple[int, Times]]
"""How often a template runs which others, by their numbers."""

_RECURSION: Final = ("a template runs itself again, and nothing bounds how often",)


def of_graph(starts: Runs, runs: Sequence[Runs], skipped: Sequence[str]) -> list[Times]:
    """How often each template runs.

    Args:
        starts: what the workflow itself runs.
        runs: what each template runs, every time that it does.
        skipped: why a template may not run although it is asked to; empty for most.
    """
    asked: list[list[Times]] = [[] for _ in runs]
    for number, times in starts:
        asked[number].append(times)
    result = [NEVER] * len(runs)
    for group in reversed(list(_groups(runs))):
        members = set(group)
        recursive = len(group) > 1 or any(number in members for number, _ in runs[group[0]])
        reached = recursive and any(times.high != 0 for number in group for times in asked[number])
        for number in group:
            times = together(asked[number])
            if reached:
                times = Times(times.low, None, united(times.reasons, _RECURSION))
            if skipped[number]:
                times = times.perhaps(skipped[number])
            result[number] = times
            for other, inner in runs[number]:
                if other not in members:
                    asked[other].append(each(times, inner))
    return result


def _groups(runs: Sequence[Runs]) -> Iterator[list[int]]:
    """Templates that run each other, those first that run no others; most groups have one member.

    Tarjan's algorithm, without recursion: a chain of templates may be longer than Python's stack.
    """
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_: list[int] = []
    is_open: set[int] = set()
    for root in range(len(runs)):
        if root in order:
            continue
        work = [(root, iter(runs[root]))]
        order[root] = lowest[root] = len(order)
        open_.append(root)
        is_open.add(root)
        while work:
            number, others = work[-1]
            for other, _ in others:
                if other not in order:
                    order[other] = lowest[other] = len(order)
                    open_.append(other)
                    is_open.add(other)
                    work.append((other, iter(runs[other])))
                    break
                if other in is_open:
                    lowest[number] = min(lowest[number], order[other])
            else:
                work.pop()
                if work:
                    caller = work[-1][0]
                    lowest[caller] = min(lowest[caller], lowest[number])
                if lowest[number] == order[number]:
                    group = [open_.pop()]
                    while group[-1] != number:
                        group.append(open_.pop())
                    is_open.difference_update(group)
                    yield group
