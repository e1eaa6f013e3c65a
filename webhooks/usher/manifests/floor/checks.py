"""The denials of the floor: the checks that CEL can judge with the same verdict, each as an expression.

CEL sees one object, and neither other objects in its file nor the facts of the cluster. So an expression may miss a
finding of its check; it never finds more. tests/integration/test_floor.py compares both, on the examples and on
corpora.
"""

from collections.abc import Callable, Mapping
from typing import Final

from usher.config import models, sections
from usher.manifests import asking, requests
from usher.policy.checks.catalogue import Catalogue

Denies = Callable[[str, models.Config, Catalogue], str]
"""Takes the variable with a pod template; returns an expression that is true for templates that the check denies."""


def whole_gpus_only(template: str, config: models.Config, _checks: Catalogue) -> str:
    amounts = f"(isQuantity({_text('r[k]')}) ? {_amount('r[k]')} : 0.0)"
    # Above this number a double has no fractions.
    fraction = f"{amounts} < 4.0e15 && double(int({amounts})) != {amounts}"
    lists = "[c.?resources.?requests.orValue({}), c.?resources.?limits.orValue({})]"
    found = f"{lists}.exists(r, r.exists(k, {asking.accelerator('k', config)} && {fraction}))"
    return _some_container(template, found)


def gpu_requests_equal_limits(template: str, config: models.Config, _checks: Catalogue) -> str:
    asked, limits = "c.?resources.?requests.orValue({})", "c.?resources.?limits.orValue({})"
    amount, limit = f"{asked}[k]", f"{limits}[k]"
    differ = f"isQuantity({_text(amount)}) && isQuantity({_text(limit)}) && {_amount(amount)} != {_amount(limit)}"
    # An amount of zero requests nothing; without a request the API server uses the limit.
    asks = f"(isQuantity({_text(amount)}) ? {_amount(amount)} : 0.0) > 0.0"
    found = f"{asked}.exists(k, {asking.accelerator('k', config)} && {asks} && (!(k in {limits}) || ({differ})))"
    return _some_container(template, found)


def visible_devices_set_by_hand(template: str, config: models.Config, _checks: Catalogue) -> str:
    found = " || ".join([_some_container(template, asking.names_devices("c")), _debug(template)])
    kai = [route.name for route in config.routing if route.scheduler == "kai"]
    # KAI-Scheduler writes the variable into pods with fractions, so usher only warns about it.
    return f"!({template}.?spec.?schedulerName.orValue('') in {asking.texts(kai)}) && ({found})" if kai else found


def host_path_to_devices(template: str, config: models.Config, checks: Catalogue) -> str:
    return asking.mounts_devices(template, config, checks)


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


OF_TEMPLATES: Final = frozenset({"resources/whole_gpus_only", "resources/gpu_requests_equal_limits"})
"""Checks of mistakes that the API server itself refuses in a Pod."""


def spared(check: str, config: models.Config) -> str:
    """An expression that is true for requests that the check exempts, by namespace or user.

    A DaemonSet may be an agent of its node, whose pods the DaemonSet controller makes (`lib/workload.rego`).
    """
    namespaces, agents = _SPARED.get(check, (_nowhere, False))
    spared_here = [requests.within(namespaces(config))] if namespaces(config) else []
    if agents and "system_namespaces" not in config.priorities.model_fields_set:
        by_controllers = requests.by({**sections.DEFAULT_IDENTITIES, **config.identities}["controllers"])
        spared_here.append(f"request.resource.resource == 'daemonsets' || ({_OF_A_DAEMON_SET} && ({by_controllers}))")
    return " || ".join(spared_here) or "false"


_OF_A_DAEMON_SET: Final = (
    "request.resource.resource == 'pods' && object != null && object.metadata.?ownerReferences.orValue([])"
    ".exists(o, o.kind == 'DaemonSet' && o.apiVersion.startsWith('apps/'))"
)


def _nowhere(_config: models.Config) -> list[str]:
    return []


def _system(config: models.Config) -> list[str]:
    return config.priorities.system_namespaces


def _seeing(config: models.Config) -> list[str]:
    return [*config.priorities.system_namespaces, *config.isolation.visible_devices]


_SPARED: Final = {
    "isolation/visible_devices_set_by_hand": (_seeing, False),
    "isolation/host_path_to_devices": (_system, True),
    "priority/system_class_outside_system_namespaces": (_system, True),
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
    return f"{template}.?spec.?ephemeralContainers.orValue([]).exists(c, {asking.names_devices('c')})"
