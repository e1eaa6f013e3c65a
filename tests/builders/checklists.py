"""The production checklist of clusters that a test describes."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from builders.estates import NOW
from builders.standings import knowledge
from usher import paths
from usher.audit import readiness
from usher.audit.document import ReadinessItem
from usher.audit.estate import Estate
from usher.config import models
from usher.kinds.kind import Key


def checklist(
    estate: Estate,
    facts: Iterable[paths.Object] = (),
    *,
    config: models.Config | None = None,
    without: Iterable[Key] = (),
    server: str = "v1.36.2",
) -> dict[str, ReadinessItem]:
    """All items by id; `without` are kinds of facts that are known and have no object."""
    known = knowledge(facts, config=config, without=without)
    found = readiness.items(estate, known, config=known.config, now=NOW, server_version=server)
    return {each.id: each for each in found}


def definitions(*names: str) -> list[paths.Object]:
    """CustomResourceDefinitions, by their names."""
    version = "apiextensions.k8s.io/v1"
    return [{"apiVersion": version, "kind": "CustomResourceDefinition", "metadata": {"name": name}} for name in names]


def ca_certificate(*, days: int) -> bytes:
    """A CA certificate that ends so many days after `NOW`, as PEM."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    end: datetime = NOW + timedelta(days=days)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(datetime(2020, 1, 1, tzinfo=UTC)).not_valid_after(end)
    return made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
