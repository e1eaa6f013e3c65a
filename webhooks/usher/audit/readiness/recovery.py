"""Items about keeping and restoring a cluster: usher's webhooks, versions, backups."""

from collections.abc import Sequence
from typing import Final

from usher.audit import fields
from usher.audit.readiness import judgement, versions
from usher.audit.readiness.judgement import Item, Judgement, failed, not_applicable, not_known, passed
from usher.audit.readiness.look import Look
from usher.audit.standing.wanted import MUTATING, VALIDATING
from usher.install import preflight, registered_webhooks
from usher.install.manifests.webhooks import NAME, Client
from usher.install.preflight import PointState
from usher.install.registered_webhooks import Webhook

_AREA: Final = "recovery"
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
        return judgement.not_listed(*(f"{kind.lower()}s.{group}" for group, kind in (MUTATING, VALIDATING)))
    return _judged([each for each in _points(installed, look) if each.topic != _CERTIFICATE])


def certificate(look: Look) -> Judgement:
    """Whether the CA certificates of usher's webhooks are valid for a while."""
    installed = _installed(look)
    if installed is None:
        return judgement.not_listed(*(f"{kind.lower()}s.{group}" for group, kind in (MUTATING, VALIDATING)))
    if not installed:
        return not_applicable("usher's webhooks are not registered")
    return _judged([each for each in _points(installed, look) if each.topic == _CERTIFICATE])


def _installed(look: Look) -> Sequence[Webhook] | None:
    mutating, validating = (fields.listed(look.estate, *key) for key in (MUTATING, VALIDATING))
    if mutating is None or validating is None:
        return None
    found = [
        *registered_webhooks.read_webhooks(mutating, mutating=True),
        *registered_webhooks.read_webhooks(validating, mutating=False),
    ]
    return [each for each in found if each.configuration.startswith(NAME)]


def _points(installed: Sequence[Webhook], look: Look) -> list[preflight.Point]:
    return list(preflight.points_of_webhooks(installed, client=Client(), now=look.now))


def _judged(points: Sequence[preflight.Point]) -> Judgement:
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
    version = versions.read(look.server_version)
    if version is None:
        return not_known("the API server does not tell its version")
    release = version[:2]
    name = f"Kubernetes {release[0]}.{release[1]}"
    if release < preflight.OLDEST_VERSION:
        return failed(f"{name}; usher needs {preflight.OLDEST_VERSION[0]}.{preflight.OLDEST_VERSION[1]} or newer")
    end = versions.ENDS.get(release)
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
    if look.nodes is None:
        return judgement.not_listed("nodes")
    if not look.nodes:
        return not_applicable("no node has accelerators")
    server = versions.read(look.server_version)
    # A virtual kubelet is another program with its own versions.
    real = [node for node in look.nodes if node.labels.get("type") != "virtual-kubelet"]
    if not real:
        return not_applicable("only virtual kubelets have accelerators")
    kubelets = {node.name: versions.read(node.system.get("kubeletVersion", "")) for node in real}
    if server is None or None in kubelets.values():
        return not_known("the version of the API server or of a kubelet is not known")
    known = {name: version for name, version in kubelets.items() if version is not None}
    far = sorted(name for name, version in known.items() if not 0 <= server[1] - version[1] <= versions.SKEW)
    seen = ", ".join(sorted({f"{major}.{minor}" for major, minor, _ in known.values()}))
    if far:
        return failed(f"API server {server[0]}.{server[1]}, kubelets {seen}: too far on {fields.listing(far)}")
    return passed(f"API server {server[0]}.{server[1]}, kubelets {seen}")


def backups(look: Look) -> Judgement:
    """Always unknown: only a restore proves a backup, and etcd is not an object of the API."""
    seen = "Velero is installed" if look.definitions is not None and _BACKUPS in look.definitions else ""
    how = "backups of etcd cannot be seen from the API; try a restore, and note its date"
    return not_known(*filter(None, (seen, how)))


ITEMS: Final = (
    Item(
        id="usher-webhooks",
        area=_AREA,
        title="Usher's webhooks are registered and cover all kinds",
        how="They are those that this version of usher prints. The evidence says which fail closed.",
        remedy="Print them again with this version and your usher.yaml: usher manifests webhooks",
        reference="docs/operations.md",
        judge=webhooks,
    ),
    Item(
        id="usher-certificate",
        area=_AREA,
        title="The certificates of usher's webhooks are valid",
        how="The CA certificates that the API server trusts are valid for three weeks or longer.",
        remedy="Let usher or cert-manager renew them; docs/operations.md says how.",
        reference="docs/operations.md",
        judge=certificate,
    ),
    Item(
        id="kubernetes-version",
        area=_AREA,
        title="The release of Kubernetes gets patches",
        how="Its end, by the calendar of the project, is later than today. After it, releases of EKS, GKE, AKS and "
        "OpenShift are not known: their calendars are longer.",
        remedy="Update the control plane, one minor version at a time.",
        reference="https://kubernetes.io/releases/",
        judge=kubernetes_version,
    ),
    Item(
        id="kubelet-versions",
        area=_AREA,
        title="Kubelets are near enough to the API server",
        how="Each kubelet of a GPU node is at most three minor versions older than the API server, and not newer.",
        remedy="Update the node pools.",
        reference="https://kubernetes.io/releases/version-skew-policy/",
        judge=kubelet_versions,
    ),
    Item(
        id="backups",
        area=_AREA,
        title="Somebody has restored a backup",
        how="It is never known: only a restore proves a backup.",
        remedy="Restore etcd, or the objects of all namespaces, into an empty cluster.",
        reference="https://kubernetes.io/docs/tasks/administer-cluster/configure-upgrade-etcd/#backing-up-an-etcd-cluster",
        judge=backups,
    ),
)
