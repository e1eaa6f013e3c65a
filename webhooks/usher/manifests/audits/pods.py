"""The pod of an audit: it meets the Pod Security level `restricted`, and writes only to its volumes."""

from typing import Final

from usher import paths
from usher.manifests.audits.settings import NAME, Settings

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


def spec(settings: Settings) -> paths.Object:
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
        "args": [*arguments(settings)],
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


def arguments(settings: Settings) -> tuple[str, ...]:
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
