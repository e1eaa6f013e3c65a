"""The findings of a run over many objects, and the use that it made of the exceptions of usher.yaml.

It does not hold the objects or their text, so an audit of many objects only needs memory for its findings.

A fingerprint does not change when lines move, when a list gets an item before the place, or when a number in the
message changes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from usher import memo, model, paths
from usher.check.devices import NOTHING, Amount, Devices
from usher.config.models import Enforcement, ExceptionRule
from usher.policy import decision, excused_findings
from usher.policy.checks.catalogue import About, Entry
from usher.policy.evaluator import Evaluator
from usher.policy.excused_findings import Circumstances
from usher.policy.mutation import merge


class Ending(Struct, frozen=True, kw_only=True):
    """The exit code of a command, and the outcomes that it counts as failures."""

    code: int
    reason: str
    """The reason for the exit code, as one line."""
    explained: bool = False
    """Whether people need the reason because no report shows it."""
    failing: frozenset[model.Outcome] = frozenset({model.Outcome.DENY})
    """Outcomes that fail in test reports. A denial always fails."""
    unknown_accepted: bool = True
    """Whether the command accepts parts that usher cannot judge."""


class ExceptionState(StrEnum):
    """The use of an exception of usher.yaml."""

    USED = "used"
    UNUSED = "unused"
    EXPIRED = "expired"


class ExceptionUse(Struct, frozen=True, kw_only=True):
    """An exception of usher.yaml, and whether a finding still needs it."""

    checks: tuple[str, ...]
    namespaces: tuple[str, ...]
    ticket: str
    owner: str
    expires: date
    state: ExceptionState
    findings: int
    """The number of findings that it covers. Another exception before it may cover some first."""
    kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    objects: int = 0
    """The number of judged objects that it matches by namespace, kind and name."""
    objects_with_findings: int = 0
    """The number of these objects with a finding of the exception's checks, covered or not."""
    examples: tuple[str, ...] = ()
    """Some of these objects, as `Job ml-research/train`."""
    codes: tuple[str, ...] = ()
    """The codes of checks with findings in these objects."""
    needed_findings: int = 0
    """The number of covered findings that would deny or warn without the exception."""
    covered_by: tuple[int, ...] = ()
    """The indexes of the exceptions that cover findings of these checks first."""
    aside: int = 0
    """The number of objects that it matches by kind or name and that were judged only as part of others."""
    known: bool = True
    """Whether each of its checks was evaluated on each object that it matches."""


class Command(StrEnum):
    """The command of the run: reports of `check` point at lines, those of `audit` begin with totals."""

    CHECK = "check"
    AUDIT = "audit"


class Excerpt(Struct, frozen=True, kw_only=True):
    """One line of the source; the columns count its characters from 1, the end is the one after the last."""

    text: str
    column: int
    end_column: int


class Place(Struct, frozen=True, kw_only=True):
    """A place in one line of a file; line and columns count from 1."""

    line: int
    column: int
    end_column: int
    """The column after the last character; the excerpt may be cut before it."""
    excerpt: Excerpt


class PodSet(Struct, frozen=True, kw_only=True, gc=False):
    """The pod set of a workload that a finding is about."""

    name: str
    pods: model.Count


class Finding(Struct, frozen=True, kw_only=True, gc=False):
    """A judgement with its place."""

    judgement: model.Judgement
    place: Place | None
    """None for objects of a live cluster, which have no text."""
    pod_set: PodSet | None
    """None if the finding is about the whole workload."""
    added: bool = False
    """Whether it is about a field that the mutating webhook adds. Then its place is the nearest one in the file."""
    value_digest: str = ""
    """A digest of the value at its path; empty if it is about more than one value."""


class NotJudged(Struct, frozen=True, kw_only=True):
    """A part of an object that could not be read, or a check that could not be evaluated for it."""

    unknown: model.Unknown
    place: Place | None


class Identity(Struct, frozen=True, kw_only=True, gc=False):
    """The name of an object."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        name, kind = self.name or "(unnamed)", self.kind or "(no kind)"
        # A Namespace is in its own namespace here, so the text would repeat the name.
        within = f"{self.namespace}/" if self.namespace and (self.api_version, self.kind) != ("v1", "Namespace") else ""
        return f"{kind} {within}{name}"


class Change(Struct, frozen=True, kw_only=True):
    """The changes that the mutating webhook would make in an object."""

    before: paths.Object
    merged: merge.Merged
    names: Mapping[str, str]
    """Names of the mutations in `merged`, by key."""
    silent: frozenset[str] = frozenset()
    """Keys of the mutations that the webhook does not mention to users."""
    mends: Mapping[str, str] = field(default_factory=dict)
    """Checks whose findings the webhook mends, each with the name of its mutation."""
    places: Mapping[str, str]
    """By path, the names in messages for the pod sets and containers of intents: `container pytorch of Worker`."""


class Result(Struct, frozen=True, kw_only=True):
    """The decision about one workload."""

    source: str
    line: int
    """First line of its document; 0 for objects of a live cluster."""
    identity: Identity
    role: model.Role
    pods: model.Count
    accelerators: Devices
    accelerators_known: bool = True
    """False if it may request more, because usher cannot read an amount or a device claim."""
    is_template: bool = False
    """Whether it makes pods only when another object refers to it. Totals do not count it."""
    findings: tuple[Finding, ...] = ()
    not_judged: tuple[NotJudged, ...] = ()
    exemption: str = ""
    makes_pods: bool = True
    """False for objects that are not workloads: queues, quotas, classes, nodes."""
    change: Change | None = None
    """None if the command makes no mutations, or they changed nothing worth reporting."""
    exists: bool = False
    """Whether it comes from a cluster and not from a manifest."""
    owner: model.Owner | None = None
    """The controller that the object names, which may be false."""

    @property
    def worst(self) -> model.Outcome | None:
        """The worst outcome of its findings; None without findings."""
        return self.findings[0].judgement.outcome if self.findings else None

    @property
    def outcome(self) -> str:
        """The outcome in reports: the worst one of the findings, or `exempt`, `unknown` or `clean`."""
        if self.exemption and self.worst is None:
            return "exempt"
        if self.worst is not None:
            return self.worst.value
        return "unknown" if self.unread else "clean"

    @property
    def unread(self) -> int:
        """The number of parts of the object that could not be read, so that no check judged them."""
        return sum(not entry.unknown.check for entry in self.not_judged)


class Failure(Struct, frozen=True, kw_only=True):
    """An object without a decision, because of an error in usher and not in the object."""

    source: str
    line: int
    identity: Identity
    reason: str


class Problem(Struct, frozen=True, kw_only=True):
    """An input that could not be used, so that the run counts as failed; line and column are 0 where unknown."""

    source: str
    reason: str
    line: int = 0
    column: int = 0


class Note(Struct, frozen=True, kw_only=True):
    """A part that the run left out on purpose."""

    source: str
    reason: str
    hides_objects: bool = False
    """Whether the source may have objects that the run did not see."""


class NotEvaluated(Struct, frozen=True, kw_only=True):
    """A check that could not be evaluated for some workloads for the same reason."""

    check: str
    code: str
    name: str
    reason: str
    workloads: int
    required: bool = False
    """Whether it is a policy of the site: then `workloads` counts objects, and the run does not pass."""

    @property
    def subject(self) -> str:
        """The noun for what `workloads` counts."""
        return "object" if self.required else "workload"


class Totals(Struct, frozen=True, kw_only=True):
    """The numbers at the start or end of a report."""

    files: int = 0
    objects: int = 0
    """Number of all Kubernetes objects, including workloads."""
    workloads: int = 0
    pods: Amount = NOTHING
    accelerators: Devices
    accelerators_with_errors: Devices
    """The accelerators of denied workloads."""
    errors: int = 0
    warnings: int = 0
    notes: int = 0
    """Findings with the outcome deny, warn and audit."""
    exempt: int = 0
    exemptions: Mapping[str, int] = {}
    """The number of exempt objects by reason."""
    owned: int = 0
    """Number of objects that count as part of a listed workload."""
    finished: int = 0
    """Number of finished objects of a cluster, which hold no accelerators."""
    ignored: int = 0
    """Number of documents that are not Kubernetes objects."""

    @property
    def by_outcome(self) -> Mapping[model.Outcome, int]:
        return {model.Outcome.DENY: self.errors, model.Outcome.WARN: self.warnings, model.Outcome.AUDIT: self.notes}


class Configuration(Struct, frozen=True, kw_only=True):
    """The configuration of the run."""

    source: str = ""
    """The file; empty for the built-in defaults."""
    preset: str
    check_pages: str | None = None
    """The address below which the pages of checks are; None if usher.yaml names no address."""


class Report(Struct, frozen=True, kw_only=True):
    """The report of a run, in the order in which it read the objects."""

    command: Command
    version: str
    configuration: Configuration
    origin: str = ""
    """The audited cluster; empty for files."""
    admitted: bool = False
    """Whether the objects were judged with the changes of the mutating webhook."""
    diff: bool = False
    """Whether to show these changes in full."""
    results: tuple[Result, ...]
    failures: tuple[Failure, ...]
    problems: tuple[Problem, ...]
    notes: tuple[Note, ...]
    not_evaluated: tuple[NotEvaluated, ...]
    without_facts: int = 0
    """The number of checks that were left out because they need facts of a cluster that are unknown."""
    facts_of_files: Mapping[str, int] = {}
    """By kind, the objects in the files that count for the workloads."""
    nodes_of_files: int = 0
    """The Nodes in the files. They do not count, because files may have a few nodes of a cluster alone."""
    without_fields: Mapping[str, int] = {}
    """By kind and apiVersion, the objects whose keys were not compared, because usher knows no definition."""
    exceptions: tuple[ExceptionUse, ...] = ()
    rules: Mapping[str, Entry] = field(default_factory=dict)
    """The checks in findings and in `not_evaluated`, by key."""
    totals: Totals
    ending: Ending | None = None
    """How the command ends; None if the report does not decide that."""

    @property
    def denies(self) -> bool:
        return self.totals.errors > 0

    @property
    def unread(self) -> int:
        """The number of parts that could not be judged (unknown kinds, fields of a wrong type, policies). They neither
        pass nor fail.
        """
        return sum(result.unread for result in self.results) + sum(each.required for each in self.not_evaluated)

    @property
    def failed(self) -> bool:
        """Whether an input or object could not be read or judged, so that a report without findings would prove
        nothing.
        """
        return bool(self.problems or self.failures)


_MOST_SHARED: Final = 4096


class Part(Struct, frozen=True, kw_only=True):
    """The findings and the failures, in the order of the files."""

    results: list[Result] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    excepted: Counter[int] = field(default_factory=Counter)
    """By the index of an exception, the number of matching objects that count as part of others."""
    shared: dict[Finding, Finding] = field(default_factory=dict)
    """Findings of objects of a cluster: like objects have equal ones, which share memory."""

    def add(self, other: "Part") -> None:
        """Adds the results of the files after this part."""
        self.results.extend(map(self._with_shared_findings, other.results))
        self.failures.extend(other.failures)
        self.problems.extend(other.problems)
        self.notes.extend(other.notes)
        for name, number in other.counts.items():  # ten times as fast as `update`
            self.counts[name] += number
        self.excepted.update(other.excepted)

    def _with_shared_findings(self, result: Result) -> Result:
        if not result.exists or not result.findings:
            return result
        if len(self.shared) > _MOST_SHARED:
            self.shared.clear()
        # A missing object has labels, by which no value can be found again.
        known, found = self.shared, result.findings
        same = (each if each.judgement.finding.missing else known.setdefault(each, each) for each in found)
        return replace(result, findings=tuple(same))


_NUMBERS: Final = memo.pattern(r"\d+")
_INDEX: Final = memo.pattern(r"/\d+(?=/|$)")


class Fingerprint(NamedTuple):
    """A check, an object, a place and a message, without the parts that change between runs."""

    check: str
    """The key of the check: `resources/whole_gpus_only`."""
    api_version: str
    kind: str
    namespace: str
    name: str
    path: str
    message: str


def fingerprint(result: Result, finding: Finding) -> Fingerprint:
    """The key of a finding. Two findings of one object may have the same key."""
    identity, found = result.identity, finding.judgement.finding
    return Fingerprint(
        check=found.check,
        api_version=identity.api_version,
        kind=identity.kind,
        namespace=identity.namespace,
        name=identity.name,
        path=_INDEX.sub("/*", found.path),
        message=without_numbers(found.message),
    )


def without_numbers(text: str) -> str:
    """A message with placeholders for its numbers."""
    return _NUMBERS.sub("#", text)


EXAMPLES: Final = 5
"""The most objects of an exception that a report names."""


class _Seen(Struct, frozen=True, kw_only=True):
    """The findings of an exception's checks in one object that it matches."""

    result: Result
    findings: Sequence[Finding]


def of(results: Iterable[Result], evaluator: Evaluator, *, aside: Mapping[int, int]) -> tuple[ExceptionUse, ...]:
    """Every exception of usher.yaml with its use, in the order of usher.yaml.

    The checks find the same with and without exceptions, and each finding names the exception that covers it. So usher
    does not judge a second time.

    Args:
        aside: by the index of an exception, the number of matching objects that count as part of others.
    """
    rules = evaluator.config.enforcement.exceptions
    judged = [each for each in results if not each.exemption] if rules else []
    return tuple(_use(place, rules, judged, evaluator, aside=aside.get(place, 0)) for place in range(len(rules)))


def matching(rules: Sequence[ExceptionRule], values: Iterable[paths.Object], *, namespace: str) -> Iterator[int]:
    """For each object, the indexes of the exceptions that match it by kind or name.

    It leaves out exceptions for whole namespaces, which also match the owner of an object.
    """
    narrow = [(place, each) for place, each in enumerate(rules) if each.kinds or each.names]
    for value in values if narrow else ():
        metadata = paths.metadata(value)
        within = paths.text(metadata.get("namespace")) or namespace
        kind, name = paths.text(value.get("kind")), paths.text(metadata.get("name"))
        yield from (
            place
            for place, each in narrow
            if excused_findings.exception_matches(each, namespace=within, kind=kind, name=name)
        )


def _use(
    place: int, rules: Sequence[ExceptionRule], judged: Sequence[Result], evaluator: Evaluator, *, aside: int
) -> ExceptionUse:
    rule, today = rules[place], evaluator.today()
    checks = [
        each for each in evaluator.catalogue.checks.values() if excused_findings.exception_names_check(rule, each)
    ]
    keys = {each.key for each in checks}
    matched = [each for each in judged if _matches(rule, each)]
    seen = [found for each in matched if (found := _with_checks(each, keys)).findings]
    own = [(each, finding) for each in seen for finding in each.findings if finding.judgement.exception == place]
    others = {
        each.judgement.exception for found in seen for each in found.findings if each.judgement.exception != place
    }
    is_needed = partial(_is_needed, evaluator=evaluator, today=today)
    return ExceptionUse(
        checks=tuple(rule.checks),
        namespaces=tuple(rule.namespaces),
        ticket=rule.ticket,
        owner=rule.owner,
        expires=rule.expires,
        state=_state(expired=rule.expires < today, covered=len(own)),
        findings=len(own),
        kinds=tuple(rule.kinds),
        names=tuple(rule.names),
        objects=len(matched),
        objects_with_findings=len(seen),
        examples=tuple(str(each.result.identity) for each in seen[:EXAMPLES]),
        codes=tuple(sorted({finding.judgement.code for each in seen for finding in each.findings})),
        needed_findings=sum(is_needed(finding, each.result) for each, finding in own),
        covered_by=tuple(sorted(each for each in others if each is not None)),
        aside=aside,
        known=_is_known(rule, keys, matched, evaluator),
    )


def _matches(rule: ExceptionRule, result: Result) -> bool:
    about = result.identity
    return excused_findings.exception_matches(rule, namespace=about.namespace, kind=about.kind, name=about.name)


def _with_checks(result: Result, keys: set[str]) -> _Seen:
    return _Seen(result=result, findings=[each for each in result.findings if each.judgement.finding.check in keys])


def _state(*, expired: bool, covered: int) -> ExceptionState:
    if expired:
        return ExceptionState.EXPIRED
    return ExceptionState.USED if covered else ExceptionState.UNUSED


def _is_needed(finding: Finding, result: Result, *, evaluator: Evaluator, today: date) -> bool:
    """Whether a finding would deny or warn without an exception; under `observe`, with the preset that follows it."""
    rules = evaluator.config.enforcement
    preset = "recommended" if rules.preset == decision.OBSERVE else rules.preset
    without = Enforcement(preset=preset, rules=rules.rules)
    check = evaluator.catalogue.checks[finding.judgement.finding.check]
    where = Circumstances(
        namespace=result.identity.namespace, role=result.role, place="audit", kind=result.identity.kind, today=today
    )
    outcome, _ = decision.outcome_of_finding(finding.judgement.finding, check, where=where, enforcement=without)
    return outcome in decision.FELT


def _is_known(rule: ExceptionRule, keys: set[str], matched: Sequence[Result], evaluator: Evaluator) -> bool:
    """Whether each check of the exception was evaluated, as at admission, on each object that it matches."""
    entries = evaluator.catalogue.checks
    words = {word for key in keys for word in decision.check_words(entries[key])}
    if not words.issuperset(rule.checks):
        return False  # checks of a site that this run did not load
    if evaluator.facts.empty and any(entries[key].about is About.CLUSTER_FACTS for key in keys):
        return False
    if any(each.places and each.check in words for each in evaluator.config.enforcement.rules):
        return False
    unknown = (each.unknown.check for result in matched for each in result.not_judged)
    return not any(check in keys or not check for check in unknown)
