"""Checklist items about the isolation of tenants, and about the operation and recovery of a cluster."""

from collections.abc import Mapping, Sequence
from typing import Final

from usher import paths
from usher.audit.document import Standing
from usher.audit.gather import object_fields as fields
from usher.audit.gather.needed_inputs import MUTATING, NETWORK_POLICY, VALIDATING
from usher.audit.readiness import checklist
from usher.audit.readiness.checklist import Judge, Judgement, Look, failed, not_applicable, not_known, passed
from usher.authorities.gpu_quota import assignment
from usher.authorities.gpu_quota.definitions import GROUP, KIND, Quota
from usher.authorities.resource_quota import judge as resource_quota_judge
from usher.install import installed_objects, preflight
from usher.install.installed_objects import Webhook
from usher.install.manifests.webhooks import NAME, Client
from usher.install.preflight import PointState
from usher.kinds.reading.values import Absence

_ENFORCE: Final = "pod-security.kubernetes.io/enforce"
_LEVELS: Final = ("baseline", "restricted")
_NO_TENANTS: Final = "no namespace of a tenant has workloads with accelerators"
_CONSTRAINTS: Final = "securitycontextconstraints.security.openshift.io"
_EVERYWHERE: Final = ("0.0.0.0/0", "::/0")
_OTHER_POLICIES: Final = (
    *("ciliumnetworkpolicies.cilium.io", "ciliumclusterwidenetworkpolicies.cilium.io"),
    *("globalnetworkpolicies.crd.projectcalico.org", "adminnetworkpolicies.policy.networking.k8s.io"),
)
"""Definitions of policies other than NetworkPolicies that may deny traffic."""

_SANDBOXES: Final = ("kata", "runsc", "gvisor", "firecracker")
"""Parts of the handler names of runtimes that isolate pods from the kernel of their node."""


def quotas(look: Look) -> Judgement:
    """Whether a quota bounds the accelerators of each namespace."""
    facts = look.known.facts
    if not look.tenants:
        return not_applicable(_NO_TENANTS)
    unknown = [
        name
        for name, known in (
            ("resourcequotas", facts.knows("", "ResourceQuota")),
            (f"gpuquotas.{GROUP}", facts.knows(GROUP, KIND)),
        )
        if not known
    ]
    without = [name for name in look.tenants if not _has_quota(name, look)]
    if without:
        if unknown:
            return checklist.not_listed(*unknown)
        return failed(f"namespaces without a quota of accelerators: {fields.listing(without)}")
    return passed(f"namespaces with a quota of accelerators: {fields.listing(look.tenants)}")


def _has_quota(namespace: str, look: Look) -> bool:
    if isinstance(assignment.quota_of_namespace(look.known, namespace), Quota):
        return True
    objects = look.known.facts.objects("", "ResourceQuota", namespace)
    found = () if isinstance(objects, Absence) else resource_quota_judge.read(objects).all
    names = (name.removeprefix("requests.") for quota in found for name in quota.hard)
    return any(look.known.vocabulary_of_cluster.contains(name) for name in names)


def pod_security(look: Look) -> Judgement:
    """Whether each namespace enforces a level of Pod Security."""
    if not look.tenants:
        return not_applicable(_NO_TENANTS)
    levels: dict[str, str | None] = {}
    for name in look.tenants:
        labels = look.labels(name)
        levels[name] = None if labels is None else labels.get(_ENFORCE, "")
    without = [name for name, level in levels.items() if level is not None and level not in _LEVELS]
    if without and _CONSTRAINTS in (look.definitions or ()):
        return not_known(
            f"namespaces that enforce neither baseline nor restricted: {fields.listing(without)}",
            "SecurityContextConstraints of OpenShift hold there, and usher does not read them",
        )
    if without:
        return failed(f"namespaces that enforce neither baseline nor restricted: {fields.listing(without)}")
    if None in levels.values():
        return checklist.not_listed("namespaces")
    return passed(f"namespaces that enforce baseline or restricted: {fields.listing(look.tenants)}")


def network_policies(look: Look) -> Judgement:
    """Whether each namespace has a policy that denies incoming traffic by default."""
    if not look.tenants:
        return not_applicable(_NO_TENANTS)
    listed = fields.listed(look.estate, *NETWORK_POLICY.key)
    if listed is None:
        return checklist.not_wanted([NETWORK_POLICY])
    closed = {fields.namespace(each) for each in listed if _denies_by_default(each)}
    without = [name for name in look.tenants if name not in closed]
    others = [each for each in _OTHER_POLICIES if each in (look.definitions or ())]
    if without and others:
        return not_known(
            f"namespaces without a NetworkPolicy that denies incoming traffic by default: {fields.listing(without)}",
            f"usher does not read {fields.listing(others)}, which may deny it",
        )
    if without:
        return failed(f"namespaces without a policy that denies incoming traffic by default: {fields.listing(without)}")
    return passed(
        f"namespaces that deny incoming traffic by default: {fields.listing(look.tenants)}",
        "RDMA does not pass through NetworkPolicies",
    )


def _denies_by_default(policy: paths.Object) -> bool:
    """Whether a policy selects all pods and allows incoming traffic only from senders that it names."""
    selector = fields.at(policy, "/spec/podSelector")
    types = fields.texts(policy, "/spec/policyTypes")
    selects_all = isinstance(selector, Mapping) and not any(selector.values())
    rules = fields.at(policy, "/spec/ingress") or []
    return (
        selects_all
        and ("Ingress" in types or not types)
        and isinstance(rules, list)
        and all(map(_names_senders, rules))
    )


def _names_senders(rule: paths.Json) -> bool:
    """Whether a rule names pods or addresses as senders, and does not allow all namespaces or networks."""
    senders = fields.objects(rule, "/from")
    everywhere = any(
        each.get("namespaceSelector") == {} or fields.text(each, "/ipBlock/cidr") in _EVERYWHERE for each in senders
    )
    return bool(senders) and not everywhere


def secure_access(look: Look) -> Judgement:
    """Whether containers reach accelerators only through the device plugin or DRA.

    The evidence is a toolkit without known escapes, and usher's webhooks, which judge pods that bypass the plugin.
    """
    escapes = checklist.without_nodes(look, "NVIDIA") or checklist.toolkit_version(look)
    if escapes.standing in (Standing.FAIL, Standing.NOT_APPLICABLE):
        return escapes
    webhooks = fields.listed(look.estate, *VALIDATING.key)
    if webhooks is None:
        return checklist.not_listed(VALIDATING.resource)
    ours = [
        each
        for each in installed_objects.read_webhooks(webhooks, mutating=False)
        if each.configuration.startswith(NAME)
    ]
    if not any(each.creates("", "pods") for each in ours):
        return failed(
            "no webhook of usher judges Pods, so a container may ask for all GPUs of its node by "
            "NVIDIA_VISIBLE_DEVICES or a host path"
        )
    seen = "webhooks of usher judge pods that take devices past the device plugin (USH201 to USH218)"
    if escapes.standing is Standing.NOT_KNOWN:
        return not_known(*escapes.evidence, seen)
    return passed(*escapes.evidence, seen)


def sandboxing(look: Look) -> Judgement:
    """Whether a RuntimeClass isolates pods from the kernel of their node."""
    classes = look.known.facts.objects("node.k8s.io", "RuntimeClass")
    if isinstance(classes, Absence):
        return checklist.not_listed("runtimeclasses.node.k8s.io")
    found = {name: fields.text(value, "/handler") for name, value in sorted(classes.items())}
    sandboxes = [name for name, handler in found.items() if any(word in handler for word in _SANDBOXES)]
    if sandboxes:
        return passed(f"RuntimeClass {fields.listing(sandboxes)}")
    return not_applicable("no RuntimeClass is a sandbox; only clusters that run code of others need one")


ISOLATION_JUDGES: Final[Mapping[str, Judge]] = {
    "quotas": quotas,
    "pod-security": pod_security,
    "network-policies": network_policies,
    "accelerator-access": secure_access,
    "sandboxes": sandboxing,
}

_BACKUPS: Final = "backups.velero.io"
_CERTIFICATE: Final = "certificate"
_SERVICES: Final = {
    "EKS": ("-eks-", "eks.amazonaws.com/nodegroup"),
    "GKE": ("-gke.", "cloud.google.com/gke-nodepool"),
    "AKS": ("-aks", "kubernetes.azure.com/cluster"),
    "OpenShift": ("openshift", "node.openshift.io/os_id"),
}
"""For each service, a part of the version that its API server reports, and a label of its nodes."""


def webhooks(look: Look) -> Judgement:
    """Whether usher's webhooks are registered as this version prints them."""
    installed = _installed(look)
    if installed is None:
        return checklist.not_listed(*(each.resource for each in (MUTATING, VALIDATING)))
    return _judged_points([each for each in _points(installed, look) if each.topic != _CERTIFICATE])


def certificate(look: Look) -> Judgement:
    """Whether the CA certificates of usher's webhooks are valid for a while."""
    installed = _installed(look)
    if installed is None:
        return checklist.not_listed(*(each.resource for each in (MUTATING, VALIDATING)))
    if not installed:
        return not_applicable("usher's webhooks are not registered")
    return _judged_points([each for each in _points(installed, look) if each.topic == _CERTIFICATE])


def _installed(look: Look) -> Sequence[Webhook] | None:
    mutating, validating = (fields.listed(look.estate, *kind.key) for kind in (MUTATING, VALIDATING))
    if mutating is None or validating is None:
        return None
    found = [
        *installed_objects.read_webhooks(mutating, mutating=True),
        *installed_objects.read_webhooks(validating, mutating=False),
    ]
    return [each for each in found if each.configuration.startswith(NAME)]


def _points(installed: Sequence[Webhook], look: Look) -> list[preflight.Point]:
    return list(preflight.points_of_webhooks(installed, client=Client(), now=look.now))


def _judged_points(points: Sequence[preflight.Point]) -> Judgement:
    """The worst of the given preflight points, with the texts of all."""
    texts = [fields.excerpt(each.text) for each in points]
    states = {each.state for each in points}
    if PointState.ATTENTION in states:
        return failed(*texts)
    return not_known(*texts) if PointState.NOT_KNOWN in states else passed(*texts)


def _service(look: Look) -> str:
    """The service or distribution that runs the cluster and patches releases by its own calendar."""
    labels = {key for node in look.nodes or () for key in node.labels}
    return next(
        (name for name, (version, label) in _SERVICES.items() if version in look.server_version or label in labels), ""
    )


def kubernetes_version(look: Look) -> Judgement:
    """Whether the Kubernetes release still gets patches and is new enough for usher."""
    version = checklist.read_version(look.server_version)
    if version is None:
        return not_known("the API server does not tell its version")
    release = version[:2]
    name = f"Kubernetes {release[0]}.{release[1]}"
    if release < preflight.OLDEST_VERSION:
        return failed(f"{name}; usher needs {preflight.OLDEST_VERSION[0]}.{preflight.OLDEST_VERSION[1]} or newer")
    end = checklist.RELEASE_ENDS.get(release)
    if end is None:
        return not_known(f"usher does not know when {name} ends")
    today = look.now.date()
    if end < today:
        ended = f"patches of {name} ended on {end.isoformat()}"
        service = _service(look)
        # Services patch a release for longer than the Kubernetes project does.
        return not_known(f"{ended} for the project; see the calendar of {service}") if service else failed(ended)
    return passed(f"{name} gets patches until {end.isoformat()}")


def kubelet_versions(look: Look) -> Judgement:
    """Whether the versions of the kubelets on GPU nodes are close enough to that of the API server."""
    server = checklist.read_version(look.server_version)
    # A virtual kubelet is another program with its own versions.
    real = [node for node in look.nodes or () if node.labels.get("type") != "virtual-kubelet"]
    if not real:
        return not_applicable("only virtual kubelets have accelerators")
    kubelets = {node.name: checklist.read_version(node.system.get("kubeletVersion", "")) for node in real}
    if server is None or None in kubelets.values():
        return not_known("the version of the API server or of a kubelet is not known")
    known = {name: version for name, version in kubelets.items() if version is not None}
    far = sorted(name for name, version in known.items() if not 0 <= server[1] - version[1] <= checklist.KUBELET_SKEW)
    seen = ", ".join(sorted({f"{major}.{minor}" for major, minor, _ in known.values()}))
    if far:
        return failed(f"API server {server[0]}.{server[1]}, kubelets {seen}: too far on {fields.listing(far)}")
    return passed(f"API server {server[0]}.{server[1]}, kubelets {seen}")


def backups(look: Look) -> Judgement:
    """Always unknown: only a restore proves a backup, and etcd is not an object of the API."""
    seen = "Velero is installed" if look.definitions is not None and _BACKUPS in look.definitions else ""
    how = "backups of etcd cannot be seen from the API; try a restore, and note its date"
    return not_known(*filter(None, (seen, how)))


RECOVERY_JUDGES: Final[Mapping[str, Judge]] = {
    "usher-webhooks": webhooks,
    "usher-certificate": certificate,
    "kubernetes-version": kubernetes_version,
    "kubelet-versions": kubelet_versions,
    "backups": backups,
}
