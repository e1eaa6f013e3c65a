"""The scope of the floor: as usher.yaml sets it, without blocking repairs of a cluster."""

from collections.abc import Iterable
from datetime import date
from typing import Final

from usher import model, paths
from usher.config import models
from usher.manifests import fail_closed, requests
from usher.manifests.webhooks import NAME
from usher.policy import decision
from usher.policy.checks.catalogue import Entry

LABELS: Final[paths.Object] = {"app.kubernetes.io/name": NAME, "app.kubernetes.io/component": "floor"}
STATIC_SUFFIX: Final = ".static.k8s.io"
"""The end of names of policies that an API server reads from files; no client can make or delete them."""

ALWAYS: Final = "true"
NEVER: Final = "false"


def denied_here(check: Entry, config: models.Config, today: date) -> str:
    """An expression that is true where usher.yaml lets the check deny. Rules for some roles never deny."""
    found = ALWAYS if decision.outcome_of_preset(check, config.enforcement.preset) is model.Outcome.DENY else NEVER
    for rule in config.enforcement.rules:
        if rule.check not in decision.check_words(check) or (rule.places and "admission" not in rule.places):
            continue
        if rule.action == "deny" and rule.roles:
            continue
        found = where(rule.namespaces, ALWAYS if rule.action == "deny" else NEVER, otherwise=found)
    for each in config.enforcement.exceptions:
        if today <= each.expires and not {check.code, check.name, *check.aliases}.isdisjoint(each.checks):
            found = where(each.namespaces, NEVER, otherwise=found)
    return found


def where(namespaces: list[str], here: str, *, otherwise: str) -> str:
    if "*" in namespaces or here == otherwise:
        return here
    return f"({requests.within(namespaces)}) ? {here} : ({otherwise})"


def applied_here(mutation: Entry, config: models.Config) -> str:
    """An expression that is true where usher.yaml applies a mutation. Rules for some roles never apply it."""
    observes = config.enforcement.preset == decision.OBSERVE
    found = ALWAYS if mutation.on_by_default and not observes else NEVER
    for rule in config.mutations.rules:
        if rule.mutation in ("*", mutation.name, mutation.code) and not (rule.action == "apply" and rule.roles):
            found = where(rule.namespaces, ALWAYS if rule.action == "apply" else NEVER, otherwise=found)
    for each in config.mutations.opt_outs:
        if not {"*", mutation.name, mutation.code}.isdisjoint(each.mutations):
            found = where(each.namespaces, NEVER, otherwise=found)
    return found


def conditions(here: str, config: models.Config, *, spared: str) -> list[paths.Json]:
    """Match conditions of a policy, without conditions that are always true.

    Args:
        here: an expression that is true where usher.yaml wants the rule.
        config: usher.yaml.
        spared: an expression that is true for requests that the rule exempts.
    """
    expressions = {
        "wanted-here": here,
        "new-or-changed": _CHANGED,
        "not-made-by-a-controller": _NOT_OWNED,
        "not-spared": f"!({spared})",
        "no-administrator": f"!({fail_closed.administrators(config)})",
        "no-namespace-that-heals-the-cluster": f"!({requests.within(fail_closed.healing(config))})",
        "no-exempt-namespace": f"!({requests.within(config.exempt_namespaces)})",
    }
    return [
        {"name": name, "expression": text} for name, text in expressions.items() if text not in (ALWAYS, f"!({NEVER})")
    ]


_CHANGED: Final = (
    "request.operation == 'CREATE' || !has(object.metadata.deletionTimestamp) && object.?spec != oldObject.?spec"
)
_NOT_OWNED: Final = (
    # Pods of objects that a controller made are judged; a denial of a ReplicaSet would stop every rollout.
    "request.resource.resource == 'pods' || object.metadata.?ownerReferences.orValue([]).size() == 0"
)


def namespaces(config: models.Config) -> paths.Object:
    """A selector of namespaces that are not exempt, like that of the webhooks."""
    names: Iterable[str] = [NAME, *(name for name in config.exempt_namespaces if "*" not in name)]
    own: paths.Object = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [*dict.fromkeys(names)]}
    exempt: paths.Object = {"key": models.EXEMPTION_LABEL, "operator": "NotIn", "values": ["true"]}
    return {"matchExpressions": [own, exempt]}
