"""The NetworkPolicy of audits: names, the API server, Prometheus and the object store, each by its port."""

from typing import Final
from urllib.parse import urlsplit

from usher import paths
from usher.manifests.audits.settings import NAME, POD_LABEL, Settings

_API_SERVER: Final = (443, 6443)
"""The Service `kubernetes` has 443; policies see the port of the API server, 6443 with kubeadm."""

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_STORE: Final = 443


def policy(settings: Settings) -> paths.Object:
    """The NetworkPolicy. It lets no traffic into the pods of an audit."""
    selected: paths.Object = {"matchLabels": {POD_LABEL: NAME}}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": NAME, "namespace": settings.namespace},
        "spec": {
            "podSelector": selected,
            "policyTypes": ["Ingress", "Egress"],
            "egress": [*_egress(settings)],
        },
    }


def _egress(settings: Settings) -> list[paths.Object]:
    found: list[paths.Object] = [
        {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]},
        # API servers are not pods, and clouds hide their addresses.
        _to(_API_SERVER, [{"ipBlock": {"cidr": each}} for each in settings.api_servers]),
    ]
    if settings.prometheus:
        parts = urlsplit(settings.prometheus)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 443)
        label = "kubernetes.io/metadata.name"
        selector: paths.Object = {"matchLabels": {label: settings.prometheus_namespace}}
        found.append(_to((port,), [{"namespaceSelector": selector}]))
    if settings.output and settings.api_servers:
        found.append(_to((_STORE,), []))
    return found


def _to(ports: tuple[int, ...], peers: list[paths.Json]) -> paths.Object:
    opened: list[paths.Json] = [{"protocol": "TCP", "port": port} for port in ports]
    return {"ports": opened, **({"to": peers} if peers else {})}
