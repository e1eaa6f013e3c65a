"""A certificate that the replicas of a server make, renew and publish by themselves, without a leader.

Every replica runs the same round. It reads our webhook configurations, then the Secret. It writes due changes if no
other client wrote since. It restores each caBundle, and serves the leaf of the Secret. etcd decides which write came
first.

Everything follows from the certificates, so all replicas come to the same result. A change of the CA takes three steps,
with at least OVERLAP between them: caBundle gets the new CA beside the old one; a leaf of the new CA replaces the leaf;
the old CA leaves caBundle.
"""

import base64
import binascii
import dataclasses
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from msgspec import Struct

from usher import errors, paths
from usher.cluster.api import Lists
from usher.cluster.http_clients import Api, TimedApi
from usher.errors import CertificateError, ClusterError, UsherError
from usher.server.certs import certificates
from usher.server.certs.serving import Checked, ClientAuthorities, Front

_ROOT: Final = "/apis/admissionregistration.k8s.io/v1"
_KINDS: Final = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")


class Registered(Struct, frozen=True, kw_only=True):
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


def read_registered(api: Lists, name: str) -> Sequence[Registered]:
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


def restore_bundle(api: Api, registered: Registered, bundle: bytes) -> bool:
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
    return Registered(
        path=path,
        version=paths.text(paths.metadata(value).get("resourceVersion")),
        bundles=tuple(map(_bundle, paths.elements(value.get("webhooks")))),
    )


def _bundle(webhook: paths.Json) -> bytes:
    encoded = paths.mapping(paths.mapping(webhook).get("clientConfig")).get("caBundle")
    try:
        return base64.b64decode(encoded, validate=True) if isinstance(encoded, str) else b""
    except binascii.Error:
        return b""


def _certificates(bundle: bytes) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(bundle)
    except ValueError:
        return []


_CONFLICTS: Final = (404, 409)


class SecretName(Struct, frozen=True, kw_only=True):
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"Secret {self.namespace}/{self.name}"

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/secrets/{self.name}"


def read_secret(api: Lists, secret: SecretName) -> paths.Object | None:
    """The Secret; None if it does not exist.

    Raises:
        ClusterError: the API server does not answer, or does not allow it.
    """
    answer = api.get(secret.path)
    if answer.status == 404:
        return None
    if answer.status != 200:
        raise errors.ClusterError(f"{secret} cannot be read: {answer.message}")
    return answer.value


def make_empty_secret(api: Api, secret: SecretName) -> None:
    """Makes the Secret without data, if it does not exist; an existing Secret stays unchanged.

    Server-side apply names the object that it creates, so RBAC can allow the creation of this one Secret.

    Raises:
        ClusterError: the API server does not answer, or does not allow it.
    """
    value: paths.Object = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": secret.name, "namespace": secret.namespace},
        "type": "Opaque",
    }
    answer = api.apply(secret.path, value)
    if answer.status not in (200, 201, 409):
        raise errors.ClusterError(f"{secret} is missing and cannot be made: {answer.message}")


def write_secret(api: Api, secret: SecretName, found: paths.Object, data: Mapping[str, bytes]) -> bool:
    """Replaces the data of the Secret as it was read; False if another client wrote or deleted it meanwhile.

    Raises:
        ClusterError: the API server does not answer, or does not allow it.
    """
    encoded: paths.Object = {part: base64.b64encode(content).decode() for part, content in data.items()}
    answer = api.put(secret.path, {**found, "data": encoded})
    if answer.status in _CONFLICTS:
        return False
    if answer.status != 200:
        raise errors.ClusterError(f"{secret} cannot be written: {answer.message}")
    return True


def secret_data(found: paths.Object) -> Mapping[str, bytes]:
    """The parts of a Secret; one that is not base64 is empty."""
    parts = found.get("data")
    return {part: _decoded(value) for part, value in parts.items()} if isinstance(parts, dict) else {}


def _decoded(value: paths.Json) -> bytes:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else b""
    except binascii.Error:
        return b""


OVERLAP: Final = timedelta(hours=24)
"""How long a new CA is trusted before one of its leaves is served, and how long an old one is after that."""

URGENT: Final = timedelta(days=7)
"""A leaf with less time left is replaced even while the CA changes."""

CLOCK_TOLERANCE: Final = certificates.CLOCK_SKEW / 2
"""How far this server's clock may be from the API server's. Certificates are valid from CLOCK_SKEW before they are
made; the other half is for API servers whose clocks differ. Beyond it, a certificate could be useless from the start,
and reservations of quotas, which last about a minute, could end early."""

_MOST_AUTHORITIES: Final = 4
_LONGEST: Final = 64 * 1024
"""Bytes of one part of the Secret; ours have less than 4 KiB."""

_PARTS: Final = (
    certificates.AUTHORITY_CERTIFICATE_FILE,
    certificates.AUTHORITY_KEY_FILE,
    certificates.CERTIFICATE_FILE,
    certificates.KEY_FILE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCertificates:
    """A CA that signs, the leaf in service with its key, and all CAs to trust: the signing one is the first."""

    authorities: tuple[x509.Certificate, ...]
    authority_key: CertificateIssuerPrivateKeyTypes = field(repr=False)
    leaf: x509.Certificate
    leaf_key: CertificateIssuerPrivateKeyTypes = field(repr=False)

    @property
    def signer(self) -> x509.Certificate:
        """The CA that signs the next leaf."""
        return self.authorities[0]

    @property
    def issuer(self) -> x509.Certificate:
        """The CA that signed the leaf."""
        return next(each for each in self.authorities if certificates.issued_by(self.leaf, each))

    @property
    def bundle(self) -> bytes:
        """The CAs to trust, in PEM: the value of caBundle."""
        return b"".join(map(_pem, self.authorities))

    def data(self) -> Mapping[str, bytes]:
        """The parts of the Secret."""
        return {
            certificates.AUTHORITY_CERTIFICATE_FILE: self.bundle,
            certificates.AUTHORITY_KEY_FILE: certificates.private_key_pem(self.authority_key),
            certificates.CERTIFICATE_FILE: _pem(self.leaf),
            certificates.KEY_FILE: certificates.private_key_pem(self.leaf_key),
        }


def read_kept(data: Mapping[str, bytes], *, source: str) -> KeptCertificates | None:
    """The content of a Secret; None if it is empty.

    Raises:
        CertificateError: a part is missing, too large or unreadable, or the parts do not belong together.
    """
    if not any(data.get(part) for part in _PARTS):
        return None
    for part in _PARTS:
        if not 0 < len(data.get(part, b"")) <= _LONGEST:
            raise CertificateError(f"{source}: {part} is empty or has more than {_LONGEST} bytes")
    authorities = tuple(
        certificates.read_certificates(
            data[certificates.AUTHORITY_CERTIFICATE_FILE], source=f"{source}: {certificates.AUTHORITY_CERTIFICATE_FILE}"
        )
    )
    kept = KeptCertificates(
        authorities=authorities,
        authority_key=certificates.private_key(
            data[certificates.AUTHORITY_KEY_FILE], source=f"{source}: {certificates.AUTHORITY_KEY_FILE}"
        ),
        leaf=certificates.read_certificates(
            data[certificates.CERTIFICATE_FILE], source=f"{source}: {certificates.CERTIFICATE_FILE}"
        )[0],
        leaf_key=certificates.private_key(data[certificates.KEY_FILE], source=f"{source}: {certificates.KEY_FILE}"),
    )
    if len(authorities) > _MOST_AUTHORITIES or not all(map(_signs, authorities)):
        raise CertificateError(
            f"{source}: {certificates.AUTHORITY_CERTIFICATE_FILE} holds something other than a few CAs"
        )
    if not certificates.belongs(kept.authority_key, certificate=kept.signer):
        raise CertificateError(
            f"{source}: {certificates.AUTHORITY_KEY_FILE} does not belong to the first CA of "
            f"{certificates.AUTHORITY_CERTIFICATE_FILE}"
        )
    if not certificates.belongs(kept.leaf_key, certificate=kept.leaf):
        raise CertificateError(f"{source}: {certificates.KEY_FILE} does not belong to {certificates.CERTIFICATE_FILE}")
    if not any(certificates.issued_by(kept.leaf, each) for each in authorities):
        raise CertificateError(
            f"{source}: no CA of {certificates.AUTHORITY_CERTIFICATE_FILE} signed {certificates.CERTIFICATE_FILE}"
        )
    return kept


def advance(
    kept: KeptCertificates | None,
    *,
    names: Sequence[str],
    now: datetime,
    trusted: bool,
    before: Sequence[x509.Certificate] = (),
) -> KeptCertificates:
    """The content that the Secret should have at `now`; the same object if no change is due.

    Args:
        kept: its content; None if it is lost.
        names: DNS names and IP addresses that the leaf must have.
        now: the time, by a clock that agrees with the API server's.
        trusted: whether every caBundle holds the CA that signs.
        before: CAs that this server trusted before the content was lost. Their leaves may still be in service.

    Raises:
        CertificateError: a name is unusable.
    """
    if kept is None or not (_is_valid(kept.signer, now) or _serves_until_next_authority(kept, now)):
        return _new_certificates(names, now=now, before=kept.authorities if kept is not None else before)
    staged = _with_new_authority(kept, now=now)
    renewed = _with_new_leaf(staged, names=names, now=now, trusted=trusted and staged is kept)
    return _without_old_authorities(renewed, now=now)


def _new_certificates(names: Sequence[str], *, now: datetime, before: Sequence[x509.Certificate]) -> KeptCertificates:
    authority = certificates.new_authority(now=now)
    leaf, key = certificates.new_leaf(authority, names=names, now=now)
    earlier = [each for each in before if _is_valid(each, now)][: _MOST_AUTHORITIES - 1]
    return KeptCertificates(
        authorities=(authority.certificate, *earlier), authority_key=authority.key, leaf=leaf, leaf_key=key
    )


def _with_new_authority(kept: KeptCertificates, *, now: datetime) -> KeptCertificates:
    if _is_valid(kept.signer, now) and now < certificates.renewal_time(kept.signer):
        return kept
    authority = certificates.new_authority(now=now)
    # The leaf stays; leaves of the other CAs are not in service any more.
    return dataclasses.replace(kept, authorities=(authority.certificate, kept.issuer), authority_key=authority.key)


def _with_new_leaf(kept: KeptCertificates, *, names: Sequence[str], now: datetime, trusted: bool) -> KeptCertificates:
    if not _leaf_is_due(kept, names=names, now=now, trusted=trusted):
        return kept
    authority = certificates.CertificateAuthority(certificate=kept.signer, key=kept.authority_key)
    leaf, key = certificates.new_leaf(authority, names=names, now=now)
    return dataclasses.replace(kept, leaf=leaf, leaf_key=key)


def _leaf_is_due(kept: KeptCertificates, *, names: Sequence[str], now: datetime, trusted: bool) -> bool:
    if set(certificates.canonical_names(names)) != set(certificates.subject_names(kept.leaf)):
        return True
    if kept.leaf.not_valid_after_utc - now < URGENT or now < kept.leaf.not_valid_before_utc:
        return True
    if certificates.issued_by(kept.leaf, kept.signer):
        return now >= certificates.renewal_time(kept.leaf)
    return trusted and now >= _creation_time(kept.signer) + OVERLAP


def _without_old_authorities(kept: KeptCertificates, *, now: datetime) -> KeptCertificates:
    settled = certificates.issued_by(kept.leaf, kept.signer) and now >= _creation_time(kept.leaf) + OVERLAP
    needed = (kept.signer,) if settled else kept.authorities
    left = tuple(each for each in needed if now < each.not_valid_after_utc)
    return kept if left == kept.authorities else dataclasses.replace(kept, authorities=left)


def _is_valid(certificate: x509.Certificate, now: datetime) -> bool:
    return not certificates.date_problem(certificate, now=now)


def _serves_until_next_authority(kept: KeptCertificates, now: datetime) -> bool:
    """Whether the CA that signs is from the future, but the leaf is of an earlier CA, and both are good."""
    signs_later = now < kept.signer.not_valid_before_utc
    return signs_later and _is_valid(kept.issuer, now) and kept.leaf.not_valid_after_utc - now >= URGENT


def _creation_time(certificate: x509.Certificate) -> datetime:
    return certificate.not_valid_before_utc + certificates.CLOCK_SKEW


def _signs(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


PROPAGATION: Final = 5.0
"""Seconds from a caBundle that trusts a CA until a leaf of it is served: each API server must have seen the change."""

_ATTEMPTS: Final = 8
"""How often a round starts again because another replica wrote during it."""


class Place(Struct, frozen=True, kw_only=True):
    """The place of the certificate, the configurations that must trust it, and its names."""

    secret: SecretName
    configurations: str
    """The name of our webhook configurations."""
    names: Sequence[str]
    """DNS names and IP addresses of the server."""


class ManagedCertificate:
    """Keeps CA, leaf and caBundle right, and serves the leaf. It serves nothing before the first round."""

    def __init__(  # noqa: PLR0913 - all but the first two have their defaults
        self,
        api: Api,
        place: Place,
        *,
        clients: Callable[[], ClientAuthorities | None] = lambda: None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        timer: Callable[[], float] = time.monotonic,
        report: Callable[[str, str], None] = lambda _event, _reason: None,
    ) -> None:
        """Takes the API server, the places, and functions for time and logs.

        Args:
            api: the API server, with the right to write the Secret and to patch the configurations.
            place: their names.
            clients: reads the CAs that sign the certificates of clients; None if any client may call.
            timer: seconds, which only grow.
            report: gets the name of an event and its reason.

        Raises:
            CertificateError: a name is unusable, or the CAs of clients cannot be read.
        """
        self._api, self._place = TimedApi(api, clock), place
        self._names = certificates.canonical_names(place.names)
        self._timer, self._report = timer, report
        self._read_clients = clients
        self._front = Front(minimum=ssl.TLSVersion.TLSv1_3, asks_clients=clients() is not None)
        self._kept: KeptCertificates | None = None
        self._trusted_since: dict[int, float] = {}
        self._shown: tuple[x509.Certificate, ClientAuthorities | None] | None = None
        self._shown_issuer: x509.Certificate | None = None
        self._front.show_for_admin(_temporary(self._names, now=clock()), source="the temporary certificate")
        self.context, self.admin_context = self._front.context, self._front.admin_context
        self.problem: UsherError | None = None

    @property
    def leaf(self) -> x509.Certificate | None:
        """The certificate that new connections see."""
        return self._shown[0] if self._shown is not None else None

    @property
    def authority(self) -> x509.Certificate | None:
        """The CA that signs the next leaf."""
        return self._kept.signer if self._kept is not None else None

    @property
    def settled(self) -> bool:
        """Whether the server serves the leaf of the Secret."""
        return self._kept is not None and self.leaf == self._kept.leaf

    @property
    def clock_ahead(self) -> timedelta | None:
        """How far this server's clock is ahead of the API server's; None while that is unknown."""
        return self._api.ahead

    @property
    def unusable(self) -> str:
        """Why API servers do not accept the leaf in service now, or that the clock is wrong; empty if they do."""
        return self._date_problem() or self._api.clock_problem(CLOCK_TOLERANCE)

    def _date_problem(self) -> str:
        """Why the leaf in service, or its CA, is not valid for the API server; empty if both are."""
        for what, certificate in (("certificate", self.leaf), ("CA of the certificate", self._shown_issuer)):
            problem = "" if certificate is None else certificates.date_problem(certificate, now=self._api.now())
            if problem:
                return f"the {what} {problem}"
        return ""

    def check(self) -> Checked:
        """Runs one round. Failures are tried again in the next round; the leaf in service stays."""
        before, self.problem = self._shown, None
        try:
            self._round()
        except (CertificateError, ClusterError) as problem:
            self.problem = problem
        if self.problem is None and (reason := self.unusable):
            self.problem = CertificateError(reason)
        return Checked(reloaded=self._shown != before, problem=self.problem)

    def _round(self) -> None:
        for _ in range(_ATTEMPTS):
            # In this order: a bundle that is newer than our copy of the Secret makes the patch fail.
            registered = read_registered(self._api, self._place.configurations)
            found = read_secret(self._api, self._place.secret)
            if found is None:
                self._report("certificate_secret_missing", f"{self._place.secret} does not exist; usher makes it")
                make_empty_secret(self._api, self._place.secret)
                continue
            kept = self._read_secret(secret_data(found))
            wanted = self._advanced(kept, registered)
            if wanted is not kept and not write_secret(self._api, self._place.secret, found, wanted.data()):
                continue
            self._adopt(wanted, made=wanted is not kept)
            try:
                self._publish(registered, wanted)
            except ChangedError:
                continue
            return
        raise ClusterError(
            f"{self._place.secret} and the webhook configurations {self._place.configurations} changed "
            f"{_ATTEMPTS} times while usher looked at them; something else writes them"
        )

    def _read_secret(self, data: Mapping[str, bytes]) -> KeptCertificates | None:
        try:
            return read_kept(data, source=str(self._place.secret))
        except CertificateError as error:
            self._report("certificate_unusable", f"{error}; usher makes a new one")
            return None

    def _advanced(self, kept: KeptCertificates | None, registered: Sequence[Registered]) -> KeptCertificates:
        before = self._kept.authorities if self._kept is not None else ()
        trusted = kept is not None and all(each.trusts(kept.signer) for each in registered)
        if wrong := self._api.clock_problem(CLOCK_TOLERANCE):
            # A replica with the right clock signs. This one would make certificates that API servers refuse.
            if kept is None:
                raise CertificateError(wrong)
            return kept
        wanted = advance(kept, names=self._names, now=self._api.now(), trusted=trusted, before=before)
        if wanted is not kept and self._api.ahead is None:
            raise CertificateError(f"a certificate is due, but {self._api.name} does not say its time (header Date)")
        return wanted

    def _adopt(self, kept: KeptCertificates, *, made: bool) -> None:
        before = self._kept
        self._kept = kept
        if made and (before is None or before.signer != kept.signer):
            self._report("certificate_authority_made", _described(kept.signer))
        if made and (before is None or before.leaf != kept.leaf):
            self._report("certificate_made", _described(kept.leaf))

    def _publish(self, registered: Sequence[Registered], kept: KeptCertificates) -> None:
        """Restores each caBundle, then shows the leaf if all API servers can trust it."""
        problem: ClusterError | None = None
        for each in registered:
            try:
                if restore_bundle(self._api, each, kept.bundle):
                    self._report("ca_bundle_restored", each.path)
            except ClusterError as error:
                problem = error
        issuer = kept.issuer.serial_number
        if problem is None:
            since = self._trusted_since.get(issuer, self._timer())
            self._trusted_since = {issuer: since}
        if self._may_show(kept):
            self._show(kept)
        if problem is not None:
            raise problem

    def _may_show(self, kept: KeptCertificates) -> bool:
        leaf = self.leaf
        if leaf is None or self._date_problem() or certificates.issued_by(leaf, kept.issuer):
            return True
        since = self._trusted_since.get(kept.issuer.serial_number)
        return since is not None and self._timer() - since >= PROPAGATION

    def _show(self, kept: KeptCertificates) -> None:
        wanted = kept.leaf, self._clients()
        if wanted == self._shown:
            return
        data = kept.data()
        pair = certificates.Pair(
            leaf=kept.leaf, certificate_pem=data[certificates.CERTIFICATE_FILE], key_pem=data[certificates.KEY_FILE]
        )
        self._front.show(pair, clients=wanted[1], source=str(self._place.secret))
        self._shown, self._shown_issuer = wanted, kept.issuer

    def _clients(self) -> ClientAuthorities | None:
        try:
            return self._read_clients()
        except CertificateError as problem:
            if self._shown is None:
                raise
            self.problem = problem
            return self._shown[1]


def _temporary(names: Sequence[str], *, now: datetime) -> certificates.Pair:
    """A pair that no client trusts: it lets probes of a kubelet get an answer while the API server is away."""
    leaf, key = certificates.new_leaf(certificates.new_authority(now=now), names=names, now=now)
    return certificates.Pair(
        leaf=leaf,
        certificate_pem=leaf.public_bytes(serialization.Encoding.PEM),
        key_pem=certificates.private_key_pem(key),
    )


def _described(certificate: x509.Certificate) -> str:
    return f"serial number {certificate.serial_number:x}, until {certificates.moment(certificate.not_valid_after_utc)}"
