"""The policies of the floor and their bindings, as objects of a cluster or as files of an API server (KEP-5793)."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date
from typing import Final

from usher import paths
from usher.config import models
from usher.dataclass import dataclass
from usher.manifests import rules, template_paths
from usher.manifests.floor import checks as floor_checks
from usher.manifests.floor import scope
from usher.manifests.webhooks import NAME
from usher.policy.checks.catalogue import Catalogue, Entry

API_VERSION: Final = "admissionregistration.k8s.io/v1"


def validating(
    config: models.Config, catalogue: Catalogue, *, today: date, static: bool = False, only: Collection[str] = ()
) -> Iterator[paths.Object]:
    """Policies that deny the same objects as usher, each with its binding, in the order of the codes.

    Args:
        config: usher.yaml; a check that denies in no namespace has no policy.
        catalogue: the checks.
        today: exceptions that end before this day are left out.
        static: names for files of an API server.
        only: codes or names of checks; empty for all.
    """
    for key, denies in floor_checks.CHECKS.items():
        check = catalogue.checks[key]
        denied = scope.denied_here(check, config, today)
        if denied == scope.NEVER or (only and {check.code, check.name}.isdisjoint(only)):
            continue
        for objects in (_TEMPLATES,) if key in floor_checks.OF_TEMPLATES else (_PODS, _TEMPLATES):
            name = f"{NAME}-{check.name}{objects.suffix}{scope.STATIC_SUFFIX if static else ''}"
            found = {of: objects.denied(denies, of, config, catalogue) for of in ("object", "oldObject")}
            yield _policy(
                name, check, objects, scope.conditions(denied, config, spared=floor_checks.spared(key, config)), found
            )
            yield _binding(name, config)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Objects:
    """The objects of a policy, and its failure policy. For Pods, which have types, errors of CEL always deny.

    Objects of other kinds may have null or a text instead of a list. They are accepted then, and their Pods are judged.
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
    # One expression reads many kinds: with their types, the API server warns of every field that a kind lacks.
    templates=lambda of: template_paths.of_workloads(f"dyn({of})"),
)


def _policy(
    name: str, check: Entry, objects: _Objects, conditions: list[paths.Json], denied: Mapping[str, str]
) -> paths.Object:
    # An object that violated the rule before may still change, as at the webhooks.
    expression = f"!({denied['object']}) || (request.operation == 'UPDATE' && ({denied['oldObject']}))"
    return {
        "apiVersion": API_VERSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name, "labels": {**scope.LABELS}},
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
        "metadata": {"name": name, "labels": {**scope.LABELS}},
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": scope.namespaces(config)},
        },
    }
