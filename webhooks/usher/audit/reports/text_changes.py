"""The part of an audit in text about earlier audits: new findings, fixed ones, and why some cannot be compared."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from usher.audit.document import Audit
from usher.audit.reports import numbers, words
from usher.reports import wording
from usher.reports.lines import Lines, Row

_SHOWN: Final = 5


def write(audit: Audit, lines: Lines) -> None:
    """Writes nothing for an audit that was compared with no other one."""
    trend = audit.trend
    if trend.previous:
        counts = f"{wording.count(len(trend.new), 'new finding')}, {len(trend.fixed):,} fixed"
        lines.wrapped(counts, first=Text(f"Since {numbers.minute(trend.previous)}: ", style="bold"), rest="  ")
        lines.labelled([*_new(audit), *_fixed(audit)])
    for problem in trend.problems:
        lines.wrapped(problem, first=Text("not compared: ", style="yellow"), rest="  ")
    if trend.previous or trend.problems:
        lines.write()


def _new(audit: Audit) -> Iterator[Row]:
    fingerprints = frozenset(audit.trend.new)
    found = [each for each in audit.findings if each.fingerprint in fingerprints]
    for each in found[:_SHOWN]:
        # The title of a check is the rule, not what was found.
        found_there = each.title if each.category == "cluster" else each.message
        yield Row("new", f"{each.code} {words.subject(each.subject)}: {found_there}")
    if len(found) > _SHOWN:
        yield Row("", f"and {len(found) - _SHOWN:,} more")


def _fixed(audit: Audit) -> Iterator[Row]:
    fixed = audit.trend.fixed
    for each in fixed[:_SHOWN]:
        age = numbers.age(each.first_seen, audit.taken)
        yield Row("fixed", f"{each.code} {each.subject}: {each.title}{f', after {age}' if age else ''}")
    if len(fixed) > _SHOWN:
        yield Row("", f"and {len(fixed) - _SHOWN:,} more")
