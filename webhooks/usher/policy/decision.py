"""From an engine's result to a decision: the findings, what follows from each, and the request. Pure.

Findings about stale facts or about partly known pods warn at most.

Users and groups are known only from the API server, not from files.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

import msgspec
import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import errors, model, paths
from usher.authorities import beside
from usher.authorities.authority import Case, QuotaRefusal
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.config import models, sections, selection
from usher.kinds.reading import values
from usher.kinds.reading.counts import Growth
from usher.policy import excused_findings
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import About, Catalogue
from usher.policy.excused_findings import Circumstances
from usher.policy.input.document import Review
from usher.policy.mutation import merge
from usher.workloads import grown_workloads

OFF: Final = None

PODS_ARE_JUDGED: Final = "its owner wrote the template, and its pods are judged"
"""The reason for a ReplicaSet of a Deployment older than the webhooks: a denial would stop its rollouts."""

PODS_ARE_MENDED: Final = "its pods are mended when they are made"
"""The reason for an UPDATE without a value that the mutating webhook added on CREATE: a tool wrote the list again."""

REPAIRS_A_NODE: Final = "an administrator made this pod for one node"
"""The reason for `kubectl debug node/NODE`, whose pod names its node and tolerates every taint."""

_OF_NODES: Final = frozenset({"isolation", "placement"})
"""Categories of checks that keep tenants away from nodes."""

CONTROLLERS: Final = "controllers"
"""The identity whose users may say that an object has an owner."""

OBSERVE: Final = "observe"
"""The preset for the first days. It denies nothing, changes nothing and records the denials of `recommended`."""

OBSERVED: Final = "the preset recommended denies this"
"""Why usher notes a finding under `observe`."""

_GUARDS: Final = frozenset({"exemption-by-tenant", "trusted-namespace-by-tenant"})
"""Checks that protect usher itself, so that no tenant gets an exempt or trusted namespace before enforcement begins."""

PRESETS: dict[str, dict[catalogue.Severity, model.Outcome]] = {
    name: dict(zip(catalogue.Severity, outcomes, strict=True))
    for name, outcomes in {
        # critical, high, medium and low
        OBSERVE: [model.Outcome.AUDIT] * 4,
        "baseline": [model.Outcome.DENY, model.Outcome.WARN, model.Outcome.WARN, model.Outcome.AUDIT],
        "recommended": [model.Outcome.DENY, model.Outcome.DENY, model.Outcome.WARN, model.Outcome.AUDIT],
        "strict": [model.Outcome.DENY, model.Outcome.DENY, model.Outcome.DENY, model.Outcome.WARN],
    }.items()
}

FELT: Final = frozenset({model.Outcome.DENY, model.Outcome.WARN})
"""Outcomes that the author of an object sees; an exception turns them into `audit`."""

_TABLES: Final = 64
"""How many tables of checks that are off are kept; namespaces and roles with the same rules share one."""

_MILDNESS = {model.Outcome.DENY: 0, model.Outcome.WARN: 1, model.Outcome.AUDIT: 2}


def outcome_of_finding(
    finding: model.Finding, check: catalogue.Entry, *, where: Circumstances, enforcement: models.Enforcement
) -> tuple[model.Outcome | None, str]:
    """The outcome (None: the check is off here) and, if it is milder than the preset's, the reason.

    The last rule that fits decides. Without one the preset decides by the severity of the check. A finding that rests
    on an assumption about the cluster warns at most, whatever the rules say; if only the site can confirm it, a preset
    other than `strict` audits it. A finding that an exception covers is audited.
    """
    preset = outcome_of_preset(check, enforcement.preset)
    decided = preset
    because = ""
    for rule in enforcement.rules_in(where.namespace):
        if rule.check in check_words(check) and _rule_holds(rule, where):
            decided = OFF if rule.action == "off" else model.Outcome(rule.action)
            because = f"usher.yaml sets {check.name} to {rule.action} here"
    excepting = covering_exception(check, where=where, enforcement=enforcement)
    if excepting is not None and decided in FELT:
        covering = enforcement.exceptions[excepting]
        until = f"{covering.ticket} of {covering.owner} until {covering.expires}"
        return model.Outcome.AUDIT, f"exception {until}: {covering.reason}"
    if finding.noted and decided in FELT and not because and enforcement.preset != "strict":
        return model.Outcome.AUDIT, finding.assumption
    if decided is model.Outcome.DENY and finding.assumption:
        return model.Outcome.WARN, finding.assumption
    if enforcement.preset == OBSERVE and decided is model.Outcome.AUDIT and not because:
        would = outcome_of_preset(check, "recommended")
        return decided, OBSERVED if would is model.Outcome.DENY and not finding.assumption else ""
    is_milder = preset is not OFF and (decided is OFF or _MILDNESS[decided] > _MILDNESS[preset])
    return decided, because if is_milder else ""


def outcome_of_preset(check: catalogue.Entry, preset: str) -> model.Outcome | None:
    """The outcome that a preset gives to findings of a check; None if the check is off."""
    if check.strict_only and preset != "strict":
        return OFF
    if check.name in _GUARDS and preset == OBSERVE:
        preset = "recommended"
    return PRESETS[preset][check.severity or catalogue.Severity.LOW]


def covering_exception(check: catalogue.Entry, *, where: Circumstances, enforcement: models.Enforcement) -> int | None:
    """The number of the first exception that covers the check here, counted from 0."""
    given = enforcement.exceptions_in(where.namespace)
    return next((number for number, each in given if excused_findings.exception_covers(each, check, where)), None)


def check_words(check: catalogue.Entry) -> tuple[str, ...]:
    """The words by which a rule of usher.yaml may name a check."""
    return ("*", check.code, check.name, check.category, *check.aliases)


class OffChecks:
    """The checks that are off in a place, as `Engine.evaluate` takes them: no judgement has what they find."""

    def __init__(self, entries: Catalogue, enforcement: models.Enforcement) -> None:
        self._entries = entries
        self._enforcement = enforcement
        self._words = {
            word: frozenset(each.key for each in entries.checks.values() if word in check_words(each))
            for word in {rule.check for rule in enforcement.rules}
        }
        self._kept = lru_cache(maxsize=_TABLES)(self._table)

    def at(self, namespace: str, role: model.Role, place: selection.Place) -> bytes:
        where = Circumstances(namespace=namespace, role=role, place=place)
        rules = self._enforcement.rules_in(namespace)
        return self._kept(tuple((rule.check, rule.action) for rule in rules if _rule_holds(rule, where)))

    def _table(self, rules: Iterable[tuple[str, str]]) -> bytes:
        preset = self._enforcement.preset
        off = {key for key, check in self._entries.checks.items() if outcome_of_preset(check, preset) is OFF}
        for word, action in rules:
            off = off | self._words[word] if action == "off" else off - self._words[word]
        return catalogue.table_of_numbers(self._entries.checks[key] for key in off)


def _rule_holds(rule: models.EnforcementRule, where: Circumstances) -> bool:
    return (not rule.roles or where.role.value in rule.roles) and (not rule.places or where.place in rule.places)


def today() -> date:
    """The day in UTC."""
    return datetime.now(UTC).date()


def leniency(workload: model.Workload, *, updating: bool, by: Container[str] = ()) -> Callable[[catalogue.Entry], str]:
    """Returns a function that says why a check may only warn about an object; empty if it may deny.

    Args:
        updating: whether it exists already.
        by: the identities of the user, as the API server and usher.yaml name them. Labels of the object prove nothing.
    """
    if "administrators" in by and not updating and _is_for_one_node(workload):
        return lambda check: REPAIRS_A_NODE if check.category in _OF_NODES else ""
    compares = merge.owner_compares(workload)
    if compares and workload.owner is not None:
        return lambda _check: PODS_ARE_JUDGED
    if (updating or compares) and not workload.is_pod:
        return lambda check: PODS_ARE_MENDED if check.mended_on_pods else ""
    return lambda _check: ""


def _is_for_one_node(workload: model.Workload) -> bool:
    """Whether it is a Pod without an owner and without accelerators that names its node, as `kubectl debug` makes."""
    is_alone = workload.is_pod and workload.owner is None and not workload.asks_accelerators
    return is_alone and all(pod_set.node_name for pod_set in workload.pod_sets)


def downgrade_partial_pods(findings: Sequence[model.Finding], workload: model.Workload) -> Sequence[model.Finding]:
    """The findings. Those about partly known pods get an assumption, so that they only warn.

    usher judges these pods again when they are created, because then they are complete.
    """
    partial = [pod_set for pod_set in workload.pod_sets if not pod_set.fully_known]
    if not partial and not workload.is_template:
        return findings
    made = "objects that usher does not know may define the rest"
    if workload.is_template:
        made = f"objects that refer to the {workload.kind} may define the rest"
    return [
        replace(finding, assumption=made)
        if not finding.assumption and (workload.is_template or any(_is_about(finding, pod_set) for pod_set in partial))
        else finding
        for finding in findings
    ]


def downgrade_unplaced_agents(
    findings: Sequence[model.Finding], entries: Catalogue, workload: model.Workload, request: "Request"
) -> Sequence[model.Finding]:
    """The findings. Those about the powers of an agent whose file names no namespace get an assumption.

    Vendors publish their agents and operators without a namespace, or with a placeholder for it. At admission the
    namespace is known.
    """
    is_operator = workload.group == "apps" and not workload.asks_accelerators
    if request.user is not None or not (workload.kind == "DaemonSet" or is_operator):
        return findings
    namespace = paths.text(paths.metadata(request.value).get("namespace"))
    lacks = ""
    if not namespace and request.namespace in ("", "default"):
        lacks = "no namespace"
    elif namespace and not paths.LABEL.fullmatch(namespace):
        lacks = "a placeholder for its namespace"
    text = f"usher assumes that the {workload.kind} goes to no system namespace, because its file has {lacks}"
    return [
        replace(finding, assumption=text)
        if lacks
        and (check := entries.checks.get(finding.check)) is not None
        and check.of_agents
        and not finding.assumption
        else finding
        for finding in findings
    ]


def _is_about(finding: model.Finding, pod_set: model.PodSet) -> bool:
    containers = (container.path for container in pod_set.containers)
    places = (pod_set.path, pod_set.spec_path, *containers, *pod_set.places.values())
    return any(finding.path == place or finding.path.startswith(f"{place}/") for place in places)


def downgrade_stale_facts(
    findings: Sequence[model.Finding],
    entries: Catalogue,
    *,
    age: float,
    bound: float,
    fresh: Container[str] = frozenset(),
) -> Sequence[model.Finding]:
    """The findings. Those about outdated facts get an assumption, so that they warn at most.

    Args:
        age: of the facts, in seconds.
        bound: the oldest that facts may be, in seconds.
        fresh: keys of checks whose facts have just been read.
    """
    if age <= bound:
        return findings
    return [
        replace(finding, assumption=f"cluster facts are {_age_text(age)} old")
        if (check := entries.checks.get(finding.check)) is not None
        and check.about is About.CLUSTER_FACTS
        and check.key not in fresh
        and not finding.assumption
        else finding
        for finding in findings
    ]


def _age_text(age: float) -> str:
    """Seconds as hours, minutes or seconds, rounded down."""
    for unit, size in (("hour", 3600), ("minute", 60)):
        number = int(age // size)
        if number:
            return f"{number} {unit}{'s' * (number > 1)}"
    return f"{int(age)} seconds"


_ORDER = {model.Outcome.DENY: 0, model.Outcome.WARN: 1, model.Outcome.AUDIT: 2}


def read_findings(result: paths.Object) -> list[model.Finding]:
    """The findings of a result, in a stable order.

    Raises:
        EngineError: an entry has not the shape that the entry point promises.
    """
    return sorted(
        (
            model.Finding(
                check=_text(entry, "check"),
                path=_text(finding, "path"),
                message=_text(finding, "message"),
                remedy=_optional_text(finding, "remedy"),
                assumption=_optional_text(finding, "assumption"),
                noted=finding.get("noted") is True,
                missing=_missing(finding),
            )
            for entry, finding in _entries(result, "findings", "finding")
        ),
        key=lambda finding: (finding.check, finding.path, finding.message, finding.remedy, finding.assumption),
    )


def read_unknowns(result: paths.Object) -> list[model.Unknown]:
    """The facts that checks could not evaluate, in a stable order.

    Raises:
        EngineError: an entry has not the shape that the entry point promises.
    """
    return sorted(
        (
            model.Unknown(check=_text(entry, "check"), path=_text(unknown, "path"), reason=_text(unknown, "reason"))
            for entry, unknown in _entries(result, "unknown", "unknown")
        ),
        key=lambda unknown: (unknown.check, unknown.path, unknown.reason),
    )


def read_intents(result: paths.Object) -> list[model.Intent]:
    """The intents of a result, in a stable order: by mutation, place and field.

    Raises:
        EngineError: an entry has not the shape that the entry point promises.
    """
    return sorted(
        (
            model.Intent(
                mutation=_text(entry, "mutation"),
                at=_text(intent, "at"),
                field=_text(intent, "field"),
                value=intent.get("value"),
                reason=_text(intent, "reason"),
                needs=_needs(intent) if "needs" in intent else (),
            )
            for entry, intent in _entries(result, "intents", "intent")
        ),
        key=lambda intent: (
            intent.mutation,
            intent.at,
            intent.field,
            _canonical(intent.value),
            intent.reason,
        ),
    )


def read_notes(result: paths.Object, field: str) -> tuple[model.Note, ...]:
    """The notes of mutations in a list of a result, `warnings` or `skips`, in a stable order.

    Raises:
        EngineError: an entry has not the shape that the entry point promises.
    """
    return tuple(
        sorted(
            (
                model.Note(mutation=_text(entry, "mutation"), at=_text(note, "at"), reason=_text(note, "reason"))
                for entry, note in _entries(result, field, field.removesuffix("s"))
            ),
            key=lambda note: (note.mutation, note.at, note.reason),
        )
    )


def judge_findings(  # noqa: PLR0913 - what a judgement depends on, all named at the one call
    found: Iterable[model.Finding],
    *,
    where: Circumstances,
    entries: catalogue.Catalogue,
    rules: models.Enforcement,
    before: Container[int] = (),
    leniency: Callable[[catalogue.Entry], str] = lambda _check: "",
    asked: excused_findings.Asked = excused_findings.NOTHING,
) -> tuple[model.Judgement, ...]:
    """The judgements about the findings, worst first.

    Args:
        where: where it is, and who asks.
        before: on UPDATE, the indexes of the findings of the old object too (`excused_findings`). These only warn,
            or finalizers could never be removed (docs/domain/principles.md#updates-and-deletion).
        leniency: why a check at most warns about this object; empty if the check may deny it.
        asked: the findings that the author of the object suppresses.

    Raises:
        EngineError: a finding comes from a check that the catalogue does not know.
    """
    judgements = []
    for index, finding in enumerate(found):
        check = entries.checks.get(finding.check)
        if check is None:
            raise errors.EngineError(f"the policies found something by {finding.check}, which is in no catalogue")
        outcome, because = outcome_of_finding(finding, check, where=where, enforcement=rules)
        if outcome is None:
            continue
        suppressed = _suppression(asked, check, outcome, where=where, rules=rules)
        if suppressed:
            outcome, because = model.Outcome.AUDIT, suppressed
        milder = "it was so before" if index in before else leniency(check)
        if outcome is model.Outcome.DENY and milder:
            outcome, because = model.Outcome.WARN, milder
        elif because == OBSERVED and milder:
            because = milder
        judgements.append(
            model.Judgement(
                finding=finding,
                outcome=outcome,
                code=check.code,
                name=check.name,
                because=because,
                exception=covering_exception(check, where=where, enforcement=rules),
                suppressed=bool(suppressed),
            )
        )
    return tuple(sorted(judgements, key=lambda each: (_ORDER[each.outcome], entries.checks[each.finding.check].number)))


def _suppression(
    asked: excused_findings.Asked,
    check: catalogue.Entry,
    outcome: model.Outcome,
    *,
    where: Circumstances,
    rules: models.Enforcement,
) -> str:
    """Why the author of an object suppresses a finding; empty if he does not, or may not."""
    line = asked.about(check) if asked.suppressions and outcome in FELT else None
    if line is None:
        return ""
    refused = excused_findings.refusal(line, check, outcome, where=where, enforcement=rules)
    return "" if refused else excused_findings.applied_text(line)


def _needs(intent: paths.Object) -> tuple[model.Need, ...]:
    try:
        return msgspec.convert(intent["needs"], tuple[model.Need, ...])
    except msgspec.ValidationError:
        raise errors.EngineError("the policy engine's result has an intent with malformed needs") from None


def _missing(finding: paths.Object) -> model.Need | None:
    if "missing" not in finding:
        return None
    try:
        return msgspec.convert(finding["missing"], model.Need | None)
    except msgspec.ValidationError:
        raise errors.EngineError("the policy engine's result has a finding with a malformed missing object") from None


def _canonical(value: paths.Json) -> bytes:
    # Engines do not agree on the order of an object's fields.
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _entries(result: paths.Object, field: str, inner: str) -> Iterator[tuple[paths.Object, paths.Object]]:
    entries = result.get(field)
    if not isinstance(entries, list):
        raise errors.EngineError(f"the policy engine's result has no list of {field}")
    for entry in entries:
        value = entry.get(inner) if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(value, dict):
            raise errors.EngineError(
                f"the policy engine's result has an entry in {field} that is not an object with {inner}"
            )
        yield entry, value


def _text(value: paths.Object, field: str) -> str:
    text = value.get(field)
    if not isinstance(text, str):
        raise errors.EngineError(f"the policy engine's result has an entry without {field}")
    return text


def _optional_text(value: paths.Object, field: str) -> str:
    return _text(value, field) if field in value else ""


class Operation(StrEnum):
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


class User(Struct, frozen=True, kw_only=True):
    """The user of a request, as the API server names it."""

    name: str
    groups: tuple[str, ...] = ()


class Request(Struct, frozen=True, kw_only=True):
    """An object, and the operation that it comes from."""

    value: paths.Object
    operation: Operation = Operation.CREATE
    namespace: str = ""
    """The namespace to assume for an object that does not name one."""
    old_value: paths.Object | None = None
    objects: values.Lookup = values.NO_OBJECTS
    """Finds objects that this one names, before the facts."""
    around: values.Lookup = values.NO_OBJECTS
    """Finds objects of any file that are applied together with this one; `objects` does not include them."""
    growths: tuple[Growth, ...] = ()
    """How far autoscalers of the same files let the object grow. No mutation reads them: the webhook has no files."""
    company: str = ""
    """A name for the objects around this one. Like objects of one company are judged once; empty for an object that is
    judged alone."""
    facts: Store | None = None
    """Facts to use instead of those of the evaluator."""
    place: selection.Place = "admission"
    sub_resource: str = ""
    refusal: QuotaRefusal | None = None
    """Why a GPUQuota refused the charge; None if no GPUQuota did."""
    user: User | None = None
    """None without a user, as in CI."""
    excess: model.Excess | None = None
    """Why the object is too much to judge, where its reader noticed it; None elsewhere."""
    small: paths.Object | None = None
    """The object, where the text of the request proves that it is not too much to judge; None elsewhere."""
    scaled: bool = False
    """Whether the request came to `/scale`, so that its user chose a number and nothing else."""
    owner_is_hidden: bool = False
    """Whether the object exists in a cluster whose objects of its owner's kind could not be read, so that its owner
    counts although usher has not seen it."""

    def exemption(self, *, deleting: bool) -> str:
        """Why rules do not judge this operation; empty if they do."""
        if self.operation in (Operation.DELETE, Operation.CONNECT):
            return f"{self.operation} is not judged"
        # On CREATE the API server drops a deletionTimestamp; one in a file must not exempt the object.
        if deleting and self.operation is Operation.UPDATE:
            return "the object is being deleted"
        return ""

    def grown(self, read: Callable[[paths.Object], model.Workload | None]) -> model.Workload | None:
        """The object, normalised by `read`, with the pods to which autoscalers may scale it."""
        if not self.growths:
            return read(self.value)
        return grown_workloads.with_room(self.value, self.growths, normalise=read, namespace=self.namespace)

    def case(self, workload: model.Workload, known: Knowledge) -> Case:
        """The normalised object as authorities judge it, with the facts from other objects of its files."""
        around = self.objects if self.around is values.NO_OBJECTS else self.around
        others = beside.NOTHING if around is values.NO_OBJECTS else beside.of(workload, around, known)
        return Case(workload=workload, refusal=self.refusal, beside=others)


class Identities:
    """The identities of users, remembered because a few controllers make most pods."""

    def __init__(self, config: models.Config) -> None:
        self._known = {**sections.DEFAULT_IDENTITIES, **config.identities}
        self._kept = lru_cache(maxsize=1024)(self._of)

    def of(self, user: User | None) -> tuple[str, ...] | None:
        """Names of the user's identities, sorted; None without a user, as in CI."""
        return None if user is None else self._kept(user)

    def review(self, request: Request) -> Review | None:
        """The user and the operation of a request, as rules see them; None without a user, as in CI."""
        by = self.of(request.user)
        if by is None:
            return None
        return {"operation": request.operation.value, "subResource": request.sub_resource, "by": list(by)}

    def believe_owner(self, request: Request) -> bool:
        """Whether the owner that an object names counts.

        Any user can write an owner. So it counts only if a controller makes the object, or changes one that had this
        owner before. Who scales an object decides about a number, which an autoscaler takes from a tenant.
        """
        by = self.of(request.user)
        if by is None:
            return request.owner_is_hidden
        if CONTROLLERS not in by or request.scaled:
            return False
        if request.operation is not Operation.UPDATE or request.old_value is None:
            return True
        old, new = paths.controller_reference(request.old_value), paths.controller_reference(request.value)
        return old.get("uid") == new.get("uid")

    def _of(self, user: User) -> tuple[str, ...]:
        return tuple(sorted(name for name, identity in self._known.items() if _has_identity(identity, user)))


def _has_identity(identity: sections.Identity, user: User) -> bool:
    return any(fnmatchcase(user.name, pattern) for pattern in identity.users) or any(
        fnmatchcase(group, pattern) for pattern in identity.groups for group in user.groups
    )
