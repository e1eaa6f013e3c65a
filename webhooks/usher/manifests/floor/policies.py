"""The policies of the floor and their bindings, as objects of a cluster or as files of an API server (KEP-5793)."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from usher import model, paths
from usher.config import models
from usher.manifests import fail_closed, requests, rules, template_paths
from usher.manifests.floor import checks as floor_checks
from usher.manifests.webhooks import NAME
from usher.policy import enforcement
from usher.policy.checks.catalogue import Catalogue, Entry

API_VERSION: Final = "admissionregistration.k8s.io/v1"
COMPONENT: Final = {"app.kubernetes.io/name": NAME, "app.kubernetes.io/component": "floor"}
STATIC_SUFFIX: Final = ".static.k8s.io"
"""The end of names of policies that an API server reads from files; no client can make or delete them."""

_CHANGED: Final = (
    "request.operation == 'CREATE' || !has(object.metadata.deletionTimestamp) && object.?spec != oldObject.?spec"
)
_NOT_OWNED: Final = (
    # The pods of what a controller made are judged; a denial of a ReplicaSet would stop every rollout.
    "request.resource.resource == 'pods' || object.metadata.?ownerReferences.orValue([]).size() == 0"
)


def validating(
    config: models.Config, catalogue: Catalogue, *, today: date, static: bool = False, only: Collection[str] = ()
) -> Iterator[paths.Object]:
    """Policies that deny what usher would deny, each with its binding, in the order of the codes.

    Args:
        config: usher.yaml; a check that denies nowhere has no policy.
        catalogue: the checks.
        today: exceptions that end before this day are left out.
        static: names for files of an API server.
        only: codes or names of checks; all without them.
    """
    for key, denies in floor_checks.CHECKS.items():
        check = catalogue.checks[key]
        denied = _denied_here(check, config, today)
        if denied == _NEVER or (only and {check.code, check.name}.isdisjoint(only)):
            continue
        for objects in (_TEMPLATES,) if key in floor_checks.OF_TEMPLATES else (_PODS, _TEMPLATES):
            name = f"{NAME}-{check.name}{objects.suffix}{STATIC_SUFFIX if static else ''}"
            found = {of: objects.denied(denies, of, config, catalogue) for of in ("object", "oldObject")}
            yield _policy(name, check, objects, _conditions(check, denied, config), found)
            yield _binding(name, config)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Objects:
    """What a policy judges, and what follows if CEL cannot say: for Pods, which have types, always a denial.

    An object of another kind may have null or a text where a list belongs. It is let in then: its Pods are judged.
    """

    suffix: str
    failure_policy: str
    rules: Sequence[paths.Json]
    templates: Callable[[str], str]

    def denied(self, denies: floor_checks.Denies, of: str, config: models.Config, catalogue: Catalogue) -> str:
        return f"({self.templates(of)}).exists(t, {denies('t', config, catalogue)})"


_PODS: Final = _Objects(
    suffix="",
    failure_policy="Fail",
    rules=(
        rules.rule("", ["v1"], ["pods"], operations=["CREATE", "UPDATE"]),
        rules.rule("", ["v1"], ["pods/ephemeralcontainers"], operations=["UPDATE"]),
    ),
    templates="[{}]".format,
)
_TEMPLATES: Final = _Objects(
    suffix="-templates",
    failure_policy="Ignore",
    rules=rules.of_kinds(
        [kind for kind in template_paths.readable() if kind.kind != "Pod"], operations=["CREATE", "UPDATE"]
    ),
    templates=template_paths.of_workloads,
)

_ALWAYS: Final = "true"
_NEVER: Final = "false"


def _denied_here(check: Entry, config: models.Config, today: date) -> str:
    """An expression that is true where usher.yaml lets the check deny. What depends on a role never denies."""
    found = _ALWAYS if enforcement.of_preset(check, config.enforcement.preset) is model.Outcome.DENY else _NEVER
    for rule in config.enforcement.rules:
        if rule.check not in enforcement.words(check) or (rule.places and "admission" not in rule.places):
            continue
        if rule.action == "deny" and rule.roles:
            continue
        found = _where(rule.namespaces, _ALWAYS if rule.action == "deny" else _NEVER, otherwise=found)
    for each in config.enforcement.exceptions:
        if today <= each.expires and not {check.code, check.name, *check.aliases}.isdisjoint(each.checks):
            found = _where(each.namespaces, _NEVER, otherwise=found)
    return found


def _where(namespaces: list[str], here: str, *, otherwise: str) -> str:
    if "*" in namespaces or here == otherwise:
        return here
    return f"({requests.within(namespaces)}) ? {here} : ({otherwise})"


def _conditions(check: Entry, denied: str, config: models.Config) -> list[paths.Json]:
    """Match conditions; those that are true of everything are left out."""
    expressions = {
        "denied-here": denied,
        "new-or-changed": _CHANGED,
        "not-made-by-a-controller": _NOT_OWNED,
        "not-spared": f"!({floor_checks.spared(check.key, config)})",
        "no-administrator": f"!({fail_closed.administrators(config)})",
        "no-namespace-that-heals-the-cluster": f"!({requests.within(fail_closed.healing(config))})",
        "no-exempt-namespace": f"!({requests.within(config.exempt_namespaces)})",
    }
    return [
        {"name": name, "expression": text}
        for name, text in expressions.items()
        if text not in (_ALWAYS, f"!({_NEVER})")
    ]


def _policy(
    name: str, check: Entry, objects: _Objects, conditions: list[paths.Json], denied: Mapping[str, str]
) -> paths.Object:
    # An object that broke the rule before may still be changed, as at the webhooks.
    expression = f"!({denied['object']}) || (request.operation == 'UPDATE' && ({denied['oldObject']}))"
    return {
        "apiVersion": API_VERSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name, "labels": {**COMPONENT}},
        "spec": {
            "failurePolicy": objects.failure_policy,
            "matchConstraints": {"matchPolicy": "Equivalent", "resourceRules": [*objects.rules]},
            "matchConditions": conditions,
            "validations": [{"expression": expression, "message": message(check), "reason": "Forbidden"}],
        },
    }


def message(check: Entry) -> str:
    """Code, name, title and remedy on one line."""
    return f"{check.code} {check.name}: {check.title}. {' '.join(check.remediation.split())}"


def _binding(name: str, config: models.Config) -> paths.Object:
    return {
        "apiVersion": API_VERSION,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name, "labels": {**COMPONENT}},
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": _namespaces(config)},
        },
    }


def _namespaces(config: models.Config) -> paths.Object:
    """Namespaces that are not exempt, as for the webhooks."""
    names = [NAME, *(name for name in config.exempt_namespaces if "*" not in name)]
    own: paths.Object = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [*dict.fromkeys(names)]}
    exempt: paths.Object = {"key": models.EXEMPTION_LABEL, "operator": "NotIn", "values": ["true"]}
    return {"matchExpressions": [own, exempt]}
