"""The end of a report: its numbers and what they leave out; and its findings by cause."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final, TypeVar

from msgspec import Struct
from rich.text import Text

from usher import model, paths
from usher.check import devices as scan_devices
from usher.check import findings
from usher.check.formats import mended, wording
from usher.check.formats.lines import Lines

_SHOWN_NOTES: Final = 10
_SHOWN_CODES: Final = 3
"""The most checks that the line about unjudged checks names."""
_DEFAULTS: Final = "built-in defaults (preset recommended)"
_UNJUDGED: Final = ("not evaluated", "not judged")


def write(found: findings.Report, lines: Lines) -> None:
    """Writes what was accepted and left out, what was mended, what was not judged, and the numbers of the run."""
    parts = (
        _facts_of_files,
        _exceptions,
        _left_out,
        _mended,
        _policies_not_evaluated,
        _not_judged,
        _not_compared,
        _explanation,
        _configuration,
    )
    for label, text in (entry for part in parts for entry in part(found)):
        first = Text(f"{label}: ", style="magenta" if label in _UNJUDGED else "dim")
        lines.wrapped(text, first=first, rest="  ")
    lines.wrapped(numbers(found), first=Text(""), rest="  ", style=_style(found))


def _style(found: findings.Report) -> str:
    if found.denies or found.failed:
        return "bold red"
    return "yellow" if found.totals.warnings or found.unread else "bold green"


def numbers(found: findings.Report) -> str:
    """The run in one line: `1 file, 2 workloads, 8 GPUs: no errors, 1 warning`."""
    totals = found.totals
    scope = [] if found.origin else [wording.count(totals.files, "file")]
    scope += [wording.count(totals.workloads, "workload"), wording.devices(totals.accelerators)]
    parts = []
    if totals.workloads or not found.failed:
        parts.append(wording.finding_counts(totals))
    if found.not_evaluated:
        parts.append(f"{wording.count(len({each.check for each in found.not_evaluated}), 'check')} not evaluated")
    if found.unread:
        parts.append(f"{wording.count(found.unread, 'part')} not judged")
    if found.without_fields:
        parts.append(f"keys of {wording.count(len(found.without_fields), 'kind')} not compared")
    # Without this note the numbers would look complete.
    missing = [f"{wording.count(len(found.problems), 'input')} could not be read"] if found.problems else []
    if found.failures:
        missing.append(f"{wording.count(len(found.failures), 'object')} could not be judged")
    verdict = ", ".join(parts)
    if missing:
        verdict = f"INCOMPLETE, {wording.sentence(missing)}" + (f"; in the rest {verdict}" if verdict else "")
    return f"{', '.join(scope)}: {verdict}"


def _policies_not_evaluated(found: findings.Report) -> Iterator[tuple[str, str]]:
    """Policies of the site, without which the run does not pass, each with its reason."""
    for entry in found.not_evaluated:
        if entry.required:
            where = wording.count(entry.workloads, entry.subject)
            yield "not evaluated", f"{f'{entry.code} {entry.name}'.strip()}, {where}: {entry.reason}"


def _facts_of_files(found: findings.Report) -> Iterator[tuple[str, str]]:
    if found.facts_of_files and found.totals.workloads:
        kinds = wording.sentence([wording.count(number, kind) for kind, number in found.facts_of_files.items()])
        yield "facts", f"{kinds} of these files; `--facts none` leaves this out"


def _not_judged(found: findings.Report) -> Iterator[tuple[str, str]]:
    """The checks that were not evaluated, and the one thing that would change most of that."""
    open_checks = [each for each in found.not_evaluated if not each.required]
    codes = list(dict.fromkeys(each.code or each.name for each in open_checks))
    named = codes[:_SHOWN_CODES]
    if len(codes) > _SHOWN_CODES:
        named.append(wording.count(len(codes) - _SHOWN_CODES, "more check"))
    if found.without_facts:
        named.append(f"{wording.count(found.without_facts, 'check')} that compare with a cluster")
    if named:
        yield "not judged", f"{wording.sentence(named)}; {_remedy(found, open_checks)}"


def _not_compared(found: findings.Report) -> Iterator[tuple[str, str]]:
    """The kinds whose keys were not compared."""
    kinds = [*found.without_fields]
    named = kinds[:_SHOWN_CODES]
    if len(kinds) > _SHOWN_CODES:
        named.append(wording.count(len(kinds) - _SHOWN_CODES, "more kind"))
    if named:
        yield (
            "not compared",
            f"keys of {wording.sentence(named)}: no definition; `--facts live` asks the cluster for it",
        )


def _remedy(found: findings.Report, open_checks: Sequence[findings.NotEvaluated]) -> str:
    if found.without_facts and found.nodes_of_files:
        return f"give the file with {wording.count(found.nodes_of_files, 'Node')} to --facts too, to compare with them"
    if not found.configuration.source:
        return "no usher.yaml: `usher init --facts live` writes one"
    if found.without_facts:
        return "`usher snapshot` saves the facts of a cluster for --facts"
    reasons = {each.reason for each in open_checks}
    return reasons.pop() if len(reasons) == 1 else "`usher explain FILE` says why"


def _explanation(found: findings.Report) -> Iterator[tuple[str, str]]:
    """The command that explains a code: of a finding of ours, the worst first."""
    codes = [check.code for check in findings_by_check(found.results) if check.code in _codes(found)]
    if codes:
        yield "more", f"`usher explain {codes[0]}` says why, with examples"


def _configuration(found: findings.Report) -> Iterator[tuple[str, str]]:
    """The configuration, unless the line about unjudged checks says that usher.yaml is missing."""
    text = configuration(found)
    if text != _DEFAULTS or not any(_not_judged(found)):
        yield "configuration", text


def _codes(found: findings.Report) -> set[str]:
    return {entry.code for entry in found.rules.values()}


def _exceptions(found: findings.Report) -> Iterator[tuple[str, str]]:
    for each in found.exceptions:
        name = f"{each.ticket} of {each.owner}"
        match each.state:
            case findings.ExceptionState.USED:
                text = f"{name} covers {wording.count(each.findings, 'finding')} until {each.expires}"
            case findings.ExceptionState.UNUSED:
                text = f"{name} covers nothing here; remove it from usher.yaml unless other manifests need it"
            case findings.ExceptionState.EXPIRED:
                text = f"{name} expired on {each.expires}; renew it or remove it from usher.yaml"
        yield "exception", text


def _left_out(found: findings.Report) -> Iterator[tuple[str, str]]:
    for note in found.notes[:_SHOWN_NOTES]:
        yield "left out", f"{note.source}: {note.reason}"
    if len(found.notes) > _SHOWN_NOTES:
        yield "left out", f"{len(found.notes) - _SHOWN_NOTES:,} more; --format json lists all"
    totals = found.totals
    if totals.ignored:
        yield (
            "left out",
            wording.count(
                totals.ignored, "document that is not a Kubernetes object", "documents that are not Kubernetes objects"
            ),
        )
    if totals.finished:
        yield "left out", f"{wording.count(totals.finished, 'finished object')} that hold no GPUs any more"
    if totals.owned:
        yield "left out", f"{wording.count(totals.owned, 'object')} judged as part of the workloads that own them"
    if totals.exempt:
        yield (
            "exempt",
            "; ".join(f"{wording.count(number, 'object')}: {why}" for why, number in totals.exemptions.items()),
        )


def configuration(found: findings.Report) -> str:
    """`usher.yaml (preset recommended)`."""
    source = found.configuration.source or "built-in defaults"
    alone = found.command is findings.Command.CHECK and not found.admitted
    as_written = "; judged as written, without what the mutating webhook adds" if alone else ""
    return f"{source} (preset {found.configuration.preset}){as_written}"


def _mended(found: findings.Report) -> Iterator[tuple[str, str]]:
    number = mended.count_changed(found.results)
    if number:
        ways = "" if found.diff else "; --diff shows how"
        them = "" if not found.admitted else ", and the findings are about the result"
        yield "mended", f"the mutating webhook changes {wording.count(number, 'object')}{them}{ways}"


class Hit(Struct, frozen=True, kw_only=True):
    """One finding and the object that has it."""

    result: findings.Result
    finding: findings.Finding

    @property
    def where(self) -> str:
        """`jobs/bert.yaml:41:19`; for an object in a cluster, the field."""
        place = self.finding.place
        if place is None:
            path = self.finding.judgement.finding.path
            return paths.readable(path) if path else ""
        return f"{self.result.source}:{place.line}:{place.column}"


class Cause(Struct, frozen=True, kw_only=True):
    """Findings with one message; those in workloads with the most GPUs first."""

    message: str
    remedy: str
    milder: str
    """Why the outcome is milder than its check's; empty if it is not."""
    hits: Sequence[Hit]

    @property
    def added(self) -> bool:
        """Whether it is about a field that the mutating webhook adds in some of its places."""
        return any(hit.finding.added for hit in self.hits)


class Check(Struct, frozen=True, kw_only=True):
    """The findings of one check with one outcome."""

    key: str
    outcome: model.Outcome
    code: str
    name: str
    causes: Sequence[Cause]
    """The causes with the most GPUs first."""

    @property
    def hits(self) -> list[Hit]:
        return [hit for cause in self.causes for hit in cause.hits]


def findings_by_check(results: Iterable[findings.Result]) -> list[Check]:
    """The checks with findings: the worst outcome first, then by code."""
    hits = [Hit(result=result, finding=finding) for result in results for finding in result.findings]
    order = list(model.Outcome)

    def check_of(hit: Hit) -> tuple[int, int, str, str]:
        judgement = hit.finding.judgement
        return order.index(judgement.outcome), *wording.by_code(judgement)

    return [
        Check(
            key=found[0].finding.judgement.finding.check,
            outcome=order[outcome],
            code=code,
            name=name,
            causes=_causes(found),
        )
        for (outcome, _, code, name), found in sorted(_group_hits(hits, check_of).items())
    ]


def affected(results: Iterable[findings.Result]) -> str:
    """How many workloads the findings affect, and how many accelerators these request; each counted once."""
    distinct = list({id(result): result for result in results}.values())
    if not any(result.makes_pods for result in distinct):
        return wording.count(len(distinct), "object")
    thing = "workload" if all(result.makes_pods for result in distinct) else "object"
    added = scan_devices.added(result.accelerators for result in distinct)
    return f"{wording.count(len(distinct), thing)}, {wording.devices(added)}"


def _causes(hits: Iterable[Hit]) -> list[Cause]:
    groups = sorted(_group_hits(hits, _message).items(), key=lambda entry: (_gpus(entry[1]), entry[0]))
    return [
        Cause(
            message=message,
            remedy=remedy,
            milder=milder,
            hits=sorted(found, key=lambda hit: -scan_devices.gpus(hit.result.accelerators).number),
        )
        for (message, remedy, milder), found in groups
    ]


def _message(hit: Hit) -> tuple[str, str, str]:
    judgement = hit.finding.judgement
    return judgement.finding.message, judgement.finding.remedy, wording.milder(judgement)


def _gpus(hits: Iterable[Hit]) -> int | Decimal:
    """A sort key, most first."""
    return -sum(scan_devices.gpus(hit.result.accelerators).number for hit in hits)


_Key = TypeVar("_Key", bound=Hashable)


def _group_hits(hits: Iterable[Hit], key: Callable[[Hit], _Key]) -> dict[_Key, list[Hit]]:
    groups: dict[_Key, list[Hit]] = defaultdict(list)
    for hit in hits:
        groups[key(hit)].append(hit)
    return groups
