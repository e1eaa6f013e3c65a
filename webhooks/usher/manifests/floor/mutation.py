"""The one mutation of the floor: it hides GPUs from containers that request none of them (USM201).

It protects other workloads, and needs only one object. Other mutations need facts, pools or the whole gang. The webhook
later adds the same values to a Pod.
"""

from typing import Final

from usher import paths
from usher.config import models, sections
from usher.manifests import asking, requests, rules
from usher.manifests.floor import scope
from usher.manifests.floor.policies import API_VERSION
from usher.manifests.webhooks import NAME
from usher.policy.checks.catalogue import Catalogue

KEY: Final = "isolation/visible_devices_void"

_VARIABLE: Final = "NVIDIA_VISIBLE_DEVICES"
_OF_A_DAEMON_SET: Final = "object.metadata.?ownerReferences.orValue([]).exists(o, o.kind == 'DaemonSet')"


def mutating(config: models.Config, catalogue: Catalogue, *, static: bool = False) -> list[paths.Object]:
    """The policy and its binding; empty if usher.yaml applies the mutation in no namespace.

    Args:
        config: usher.yaml.
        catalogue: the mutations.
        static: names for files of an API server.
    """
    entry = catalogue.mutations[KEY]
    here = scope.applied_here(entry, config)
    if here == scope.NEVER:
        return []
    name = f"{NAME}-{entry.name}{scope.STATIC_SUFFIX if static else ''}"
    metadata: paths.Object = {"name": name, "labels": {**scope.LABELS}}
    policy: paths.Object = {
        "failurePolicy": "Ignore",
        "reinvocationPolicy": "IfNeeded",
        "matchConstraints": {
            "matchPolicy": "Equivalent",
            "resourceRules": [rules.rule("", ["v1"], ["pods"], operations=["CREATE"])],
        },
        "matchConditions": [
            *scope.conditions(here, config, spared=_spared(config)),
            {"name": "without-devices-by-annotation", "expression": f"!({_BY_ANNOTATION})"},
        ],
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": _added(config)}}],
    }
    binding: paths.Object = {"policyName": name, "matchResources": {"namespaceSelector": scope.namespaces(config)}}
    return [
        {"apiVersion": API_VERSION, "kind": "MutatingAdmissionPolicy", "metadata": metadata, "spec": policy},
        {"apiVersion": API_VERSION, "kind": "MutatingAdmissionPolicyBinding", "metadata": metadata, "spec": binding},
    ]


_BY_ANNOTATION: Final = f"object.metadata.?annotations.orValue({{}}).exists(k, {asking.annotation('k')})"


def _spared(config: models.Config) -> str:
    """An expression for pods of DaemonSets: node agents see all devices, and CEL cannot identify agents further."""
    seeing = requests.within([*config.priorities.system_namespaces, *config.isolation.visible_devices])
    controllers = requests.by({**sections.DEFAULT_IDENTITIES, **config.identities}["controllers"])
    return f"{seeing} || ({_OF_A_DAEMON_SET} && ({controllers}))"


def _added(config: models.Config) -> str:
    """The variable for each container that takes no accelerator, as the fields to apply."""
    lists = ", ".join(f"{field}: {_containers(field, config)}" for field in ("containers", "initContainers"))
    return f"Object{{spec: Object.spec{{{lists}}}}}"


def _containers(field: str, config: models.Config) -> str:
    kind = f"Object.spec.{field}"
    variable = f"{kind}.env{{name: {asking.text(_VARIABLE)}, value: 'void'}}"
    takes = f"{asking.container_takes('c', config)} || size(c.?resources.?claims.orValue([])) > 0"
    names_it = f"c.?env.orValue([]).exists(e, e.name == {asking.text(_VARIABLE)})"
    given = f"object.?spec.?{field}.orValue([]).filter(c, !({takes}) && !({names_it}))"
    return f"{given}.map(c, {kind}{{name: c.name, env: [{variable}]}})"
