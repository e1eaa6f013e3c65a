"""Finds the role of a workload and its reason, from the rules of usher.yaml, its programs, its kind, and its label.

docs/architecture.md explains their order, and the limits of the label.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from usher import model, paths
from usher.config import fields, models, selection
from usher.config.sections import ROLE_LABEL, RoleRule
from usher.dataclass import dataclass
from usher.kinds import registry
from usher.kinds.kind import Pods
from usher.reading.templates import Template
from usher.reading.values import Reading
from usher.workloads import programs, role_evidence

_NOTEBOOK_LABELS: Final[Mapping[str, str | None]] = {
    "notebook-name": None,
    "component": "singleuser-server",
}
"""Labels of notebook pods, with their value if it matters: Kubeflow's notebook-controller
(controllers/notebook_controller.go) and JupyterHub's kubespawner (docs, "common labels").
"""

_PLAIN_PODS: Final = (model.Role.SERVICE, model.Role.UNKNOWN)
"""Roles of the kinds that notebooks run as."""


class Purpose(NamedTuple):
    """The role of a workload, and its source."""

    role: model.Role
    reason: str
    refusal: str = ""
    """Why the label of the role does not count; empty if it does, and without a label."""
    spans_pods: bool = True
    """False for training in which each pod trains alone, as far as its command shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The properties of a workload that decide its role."""

    group: str
    kind: str
    namespace: str
    labels: Mapping[str, str]
    pod_sets: Sequence[model.PodSet]
    own: Pods
    """How the kind makes pods; for an object that holds others, how the inner kind makes them."""
    inner_kind: str = ""
    """The inner kind of an object that holds others."""
    owner_kind: str = ""
    owning: Pods | None = None
    """How the kind of the owner makes pods, if usher knows it."""


class _Entry(NamedTuple):
    """An entry of usher.yaml that applies only to some roles."""

    place: str
    namespaces: Sequence[str]
    roles: frozenset[str]


class Roles:
    """Finds roles by one configuration."""

    def __init__(self, config: models.Config) -> None:
        self._rules = tuple(enumerate(config.roles))
        self._rules_of = lru_cache(maxsize=1024)(self._find_rules)
        self._entries = tuple(_entries_by_role(config))
        self._refusal = lru_cache(maxsize=1024)(self._find_refusal)

    def of(self, subject: Subject, reading: Reading) -> Purpose:
        """The role of a workload. It records a label that does not name a role.

        Users can write labels, owners, images and commands. So a role states an intention, and is never a reason to
        trust a workload.
        """
        claimed = _claimed(subject.labels, reading)
        for index, rule in self._rules_of(subject.namespace):
            role = _of_rule(rule, subject) if _holds(rule, subject) else None
            if role is not None:
                trusting = "" if rule.from_label is None else f"its label {rule.from_label}, which "
                return Purpose(role, f"{trusting}roles[{index}] of usher.yaml{' trusts' if trusting else ''}")
        found = _found(subject)
        if claimed is None:
            return found
        refusal = "" if claimed is found.role else self._refusal(subject.namespace, found.role, claimed)
        if refusal:
            return found._replace(reason=f"{found.reason}; {refusal}", refusal=refusal)
        return Purpose(claimed, f"its label {ROLE_LABEL}")

    def _find_rules(self, namespace: str) -> Sequence[tuple[int, RoleRule]]:
        return [
            each
            for each in self._rules
            if not each[1].namespaces or selection.matches_pattern(namespace, each[1].namespaces)
        ]

    def _find_refusal(self, namespace: str, found: model.Role, claimed: model.Role) -> str:
        """Why the label must not change the role; empty if it may, because the difference has no effect."""
        ignored = f"its label {ROLE_LABEL}: {claimed} does not count, because"
        if claimed is model.Role.SYSTEM:
            return f"{ignored} only usher.yaml and the kind make a workload part of the system"
        for entry in self._entries:
            differs = (found.value in entry.roles) != (claimed.value in entry.roles)
            if differs and selection.matches_pattern(namespace, entry.namespaces):
                return f"{ignored} {entry.place} of usher.yaml depends on the role and trusts no label"
        return ""


def inner_kind(templates: Sequence[Template], pod_sets: Sequence[model.PodSet]) -> tuple[tuple[str, str], Pods] | None:
    """The group and kind that decide the role of an object that holds others; None for any other object and unknown
    kinds.

    It is the first kind of the templates that request accelerators, or else of all templates.
    """
    inner = [template.inner_kind for template in templates]
    asking = [kind for kind, each in zip(inner, pod_sets, strict=True) if each.asks_accelerators]
    for key in asking or inner:
        if key is not None and key in registry.PODS:
            return key, registry.PODS[key]
    return None


def _entries_by_role(config: models.Config) -> Iterator[_Entry]:
    lists: tuple[tuple[str, Sequence[fields.Selector | models.EnforcementRule | models.MutationRule]], ...] = (
        ("queues", config.queues),
        ("routing", config.routing),
        ("priorities.classes", config.priorities.classes),
        ("enforcement.rules", config.enforcement.rules),
        ("mutations.rules", config.mutations.rules),
    )
    for name, entries in lists:
        for index, entry in enumerate(entries):
            if entry.roles:
                yield _Entry(f"{name}[{index}]", entry.namespaces, frozenset(entry.roles))
    for index, pool in enumerate(config.pools):
        if pool.serves is not None and pool.serves.roles:
            yield _Entry(f"pools[{index}].for", pool.serves.namespaces or ["*"], frozenset(pool.serves.roles))


def _claimed(labels: Mapping[str, str], reading: Reading) -> model.Role | None:
    label = labels.get(ROLE_LABEL)
    if not label:
        return None
    try:
        return model.Role(label)
    except ValueError:
        roles = ", ".join(model.Role)
        reading.unknown(paths.join("/metadata/labels", ROLE_LABEL), f"unknown role; usher has {roles}")
        return None


def _found(subject: Subject) -> Purpose:
    """The role without the rules and the label."""
    own, why = subject.own, f"its kind, {subject.kind}"
    if subject.inner_kind:
        why = f"the {subject.inner_kind} in it"
    elif own.role is model.Role.UNKNOWN and subject.owning is not None:
        own, why = subject.owning, f"its owner, a {subject.owner_kind}"
    notebook = next((key for key, value in _NOTEBOOK_LABELS.items() if _has(subject.labels, key, value)), "")
    if notebook and own.role in _PLAIN_PODS:
        return Purpose(model.Role.INTERACTIVE, f"its label {notebook}")
    shown = role_evidence.of_workload(subject.pod_sets, own.role) if own.runs_any_program else None
    if shown is not None:
        return Purpose(shown.role, shown.reason, spans_pods=shown.spans_pods or own.joins_its_pods)
    if own.role is model.Role.UNKNOWN:
        why = "neither its kind nor its programs say it"
    return Purpose(own.role, why)


def _has(labels: Mapping[str, str], key: str, value: str | None) -> bool:
    return key in labels and value in (None, labels[key])


def _of_rule(rule: RoleRule, subject: Subject) -> model.Role | None:
    """The role that a rule gives; None if the label that it trusts is missing or does not name a role."""
    if rule.from_label is None:
        return None if rule.role is None else model.Role(rule.role)
    said = {labels[rule.from_label] for labels in _labels(subject) if rule.from_label in labels}
    return model.Role(said.pop()) if len(said) == 1 and said <= set(model.Role) else None


def _labels(subject: Subject) -> Iterator[Mapping[str, str]]:
    yield subject.labels
    yield from (pod_set.labels for pod_set in subject.pod_sets)


def _holds(rule: RoleRule, subject: Subject) -> bool:
    """Whether the conditions of a rule hold, apart from its namespaces."""
    if rule.kinds and rule.kinds.count(subject.kind) + rule.kinds.count(f"{subject.group}/{subject.kind}") == 0:
        return False
    for key, value in rule.labels.items():
        if not any(key in labels and fields.glob_fits(labels[key], value) for labels in _labels(subject)):
            return False
    containers = [
        each for pod_set in subject.pod_sets for each in pod_set.containers if each.type is model.ContainerType.APP
    ]
    if rule.images and not any(fields.image_fits(each.image, image) for each in containers for image in rule.images):
        return False
    return not rule.commands or any(
        fields.command_fits(program.words, command)
        for each in containers
        for program in programs.read(each.command)
        for command in rule.commands
    )


DEFAULT: Final = Roles(models.Config())
"""Roles without usher.yaml."""
