"""The few requests that the API server refuses while usher does not answer, if the site wants that.

Pods fail closed, and kinds whose pod templates CEL can read; for other kinds, the objects that they make. Everything
else goes on: objects without accelerators, the namespaces that a cluster needs to heal, requests of administrators,
scaling, and changes of Pods that change no devices (docs/operations.md#failure-policy).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from usher import paths
from usher.config import models
from usher.config.sections import DEFAULT_IDENTITIES
from usher.kinds.kind import Kind
from usher.manifests import asking, requests, template_paths
from usher.policy.checks.catalogue import Catalogue

HEALING: Final = (
    # Networks, certificates and meshes: no pod starts without them.
    *("calico-apiserver", "calico-system", "tigera-operator", "cilium", "cilium-secrets", "metallb-system"),
    *("cert-manager", "consul", "istio-system", "linkerd", "linkerd-cni"),
    # Disks.
    *("local-path-storage", "longhorn-system", "openebs", "rook-ceph"),
    # Nodes, and services that clouds and distributions run themselves.
    *("cluster-autoscaler", "gke-managed-*", "gmp-system", "karpenter", "kube-*", "openshift-*"),
    # Other admission webhooks, and tools that deliver changes to the cluster.
    *("argocd", "flux-system", "gatekeeper-system", "kyverno"),
)
"""Namespaces of networks, certificates, disks and nodes, beside the system namespaces of usher.yaml.

usher judges their pods like others while it answers. The API server checks the name of a namespace, so a tenant cannot
forge it.
"""

OWN: Final = "accelerators"
"""The name of the webhook that fails closed."""


def kinds() -> Sequence[Kind]:
    """The kinds that fail closed."""
    return template_paths.readable()


def conditions(config: models.Config, checks: Catalogue) -> Sequence[paths.Object]:
    """The match conditions of objects that are refused while usher does not answer; all of them must be true."""
    return (
        _condition("takes-accelerators", _takes(config, checks)),
        _condition("new-or-changed", _CHANGED),
        _condition("no-administrator", f"!({administrators(config)})"),
        _condition("no-namespace-that-heals-the-cluster", f"!({requests.within(healing(config))})"),
    )


def healing(config: models.Config) -> set[str]:
    """Namespaces in which the API server refuses no request while usher does not answer."""
    return {*HEALING, *config.priorities.system_namespaces}


def otherwise(failing: Iterable[paths.Object]) -> paths.Object:
    """The match condition of all other requests.

    If an expression fails for an object, the webhook that fails closed refuses it, so no object passes between both.
    """
    expressions = [str(each["expression"]) for each in failing]
    asked = f"request.resource.group + '/' + request.resource.resource in {asking.texts(map(_resource, kinds()))}"
    return _condition("judged-by-no-other-webhook", f"!({asking.all_of([asked, _SUBRESOURCES, *expressions])})")


def _resource(kind: Kind) -> str:
    return f"{kind.group}/{kind.plural}"


def administrators(config: models.Config) -> str:
    """An expression that is true for requests of cluster administrators, as usher.yaml names them."""
    identities = {**DEFAULT_IDENTITIES, **config.identities}
    return requests.by(identities["administrators"])


_SUB_RESOURCE: Final = "request.?subResource.orValue('')"
_SUBRESOURCES: Final = f"{_SUB_RESOURCE} in ['', 'ephemeralcontainers']"

_ANNOTATIONS: Final = "{}.metadata.?annotations.orValue({{}})"
_NEW: Final = _ANNOTATIONS.format("object")
_OLD: Final = _ANNOTATIONS.format("oldObject")
_CHANGED: Final = (
    # Controllers often write labels, annotations and finalizers of Pods, and Pods must be able to end.
    "request.operation == 'CREATE' || (!has(object.metadata.deletionTimestamp) && (object.spec != oldObject.spec || "
    f"{_NEW}.exists(k, ({asking.annotation('k')}) && {_OLD}[?k].orValue('') != {_NEW}[k])))"
)


def _takes(config: models.Config, checks: Catalogue) -> str:
    """An expression for pods that take accelerators; debug containers get devices only by variables and mounts."""
    debug = asking.debug_container_takes("object")
    whole = f"{template_paths.templates()}.exists(t, {asking.takes('t', config, checks)})"
    return f"{_SUB_RESOURCE} == 'ephemeralcontainers' ? ({debug}) : {whole}"


def _condition(name: str, expression: str) -> paths.Object:
    return {"name": name, "expression": expression}
