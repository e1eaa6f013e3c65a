"""The audit in the cluster: a CronJob or a Job, its account and rights, and what it may reach.

A Job of several shards is Indexed: a failed index is tried again alone, and the others go on. Source of the fields:
https://kubernetes.io/docs/concepts/workloads/controllers/job/
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from usher import __version__, paths
from usher.install.manifests import roles
from usher.install.manifests.conditions import manifest

NAME: Final = "gpu-usher-audit"
"""The name of the CronJob or Job, its account, its binding, its NetworkPolicy and the ClusterRole."""

POD_LABEL: Final = "app.kubernetes.io/name"
"""The label of audit pods, with the value NAME: the server's Service selects by this label, and must not find them."""

IMAGE: Final = f"gpu-usher:{__version__}"
FLEET_IMAGE: Final = f"gpu-usher-fleet:{__version__}"
"""The image with DuckDB, fsspec and s3fs, which parts need; `scripts/image --fleet` builds it."""


class Settings(Struct, frozen=True, kw_only=True):
    namespace: str = "gpu-usher"
    cluster_name: str = ""
    """The name of the cluster in reports; empty for the name that usher finds."""
    image: str = ""
    """Empty for the image that the audit needs."""
    schedule: str = "0 6 * * 1"
    """Five fields of cron, in UTC; empty for a Job that runs once."""
    shards: int = 1
    """Pods that share the work: by namespace, or by cluster if `clusters` is set."""
    parallel: int = 4
    """The most pods that run at one time."""
    output: str = ""
    """The URL of a folder of an object store; each run writes below it."""
    claim: str = ""
    """The PersistentVolumeClaim for the reports."""
    credentials: str = ""
    """The Secret whose entries become environment variables, for the object store."""
    clusters: str = ""
    """The Secret with `clusters.yaml` and the kubeconfigs that it names: one cluster for each shard."""
    configuration: str = "gpu-usher"
    """The ConfigMap with usher.yaml; empty for the defaults."""
    policies: tuple[str, ...] = ()
    """Names of bundles with policies of the site, as in the ConfigMap."""
    policies_config_map: str = "usher-policies"
    verifies_policies: bool = False
    """Whether pods take only bundles that the owner of `policies.pub` has signed.

    The key is in `configuration`: users who may change bundles must not be able to change the key.
    """
    report_objects: bool = False
    """Whether the audit writes findings into the cluster as report objects."""
    prometheus: str = ""
    """The URL of Prometheus."""
    prometheus_namespace: str = "monitoring"
    prometheus_secret: str = ""
    """The Secret with those of token, ca.crt, tls.crt and tls.key that Prometheus needs."""
    prometheus_headers: tuple[str, ...] = ()
    """NAME=VALUE, sent with each query. Secret headers are variables in `credentials` instead."""
    prometheus_labels: tuple[str, ...] = ()
    """NAME=VALUE, labels of the series to read."""
    api_servers: tuple[str, ...] = ()
    """Addresses of the API servers as CIDRs; empty if they are unknown."""
    arguments: tuple[str, ...] = ()
    """Further arguments of `usher audit`."""

    @property
    def is_sharded(self) -> bool:
        """Whether it writes parts for `usher report merge` instead of a report."""
        return self.shards > 1 or bool(self.output) or bool(self.clusters)

    @property
    def container_image(self) -> str:
        return self.image or (FLEET_IMAGE if self.is_sharded else IMAGE)


_API_SERVER: Final = (443, 6443)
"""The Service `kubernetes` has 443; policies see the port of the API server, 6443 with kubeadm."""

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_STORE: Final = 443


def network_policy(settings: Settings) -> paths.Object:
    """The NetworkPolicy. It lets no traffic into the pods of an audit."""
    selected: paths.Object = {"matchLabels": {POD_LABEL: NAME}}
    return manifest(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        NAME,
        namespace=settings.namespace,
        spec={"podSelector": selected, "policyTypes": ["Ingress", "Egress"], "egress": [*_egress(settings)]},
    )


def _egress(settings: Settings) -> list[paths.Object]:
    found: list[paths.Object] = [
        {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]},
        # API servers are not pods, and clouds hide their addresses.
        _egress_rule(_API_SERVER, [{"ipBlock": {"cidr": each}} for each in settings.api_servers]),
    ]
    if settings.prometheus:
        parts = urlsplit(settings.prometheus)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 443)
        selector: paths.Object = {"matchLabels": {paths.NAMESPACE_NAME_LABEL: settings.prometheus_namespace}}
        found.append(_egress_rule((port,), [{"namespaceSelector": selector}]))
    if settings.output and settings.api_servers:
        found.append(_egress_rule((_STORE,), []))
    return found


def _egress_rule(ports: tuple[int, ...], peers: list[paths.Json]) -> paths.Object:
    opened: list[paths.Json] = [{"protocol": "TCP", "port": port} for port in ports]
    return {"ports": opened, **({"to": peers} if peers else {})}


CONTAINER: Final = "usher"

_ACCOUNT: Final = 65532
"""The user and group of the image."""

_CONFIGURATION: Final = "/etc/usher/config"
_POLICIES: Final = "/etc/usher/policies"
_CLUSTERS: Final = "/etc/usher/clusters"
_PROMETHEUS: Final = "/etc/usher/prometheus"
_REPORTS: Final = "/audits"
_RUN: Final = "$(JOB_NAME)"
"""The name of the run: each run of a CronJob has a separate Job, and a recreated Job continues where it ended."""


def pod_spec(settings: Settings) -> paths.Object:
    """A pod spec, as `template.spec` of the Job."""
    return {
        "serviceAccountName": NAME,
        # The credentials for other clusters are in their kubeconfigs.
        "automountServiceAccountToken": not settings.clusters,
        "restartPolicy": "Never",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _ACCOUNT,
            "runAsGroup": _ACCOUNT,
            "fsGroup": _ACCOUNT,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(settings)],
        "volumes": [volume for volume, _ in _volumes(settings)],
    }


def _container(settings: Settings) -> paths.Object:
    return {
        "name": CONTAINER,
        "image": settings.container_image,
        "args": [*usher_arguments(settings)],
        **({"env": [_job_name()]} if settings.is_sharded else {}),
        **({"envFrom": [{"secretRef": {"name": settings.credentials}}]} if settings.credentials else {}),
        "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [mount for _, mount in _volumes(settings)],
    }


def usher_arguments(settings: Settings) -> tuple[str, ...]:
    """The command line after `usher`."""
    found = ["audit", "--quiet"]
    if settings.configuration:
        found.append(f"--config={_CONFIGURATION}/usher.yaml")
    if settings.cluster_name:
        found.append(f"--cluster-name={settings.cluster_name}")
    found += [f"--policies={_POLICIES}/{name}" for name in settings.policies]
    if settings.verifies_policies:
        found.append(f"--verify-key={_CONFIGURATION}/policies.pub")
    if settings.prometheus:
        found.append(f"--prometheus={settings.prometheus}")
        if settings.prometheus_secret:
            found.append(f"--prometheus-secret={_PROMETHEUS}")
        found += [f"--prometheus-header={each}" for each in settings.prometheus_headers]
        found += [f"--prometheus-label={each}" for each in settings.prometheus_labels]
    if settings.report_objects:
        found.append("--report-objects")
    if settings.clusters:
        found.append(f"--clusters={_CLUSTERS}/clusters.yaml")
    if settings.is_sharded:
        folder = settings.output.rstrip("/") if settings.output else _REPORTS
        found += [f"--shards={settings.shards}", f"--output-dir={folder}/{_RUN}"]
    elif settings.claim:
        found += [f"--format=html={_REPORTS}/audit.html", f"--format=json={_REPORTS}/audit.json"]
        found.append(f"--history={_REPORTS}/history.db")
    return (*found, *settings.arguments)


def _job_name() -> paths.Object:
    label = "metadata.labels['batch.kubernetes.io/job-name']"
    return {"name": "JOB_NAME", "valueFrom": {"fieldRef": {"fieldPath": label}}}


def _volumes(settings: Settings) -> tuple[tuple[paths.Object, paths.Object], ...]:
    """Each volume with its mount."""
    found: list[tuple[paths.Object, paths.Object]] = [
        ({"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "tmp", "mountPath": "/tmp"})  # noqa: S108 - in the pod
    ]
    if settings.configuration:
        source: paths.Object = {"name": "config", "configMap": {"name": settings.configuration}}
        found.append((source, {"name": "config", "mountPath": _CONFIGURATION, "readOnly": True}))
    if settings.policies:
        source = {"name": "policies", "configMap": {"name": settings.policies_config_map}}
        found.append((source, {"name": "policies", "mountPath": _POLICIES, "readOnly": True}))
    if settings.clusters:
        source = {"name": "clusters", "secret": {"secretName": settings.clusters, "defaultMode": 0o440}}
        found.append((source, {"name": "clusters", "mountPath": _CLUSTERS, "readOnly": True}))
    if settings.prometheus_secret:
        source = {"name": "prometheus", "secret": {"secretName": settings.prometheus_secret, "defaultMode": 0o440}}
        found.append((source, {"name": "prometheus", "mountPath": _PROMETHEUS, "readOnly": True}))
    if settings.claim:
        source = {"name": "audits", "persistentVolumeClaim": {"claimName": settings.claim}}
        found.append((source, {"name": "audits", "mountPath": _REPORTS}))
    return tuple(found)


RETRIES: Final = 2
"""How often a run, or one shard, is tried again."""

LONGEST_RUN: Final = 4 * 3600
"""Seconds for a run with all its retries."""

KEPT_SECONDS: Final = 7 * 24 * 3600
"""Seconds for which a finished Job stays, so that its log can be read."""


def scheduled_job(settings: Settings) -> paths.Object:
    """The CronJob, or the Job if there is no schedule."""
    if not settings.schedule:
        return manifest("batch/v1", "Job", NAME, namespace=settings.namespace, spec=_job(settings))
    spec: paths.Object = {
        "schedule": settings.schedule,
        "timeZone": "Etc/UTC",
        # Two audits at once would only slow the API server.
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 3600,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 3,
        "jobTemplate": {"spec": _job(settings)},
    }
    return manifest("batch/v1", "CronJob", NAME, namespace=settings.namespace, spec=spec)


def _job(settings: Settings) -> paths.Object:
    return {
        **(_of_shards(settings) if settings.is_sharded else {"backoffLimit": RETRIES}),
        "activeDeadlineSeconds": LONGEST_RUN,
        "ttlSecondsAfterFinished": KEPT_SECONDS,
        "podFailurePolicy": {"rules": _rules(settings)},
        "template": {"metadata": {"labels": {POD_LABEL: NAME}}, "spec": pod_spec(settings)},
    }


def _of_shards(settings: Settings) -> paths.Object:
    return {
        "completionMode": "Indexed",
        "completions": settings.shards,
        "parallelism": min(settings.shards, settings.parallel),
        "backoffLimitPerIndex": RETRIES,
        # More failures than this have a common cause, which retries do not remove.
        "maxFailedIndexes": settings.shards // 2,
    }


def _rules(settings: Settings) -> list[paths.Json]:
    """Rules for failed pods: an eviction does not count, and findings of --fail-on (exit code 1) are final."""
    given_up = "FailIndex" if settings.is_sharded else "FailJob"
    return [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": given_up, "onExitCodes": {"containerName": CONTAINER, "operator": "In", "values": [1]}},
    ]


POLICIES_NAME: Final = f"{NAME}-policies"
REPORTS_NAME: Final = f"{NAME}-reports"
_REPORT_RESOURCES: Final = (
    ("openreports.io", "clusterreports"),
    ("openreports.io", "reports"),
    ("wgpolicyk8s.io", "clusterpolicyreports"),
    ("wgpolicyk8s.io", "policyreports"),
)


def audit_objects(
    settings: Settings,
    *,
    others: Iterable[tuple[str, str]] = (),
    of_policies: Sequence[paths.Json] = (),
    with_role: bool = True,
) -> Sequence[paths.Object]:
    """The objects.

    Args:
        others: groups and plurals of the kinds that only audits read.
        of_policies: the rules for what policies of the site read. They are a role of their own, because manifests/base
            has the other one and would take them away again.
        with_role: whether to add the ClusterRole that manifests/base has too.
    """
    return tuple(_objects(settings, roles.audit_role(others) if with_role else None, of_policies))


def helm_values(of_policies: Sequence[paths.Json]) -> paths.Object:
    """The rules for objects that policies of a site read, as values of the Helm chart."""
    return {"policies": {"auditRules": [*of_policies]}}


def _objects(
    settings: Settings, role: paths.Object | None, of_policies: Sequence[paths.Json]
) -> Iterator[paths.Object]:
    account = settings.namespace, NAME
    yield manifest("v1", "ServiceAccount", NAME, namespace=settings.namespace, automountServiceAccountToken=False)
    # Rights in other clusters belong to the accounts of their kubeconfigs.
    if not settings.clusters:
        if role is not None:
            yield role
        yield roles.binding("ClusterRole", roles.AUDIT_NAME, account=account)
        if of_policies:
            yield roles.cluster_role(POLICIES_NAME, of_policies)
            yield roles.binding("ClusterRole", POLICIES_NAME, account=account)
    if settings.report_objects and not settings.clusters:
        yield reports_role()
        yield roles.binding("ClusterRole", REPORTS_NAME, account=account)
    yield network_policy(settings)
    yield scheduled_job(settings)


def reports_role() -> paths.Object:
    """A ClusterRole to write report objects, and to delete those that are stale. It changes nothing else."""
    verbs = ("get", "list", "create", "update", "patch", "delete")
    return roles.cluster_role(REPORTS_NAME, roles.rules(_REPORT_RESOURCES, verbs=verbs))


_LONGEST_NAME: Final = 253

_MONTHS: Final = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS: Final = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_FIELDS: Final[tuple[tuple[str, int, int, Mapping[str, int]], ...]] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of the month", 1, 31, {}),
    ("month", 1, 12, {name: number for number, name in enumerate(_MONTHS, start=1)}),
    ("day of the week", 0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
"""Fields of a schedule, as the CronJob controller reads them (github.com/robfig/cron, parser.go)."""
_MACROS: Final = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_RANGE: Final = re.compile(r"(\*|\?|[A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?(?:/([0-9]+))?", re.ASCII)


def refused_settings(settings: Settings) -> Iterator[str]:
    """The errors in the settings, each with its option and a remedy."""
    for option, name in (
        ("--audit-namespace", settings.namespace),
        ("--prometheus-namespace", settings.prometheus_namespace),
    ):
        if paths.LABEL.fullmatch(name) is None:
            yield f"{option}: {name[:80]!r} is not a name of a namespace: write lower-case letters, digits and '-'"
    for option, name in (
        ("--claim", settings.claim),
        ("--credentials", settings.credentials),
        ("--clusters", settings.clusters),
        ("--configuration", settings.configuration),
        ("--policies-config-map", settings.policies_config_map),
        ("--prometheus-secret", settings.prometheus_secret),
    ):
        if name and not _is_name(name):
            yield f"{option}: {name[:80]!r} is not a name of an object: write lower-case letters, digits, '-' and '.'"
    for address in settings.api_servers:
        if not _is_network(address):
            yield f"--api-server: {address[:80]!r} is not a network: write a CIDR, for example 10.0.0.1/32"
    if settings.schedule and (reason := _why_no_schedule(settings.schedule)):
        yield f"--schedule: {settings.schedule[:80]!r}: {reason}; write for example '0 6 * * 1', each Monday at 06:00"


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and all(paths.LABEL.fullmatch(part) for part in text.split("."))


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return "/" in text


def _why_no_schedule(text: str) -> str:
    if text.startswith("@"):
        return "" if text in _MACROS else "this macro of cron is unknown"
    fields = text.split()
    if len(fields) != len(_FIELDS):
        return f"it has {len(fields)} fields, and cron has 5"
    for field, (name, lowest, highest, names) in zip(fields, _FIELDS, strict=True):
        if not all(_is_part(part, lowest, highest, names) for part in field.split(",")):
            return f"{field[:40]!r} is not a value for the {name}, from {lowest} to {highest}"
    return ""


def _is_part(text: str, lowest: int, highest: int, names: Mapping[str, int]) -> bool:
    """Whether a text is `*`, a number, a name or a range, with or without a step."""
    found = _RANGE.fullmatch(text)
    if found is None or (found[1] in ("*", "?") and found[2]) or (found[3] is not None and int(found[3]) == 0):
        return False
    if found[1] in ("*", "?"):
        return True
    ends = [_number(each, names) for each in (found[1], found[2] or found[1])]
    return lowest <= ends[0] <= ends[1] <= highest


def _number(text: str, names: Mapping[str, int]) -> int:
    """The value of a number or a name; -1 for other texts."""
    return int(text) if text.isdecimal() else names.get(text.lower(), -1)
