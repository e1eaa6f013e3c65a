"""Compares usher's answer about the start of a workload with what a real controller then did with it."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from e2e.cluster import Object, wait_until
from unit.policy import agreeing
from usher.authorities.authority import Outlook, answer_of_sections
from usher.authorities.verdict import Answer

SEED: Final = int(os.environ.get("AGREEMENT_SEED", "20261127"))
"""Another number gives other cases."""

CASES: Final = int(os.environ.get("AGREEMENT_CASES", "60"))

RECORD: Final = os.environ.get("AGREEMENT_RECORD", "")
"""A folder that gets the counts of a run, for docs/feasibility.md."""

_VARIES: Final = re.compile(r"\d+|\b[a-z0-9]+(?:-[a-z0-9]+)+\b")


def started(enough: Callable[[], bool], whole: Callable[[], bool], *, patience: float) -> tuple[bool, bool]:
    """Whether as many pods as must start together do so in time, and soon afterwards some of each part."""
    try:
        wait_until(enough, description="enough pods are placed", timeout=patience)
    except TimeoutError:
        return False, False
    try:
        wait_until(whole, description="pods of each part are placed", timeout=1)
    except TimeoutError:
        return True, False
    return True, True


class Seen(NamedTuple):
    """A case: the answer of the authority of the controller, and what the controller did."""

    number: int
    case: Object
    answer: Answer
    reasons: tuple[str, ...]
    denying: tuple[str, ...]
    starts: bool
    whole: bool
    """Whether it starts with pods of each part."""
    idle: bool
    """Whether nothing else ran."""
    said: str
    """The controller's reason why the workload waits."""

    @property
    def false_never(self) -> bool:
        """Whether usher says "never" because of any part of a workload whose parts all start."""
        return self.whole and (self.answer is Answer.NEVER or bool(self.denying))

    @property
    def false_fits(self) -> bool:
        return self.answer is Answer.FITS and not self.starts and not self.denying

    @property
    def false_could(self) -> bool:
        """Whether a workload that could start, and that no check denies, waits although nothing else runs."""
        return self.answer is Answer.COULD and not self.starts and self.idle and not self.denying

    @property
    def false_not_now(self) -> bool:
        return self.answer is Answer.NOT_NOW and self.starts

    def __str__(self) -> str:
        told = f"usher: {self.answer.value} ({'; '.join([*self.reasons, *self.denying])})"
        did = "started" if self.starts else f"waits ({self.said})"
        return f"{self.number}: {told}; the controller: {did}; {json.dumps(self.case)}"


def seen(number: int, case: Object, outlook: Outlook, denying: Sequence[str], authority: str, **did: object) -> Seen:
    """One comparison; `authority` is the one that answers for the controller, and empty for all of them."""
    sections = [each for each in outlook.sections if each.authority == authority or not authority]
    answer = answer_of_sections(sections)
    reasons = tuple(text for each in sections for text in each.reasons)
    assert not agreeing.without_reason(outlook), "an unknown answer carries its reason"
    return Seen(
        number=number,
        case=case,
        answer=answer,
        reasons=reasons,
        denying=tuple(denying),
        starts=bool(did["starts"]),
        whole=bool(did.get("whole", did["starts"])),
        idle=bool(did["idle"]),
        said=str(did["said"]),
    )


def kind_of(reason: str) -> str:
    """A reason without its names and numbers, to count reasons."""
    return _VARIES.sub("N", reason)


def record(controller: str, version: str, found: Sequence[Seen]) -> None:
    """Writes the counts of a run into the folder of AGREEMENT_RECORD, if it is set."""
    if not RECORD:
        return
    unknown = [each for each in found if each.answer is Answer.UNKNOWN]
    counts = {
        "version": version,
        "seed": SEED,
        "cases": len(found),
        "false never": sum(each.false_never for each in found),
        "false fits now": sum(each.false_fits for each in found),
        "could, but waits alone": sum(each.false_could for each in found),
        "cases that wait alone": [each.number for each in found if each.false_could],
        "not now, but starts": sum(each.false_not_now for each in found),
        "unknown": len(unknown),
        "answers": dict(sorted(Counter(each.answer.value for each in found).items())),
        "started": sum(each.starts for each in found),
        "why unknown": dict(
            Counter(kind_of(each.reasons[-1]) if each.reasons else "" for each in unknown).most_common(8)
        ),
    }
    (Path(RECORD) / f"{controller}.json").write_text(json.dumps(counts, indent=2) + "\n")
