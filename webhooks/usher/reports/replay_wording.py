"""The words of the reports of `usher replay`."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from usher.replay import amounts
from usher.replay.amounts import Concerned
from usher.replay.comparison import Change, Difference
from usher.replay.impact import Impact
from usher.replay.verdicts import Side
from usher.reports import wording
from usher.scan import devices as scan_devices

_SENTENCES: Final = {
    Difference.NEWLY_DENIED: "newly denies {}",
    Difference.NOT_EVALUATED: "{} evaluated on one side alone",
    Difference.NO_LONGER_DENIED: "no longer denies {}",
    Difference.NEWLY_WARNED: "newly warns of {}",
    Difference.NO_LONGER_WARNED: "no longer warns of {}",
    Difference.OTHER_FINDINGS: "other findings in {}",
    Difference.OTHER_WORDS: "other words about {}",
    Difference.ONE_SIDE: "{} seen by one side alone",
}

_PLURAL: Final = re.compile(r"[A-Za-z]*[a-rt-xz]")
"""Names of kinds whose plural adds an s."""

_MOST_RESOURCES: Final = 2
"""The most resources in a cell of a table."""


def summary(impact: Impact) -> str:
    """`newly denies 12 Jobs = 384 GPUs; no longer denies 3 Jobs = 24 GPUs`."""
    return "; ".join(_parts(impact))


def _parts(impact: Impact) -> Iterator[str]:
    if Difference.NEWLY_DENIED not in impact.by_difference:
        yield "newly denies nothing"
    for difference, sentence in _SENTENCES.items():
        if difference in impact.by_difference:
            concerned = impact.of(difference)
            yield sentence.format(f"{things(concerned)}{_gpus(concerned)}")
    if set(impact.by_difference) <= {Difference.NOTHING}:
        yield f"no verdict changes among {things(impact.whole)}"


def things(concerned: Concerned) -> str:
    """`12 Jobs`, `3 workloads`, `1 object`."""
    if len(concerned.kinds) == 1:
        (kind,) = concerned.kinds
        if _PLURAL.fullmatch(kind):
            return wording.count(concerned.objects, kind)
    return wording.count(concerned.objects, "workload" if concerned.workloads == concerned.objects else "object")


def counted(changes: Sequence[Change]) -> str:
    """`12 Jobs = 384 GPUs`."""
    concerned = amounts.concerned(changes)
    return f"{things(concerned)}{_gpus(concerned)}"


def cell(concerned: Concerned) -> str:
    """`12 = 384 GPUs`, `2`; empty without objects."""
    return f"{concerned.objects:,}{_gpus(concerned)}" if concerned.objects else ""


def _gpus(concerned: Concerned) -> str:
    """The accelerators, but other resources only as a number if there are many."""
    if not any(concerned.devices.values()):
        return ""
    if len(concerned.devices) <= _MOST_RESOURCES:
        return f" = {wording.devices(concerned.devices)}"
    gpus = scan_devices.gpus(concerned.devices)
    whole = {name: each for name, each in concerned.devices.items() if name in scan_devices.WHOLE_GPUS}
    others = len(concerned.devices) - len(whole)
    return (
        f" = {wording.devices(whole) if gpus else ''}{' and ' if gpus else ''}{wording.count(others, 'other resource')}"
    )


def sides(impact: Impact) -> tuple[tuple[str, str], tuple[str, str]]:
    """`before` and `after`, each with its configuration, and with version and policies if these differ."""
    before, after = impact.comparison.before, impact.comparison.after

    def shown(side: Side) -> str:
        parts = [side.label]
        if before.version != after.version:
            parts.append(f"gpu-usher {side.version}")
        if before.policies != after.policies:
            parts.append(f"policies {side.policies[:16]}")
        return ", ".join(parts)

    return ("before", shown(before)), ("after", shown(after))


def subject(change: Change) -> str:
    """`Job ml-research/bert (8 GPUs)`."""
    devices = change.shown.devices
    return f"{change.shown.subject} ({wording.devices(devices)})" if any(devices.values()) else change.shown.subject


def place(change: Change, message: str = "") -> str:
    """`jobs/bert.yaml:41`, the line of the finding with this message, else of the object.

    For a recorded review, the line in the record and the user.
    """
    shown = change.shown
    line = next((each.line for each in shown.found if each.message == message and each.line), shown.line)
    where = f"{shown.source}:{line}" if line else shown.source
    occasion = f", {shown.occasion}" if shown.occasion not in ("", "CREATE") else ""
    return f"{where}{occasion}{f' by {shown.user}' if shown.user else ''}"


def owned(number: int) -> str:
    """A sentence about objects that count as part of their owner."""
    things_ = wording.count(
        number, "object that counts as part of its owner", "objects that count as part of their owners"
    )
    return f"{things_}, whose verdict changes in the same way"


def fidelity(impact: Impact) -> str:
    """How often the old side answers as the server did; empty if there are no recorded answers."""
    before = impact.comparison.before
    if not before.recorded:
        return ""
    of_all = "all" if before.as_recorded == before.recorded else f"{before.as_recorded:,} of"
    return f"the old side answers {of_all} {wording.count(before.recorded, 'recorded review')} as the server did then"


def stays(impact: Impact) -> str:
    """A sentence about the limits of the comparison; empty if it is complete."""
    comparison = impact.comparison
    problems = {*comparison.before.problems, *comparison.after.problems}
    parts = [f"{wording.count(len(problems), 'input')} could not be read"] if problems else []
    if comparison.failures:
        parts.append(f"{wording.count(len(comparison.failures), 'object')} could not be judged")
    return f"INCOMPLETE: {wording.sentence(parts)}" if parts else ""
