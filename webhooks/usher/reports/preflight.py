"""Writes the report of a preflight, for people and for programs."""

from collections.abc import Iterator, Sequence
from typing import Final, TypedDict

from usher.preflight.denials import Denied
from usher.preflight.point import Point, State
from usher.reports import wording

_MARKS: Final = {State.GOOD: "good     ", State.ATTENTION: "attention", State.NOT_KNOWN: "not known"}
_SHOWN: Final = 20
"""The most lines of denials in the text; JSON has all of them."""


class PointJson(TypedDict):
    topic: str
    state: str
    text: str
    remedy: str


class DeniedJson(TypedDict):
    code: str
    check: str
    namespace: str
    workloads: int
    example: str


class PreflightJson(TypedDict):
    """The document of `--format json`."""

    cluster: str
    preset: str
    points: list[PointJson]
    denied: list[DeniedJson]


def document(cluster: str, preset: str, points: Sequence[Point], denied: Sequence[Denied]) -> PreflightJson:
    return {
        "cluster": cluster,
        "preset": preset,
        "points": [
            {"topic": each.topic, "state": each.state.value, "text": each.text, "remedy": each.remedy}
            for each in points
        ],
        "denied": [
            {
                "code": each.code,
                "check": each.check,
                "namespace": each.namespace,
                "workloads": each.workloads,
                "example": each.example,
            }
            for each in denied
        ],
    }


def lines(cluster: str, preset: str, points: Sequence[Point], denied: Sequence[Denied]) -> Iterator[str]:
    """The lines of the text, made safe for a terminal because others choose the names of webhooks and namespaces."""
    yield wording.harmless(wording.printable(f"{cluster}, judged by the preset {preset}"))
    for each in points:
        yield wording.harmless(wording.printable(f"  {_MARKS[each.state]}  {each.topic}: {each.text}"))
        if each.remedy:
            yield wording.harmless(wording.printable(f"             {each.remedy}"))
    if denied:
        yield ""
        yield "Denied if they came now:"
    for entry in denied[:_SHOWN]:
        number = wording.count(entry.workloads, "workload")
        place = f"{entry.code} {entry.check} in {entry.namespace or '(no namespace)'}"
        yield wording.harmless(wording.printable(f"  {place}: {number}, for example {entry.example}"))
    if len(denied) > _SHOWN:
        yield f"  and {len(denied) - _SHOWN} more lines; --format json has all of them"
    count = sum(each.state is State.ATTENTION for each in points)
    unknown = sum(each.state is State.NOT_KNOWN for each in points)
    yield ""
    yield f"{wording.count(count, 'point')} for attention, {unknown} not known"
