"""The caBundle of our own webhook configurations: reads, compares and restores it, and writes no other field."""

import base64
import binascii
from collections.abc import Sequence
from typing import Final, Protocol

from cryptography import x509

from usher import errors, paths
from usher.cluster.api import Answer, Lists
from usher.dataclass import dataclass

_ROOT: Final = "/apis/admissionregistration.k8s.io/v1"
_KINDS: Final = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")


class Patches(Lists, Protocol):
    """An API that patches. Each method raises ClusterError without an answer."""

    def patch(self, path: str, operations: Sequence[paths.Object]) -> Answer:
        """The answer to a JSON patch, with any status."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """One webhook configuration, as it was read."""

    path: str
    version: str
    bundles: tuple[bytes, ...]
    """The caBundle of each webhook, in order; empty if it is missing or unreadable."""

    def trusts(self, authority: x509.Certificate) -> bool:
        """Whether each webhook has this CA in its bundle."""
        return all(authority in _certificates(bundle) for bundle in set(self.bundles))


class ChangedError(Exception):
    """Another client changed a configuration after it was read."""


def read(api: Lists, name: str) -> Sequence[Registered]:
    """The existing configurations of this name, of both kinds.

    Raises:
        ClusterError: the API server does not answer, or does not allow it.
    """
    found: list[Registered] = []
    for kind in _KINDS:
        path = f"{_ROOT}/{kind}/{name}"
        answer = api.get(path)
        if answer.status == 404:
            continue
        if answer.status != 200:
            raise errors.ClusterError(f"{path} cannot be read, so its caBundle is not kept right: {answer.message}")
        found.append(_registered(path, answer.value))
    return found


def restore(api: Patches, registered: Registered, bundle: bytes) -> bool:
    """Writes the bundle into each webhook that has another. Returns whether there was one.

    Raises:
        ChangedError: the configuration is not the one that was read.
        ClusterError: the API server does not answer, or does not allow it.
    """
    encoded = base64.b64encode(bundle).decode()
    # The tests make this a compare-and-swap: a replica that read an older Secret cannot undo what a newer one wrote.
    operations: list[paths.Object] = [{"op": "test", "path": "/metadata/resourceVersion", "value": registered.version}]
    operations += [
        {"op": "add", "path": f"/webhooks/{index}/clientConfig/caBundle", "value": encoded}
        for index, present in enumerate(registered.bundles)
        if present != bundle
    ]
    if len(operations) == 1:
        return False
    answer = api.patch(registered.path, operations)
    if answer.status in (404, 409, 422):
        raise ChangedError(answer.message)
    if answer.status != 200:
        raise errors.ClusterError(f"caBundle of {registered.path} cannot be written: {answer.message}")
    return True


def _registered(path: str, value: paths.Object) -> Registered:
    metadata = value.get("metadata")
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    webhooks = value.get("webhooks")
    return Registered(
        path=path,
        version=version if isinstance(version, str) else "",
        bundles=tuple(_bundle(each) for each in webhooks) if isinstance(webhooks, list) else (),
    )


def _bundle(webhook: paths.Json) -> bytes:
    called = webhook.get("clientConfig") if isinstance(webhook, dict) else None
    encoded = called.get("caBundle") if isinstance(called, dict) else None
    try:
        return base64.b64decode(encoded, validate=True) if isinstance(encoded, str) else b""
    except binascii.Error:
        return b""


def _certificates(bundle: bytes) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(bundle)
    except ValueError:
        return []
