"""Rules that the API server keeps by itself while usher does not answer: policies in CEL for the critical checks.

CEL sees one object, and neither other objects in its file nor the facts of the cluster. So an expression may miss a
finding of its check; it never finds more. tests/integration/test_floor.py compares both, on the examples and on
corpora.

It protects other workloads, and needs only one object. Other mutations need facts, pools or the whole gang. The webhook
later adds the same values to a Pod.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final

from msgspec import Struct

from usher import model, paths
from usher.config import models
from usher.install.manifests import conditions as cel_conditions
from usher.install.manifests import webhooks
from usher.install.manifests.webhooks import NAME
from usher.policy import decision, excused_findings
from usher.policy.checks.catalogue import Catalogue, Entry

Denies = Callable[[str, models.Config, Catalogue], str]
"""Takes the variable with a pod template; returns an expression that is true for templates that the check denies."""


def whole_gpus_only(template: str, config: models.Config, _checks: Catalogue) -> str:
    amounts = f"(isQuantity({_text('r[k]')}) ? {_amount('r[k]')} : 0.0)"
    # Above this number a double has no fractions.
    fraction = f"{amounts} < 4.0e15 && double(int({amounts})) != {amounts}"
    lists = "[c.?resources.?requests.orValue({}), c.?resources.?limits.orValue({})]"
    found = f"{lists}.exists(r, r.exists(k, {cel_conditions.is_accelerator('k', config)} && {fraction}))"
    return _some_container(template, found)


def gpu_requests_equal_limits(template: str, config: models.Config, _checks: Catalogue) -> str:
    asked, limits = "c.?resources.?requests.orValue({})", "c.?resources.?limits.orValue({})"
    amount, limit = f"{asked}[k]", f"{limits}[k]"
    differ = f"isQuantity({_text(amount)}) && isQuantity({_text(limit)}) && {_amount(amount)} != {_amount(limit)}"
    # An amount of zero requests nothing; without a request the API server uses the limit.
    asks = f"(isQuantity({_text(amount)}) ? {_amount(amount)} : 0.0) > 0.0"
    found = (
        f"{asked}.exists(k, {cel_conditions.is_accelerator('k', config)} && {asks} && (!(k in {limits}) || ({differ})))"
    )
    return _some_container(template, found)


def visible_devices_set_by_hand(template: str, config: models.Config, _checks: Catalogue) -> str:
    found = " || ".join([_some_container(template, cel_conditions.names_devices("c")), _debug(template)])
    kai = [route.name for route in config.routing if route.scheduler == "kai"]
    # KAI-Scheduler writes the variable into pods with fractions, so usher only warns about it.
    return (
        f"!({template}.?spec.?schedulerName.orValue('') in {cel_conditions.cel_texts(kai)}) && ({found})"
        if kai
        else found
    )


def host_path_to_devices(template: str, config: models.Config, checks: Catalogue) -> str:
    return cel_conditions.mounts_devices(template, config, checks)


def system_class_outside_system_namespaces(template: str, _config: models.Config, _checks: Catalogue) -> str:
    return f"{template}.?spec.?priorityClassName.orValue('').startsWith('system-')"


CHECKS: Final[Mapping[str, Denies]] = {
    "resources/whole_gpus_only": whole_gpus_only,
    "resources/gpu_requests_equal_limits": gpu_requests_equal_limits,
    "isolation/visible_devices_set_by_hand": visible_devices_set_by_hand,
    "isolation/host_path_to_devices": host_path_to_devices,
    "priority/system_class_outside_system_namespaces": system_class_outside_system_namespaces,
}
"""Expressions by the key of the check: all critical checks, and those of high severity that need only one object."""

CHECKS_OF_TEMPLATES: Final = frozenset({"resources/whole_gpus_only", "resources/gpu_requests_equal_limits"})
"""Checks of mistakes that the API server itself refuses in a Pod."""


def spared_requests(check: str, config: models.Config) -> str:
    """An expression that is true for requests in namespaces that the check exempts."""
    return cel_conditions.in_namespaces(_SPARED.get(check, lambda _config: [])(config))


def _system(config: models.Config) -> list[str]:
    return config.priorities.system_namespaces


def _seeing(config: models.Config) -> list[str]:
    return [*config.priorities.system_namespaces, *config.isolation.visible_devices]


_SPARED: Final = {
    "isolation/visible_devices_set_by_hand": _seeing,
    "isolation/host_path_to_devices": _system,
    "priority/system_class_outside_system_namespaces": _system,
}


def _amount(value: str) -> str:
    return f"quantity({_text(value)}).asApproximateFloat()"


def _text(value: str) -> str:
    """A text in CEL, which cannot convert a text to a text."""
    return f"(type({value}) == string ? {value} : string({value}))"


def _some_container(template: str, found: str) -> str:
    lists = (f"{template}.?spec.?{field}.orValue([])" for field in ("containers", "initContainers"))
    return " || ".join(f"{each}.exists(c, {found})" for each in lists)


def _debug(template: str) -> str:
    return f"{template}.?spec.?ephemeralContainers.orValue([]).exists(c, {cel_conditions.names_devices('c')})"


LABELS: Final = {"app.kubernetes.io/name": NAME, "app.kubernetes.io/component": "floor"}
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
        found = holds_where(rule.namespaces, ALWAYS if rule.action == "deny" else NEVER, otherwise=found)
    for each in config.enforcement.exceptions:
        if today <= each.expires and not {check.code, check.name, *check.aliases}.isdisjoint(each.checks):
            found = holds_where(each.namespaces, NEVER, otherwise=found)
    for allowed in config.enforcement.suppressions:
        if allowed.denials and "admission" in allowed.places and excused_findings.names_check(allowed, check):
            found = holds_where(allowed.namespaces, NEVER, otherwise=found)
    return found


def holds_where(namespaces: list[str], here: str, *, otherwise: str) -> str:
    if "*" in namespaces or here == otherwise:
        return here
    return f"({cel_conditions.in_namespaces(namespaces)}) ? {here} : ({otherwise})"


def applied_here(mutation: Entry, config: models.Config) -> str:
    """An expression that is true where usher.yaml applies a mutation. Rules for some roles never apply it."""
    observes = config.enforcement.preset == decision.OBSERVE
    found = ALWAYS if mutation.on_by_default and not observes else NEVER
    for rule in config.mutations.rules:
        if rule.mutation in ("*", mutation.name, mutation.code) and not (rule.action == "apply" and rule.roles):
            found = holds_where(rule.namespaces, ALWAYS if rule.action == "apply" else NEVER, otherwise=found)
    for each in config.mutations.opt_outs:
        if not {"*", mutation.name, mutation.code}.isdisjoint(each.mutations):
            found = holds_where(each.namespaces, NEVER, otherwise=found)
    return found


def match_conditions(here: str, config: models.Config, *, spared: str) -> list[paths.Json]:
    """Match conditions of a policy, without conditions that are always true.

    Args:
        here: an expression that is true where usher.yaml wants the rule.
        spared: an expression that is true for requests that the rule exempts.
    """
    expressions = {
        "wanted-here": here,
        "new-or-changed": _CHANGED,
        "not-made-by-a-controller": _NOT_OWNED,
        "not-spared": f"!({spared})",
        "no-administrator": f"!({cel_conditions.administrators(config)})",
        "no-namespace-that-heals-the-cluster": (
            f"!({cel_conditions.in_namespaces(cel_conditions.healing_namespaces(config))})"
        ),
        "no-exempt-namespace": f"!({cel_conditions.in_namespaces(config.exempt_namespaces)})",
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


def namespace_selector(config: models.Config) -> paths.Object:
    """A selector of namespaces that are not exempt, like that of the webhooks."""
    names: Iterable[str] = [NAME, *(name for name in config.exempt_namespaces if "*" not in name)]
    own: paths.Object = {"key": paths.NAMESPACE_NAME_LABEL, "operator": "NotIn", "values": [*dict.fromkeys(names)]}
    exempt: paths.Object = {"key": models.EXEMPTION_LABEL, "operator": "NotIn", "values": ["true"]}
    return {"matchExpressions": [own, exempt]}


API_VERSION: Final = "admissionregistration.k8s.io/v1"


def validating_policies(
    config: models.Config, catalogue: Catalogue, *, today: date, static: bool = False, only: Collection[str] = ()
) -> Iterator[paths.Object]:
    """Policies that deny the same objects as usher, each with its binding, in the order of the codes.

    Args:
        config: usher.yaml; a check that denies in no namespace has no policy.
        today: exceptions that end before this day are left out.
        static: names for files of an API server.
        only: codes or names of checks; empty for all.
    """
    for key, denies in CHECKS.items():
        check = catalogue.checks[key]
        denied = denied_here(check, config, today)
        if denied == NEVER or (only and {check.code, check.name, check.category}.isdisjoint(only)):
            continue
        for objects in (_TEMPLATES,) if key in CHECKS_OF_TEMPLATES else (_PODS, _TEMPLATES):
            name = f"{NAME}-{check.name}{objects.suffix}{STATIC_SUFFIX if static else ''}"
            found = {of: objects.denied(denies, of, config, catalogue) for of in ("object", "oldObject")}
            yield _policy(
                name, check, objects, match_conditions(denied, config, spared=spared_requests(key, config)), found
            )
            yield _binding(name, config)


class _Objects(Struct, frozen=True, kw_only=True):
    """The objects of a policy, and its failure policy. For Pods, which have types, errors of CEL always deny.

    Objects of other kinds may have null or a text instead of a list. They are accepted then, and their Pods are judged.
    """

    suffix: str
    failure_policy: str
    rules: Sequence[paths.Json]
    templates: Callable[[str], str]

    def denied(self, denies: Denies, of: str, config: models.Config, catalogue: Catalogue) -> str:
        return f"({self.templates(of)}).exists(t, {denies('t', config, catalogue)})"


_PODS: Final = _Objects(
    suffix="",
    failure_policy="Fail",
    rules=(
        webhooks.webhook_rule("", ["v1"], ["pods"], operations=["CREATE", "UPDATE"]),
        webhooks.webhook_rule("", ["v1"], ["pods/ephemeralcontainers"], operations=["UPDATE"]),
    ),
    templates="[{}]".format,
)
_TEMPLATES: Final = _Objects(
    suffix="-templates",
    failure_policy="Ignore",
    rules=webhooks.rules_of_kinds(
        [kind for kind in cel_conditions.readable_kinds() if kind.kind != "Pod"], operations=["CREATE", "UPDATE"]
    ),
    # One expression reads many kinds: with their types, the API server warns of every field that a kind lacks.
    templates=lambda of: cel_conditions.templates_of_workload(f"dyn({of})"),
)


def _policy(
    name: str, check: Entry, objects: _Objects, conditions: list[paths.Json], denied: Mapping[str, str]
) -> paths.Object:
    # An object that violated the rule before may still change, as at the webhooks.
    expression = f"!({denied['object']}) || (request.operation == 'UPDATE' && ({denied['oldObject']}))"
    spec: paths.Object = {
        "failurePolicy": objects.failure_policy,
        "matchConstraints": {"matchPolicy": "Equivalent", "resourceRules": [*objects.rules]},
        "matchConditions": conditions,
        "validations": [{"expression": expression, "message": denial_message(check), "reason": "Forbidden"}],
    }
    return cel_conditions.manifest(API_VERSION, "ValidatingAdmissionPolicy", name, labels=LABELS, spec=spec)


def denial_message(check: Entry) -> str:
    """Code, name, title and remedy on one line."""
    return f"{check.code} {check.name}: {check.title}. {' '.join(check.remediation.split())}"


def _binding(name: str, config: models.Config) -> paths.Object:
    spec: paths.Object = {
        "policyName": name,
        "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": namespace_selector(config)},
    }
    return cel_conditions.manifest(API_VERSION, "ValidatingAdmissionPolicyBinding", name, labels=LABELS, spec=spec)


MUTATION_KEY: Final = "isolation/visible_devices_void"

_VARIABLE: Final = "NVIDIA_VISIBLE_DEVICES"


def mutating_policies(config: models.Config, catalogue: Catalogue, *, static: bool = False) -> list[paths.Object]:
    """The policy and its binding; empty if usher.yaml applies the mutation in no namespace.

    Args:
        static: names for files of an API server.
    """
    entry = catalogue.mutations[MUTATION_KEY]
    here = applied_here(entry, config)
    if here == NEVER:
        return []
    name = f"{NAME}-{entry.name}{STATIC_SUFFIX if static else ''}"
    policy: paths.Object = {
        "failurePolicy": "Ignore",
        "reinvocationPolicy": "IfNeeded",
        "matchConstraints": {
            "matchPolicy": "Equivalent",
            "resourceRules": [webhooks.webhook_rule("", ["v1"], ["pods"], operations=["CREATE"])],
        },
        "matchConditions": [
            *match_conditions(here, config, spared=_spared(config)),
            {"name": "without-devices-by-annotation", "expression": f"!({_BY_ANNOTATION})"},
        ],
        "mutations": [
            {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": _added_variable_cel(config)}}
        ],
    }
    binding: paths.Object = {"policyName": name, "matchResources": {"namespaceSelector": namespace_selector(config)}}
    return [
        cel_conditions.manifest(API_VERSION, "MutatingAdmissionPolicy", name, labels=LABELS, spec=policy),
        cel_conditions.manifest(API_VERSION, "MutatingAdmissionPolicyBinding", name, labels=LABELS, spec=binding),
    ]


_BY_ANNOTATION: Final = (
    f"object.metadata.?annotations.orValue({{}}).exists(k, {cel_conditions.is_device_annotation('k')})"
)


def _spared(config: models.Config) -> str:
    """An expression for pods in namespaces whose node agents see all devices."""
    return cel_conditions.in_namespaces(_seeing(config))


def _added_variable_cel(config: models.Config) -> str:
    """The variable for each container that takes no accelerator, as the fields to apply."""
    lists = ", ".join(f"{field}: {_containers(field, config)}" for field in ("containers", "initContainers"))
    return f"Object{{spec: Object.spec{{{lists}}}}}"


def _containers(field: str, config: models.Config) -> str:
    kind = f"Object.spec.{field}"
    variable = f"{kind}.env{{name: {cel_conditions.cel_text(_VARIABLE)}, value: 'void'}}"
    takes = f"{cel_conditions.container_takes('c', config)} || size(c.?resources.?claims.orValue([])) > 0"
    names_it = f"c.?env.orValue([]).exists(e, e.name == {cel_conditions.cel_text(_VARIABLE)})"
    given = f"object.?spec.?{field}.orValue([]).filter(c, !({takes}) && !({names_it}))"
    return f"{given}.map(c, {kind}{{name: c.name, env: [{variable}]}})"


def floor_objects(
    config: models.Config, catalogue: Catalogue, *, today: date, static: bool = False, only: Collection[str] = ()
) -> list[paths.Object]:
    """The policies with their bindings; see `policies.validating`."""
    entry = catalogue.mutations[MUTATION_KEY]
    wanted = not only or not {entry.code, entry.name, entry.category}.isdisjoint(only)
    return [
        *validating_policies(config, catalogue, today=today, static=static, only=only),
        *(mutating_policies(config, catalogue, static=static) if wanted else []),
    ]


def part_names(catalogue: Catalogue) -> set[str]:
    """The words that `only` accepts for parts of the floor."""
    entries = [*(catalogue.checks[key] for key in CHECKS), catalogue.mutations[MUTATION_KEY]]
    return {word for entry in entries for word in (entry.code, entry.name, entry.category)}


def installed_objects() -> Iterator[tuple[str, str]]:
    """The kind and the name of every object that a floor can have, bindings first."""
    for key in CHECKS:
        for suffix in ("", "-templates"):
            name = f"{NAME}-{_name(key)}{suffix}"
            yield from ((f"ValidatingAdmissionPolicy{kind}", name) for kind in ("Binding", ""))
    yield from ((f"MutatingAdmissionPolicy{kind}", f"{NAME}-{_name(MUTATION_KEY)}") for kind in ("Binding", ""))


def _name(key: str) -> str:
    return key.rpartition("/")[2].replace("_", "-")
