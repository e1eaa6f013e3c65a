"""A certificate that the replicas of a server make, renew and publish by themselves, without a leader.

Every replica runs the same round. It reads our webhook configurations, then the Secret. It writes due changes if no
other client wrote since. It restores each caBundle, and serves the leaf of the Secret. etcd decides which write came
first.
"""

import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Protocol

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from usher.certs import bundles, pem, rotation, secret
from usher.certs.authority import canonical_names, new_authority, new_leaf, private_key_pem
from usher.certs.bundles import ChangedError, Patches, Registered
from usher.certs.contents import CERTIFICATE, KEY
from usher.certs.contexts import Clients, Front
from usher.certs.rotation import Kept
from usher.certs.secret import SecretName, Writes
from usher.certs.serving import Checked
from usher.dataclass import dataclass
from usher.errors import CertificateError, ClusterError, UsherError

PROPAGATION: Final = 5.0
"""Seconds from a caBundle that trusts a CA until a leaf of it is served: each API server must have seen the change."""

_ATTEMPTS: Final = 8
"""How often a round starts again because another replica wrote during it."""


class Api(Patches, Writes, Protocol):
    """The API server requests that a round needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
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
        clients: Callable[[], Clients | None] = lambda: None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        timer: Callable[[], float] = time.monotonic,
        report: Callable[[str, str], None] = lambda _event, _reason: None,
    ) -> None:
        """Takes the API server, the places, and functions for time and logs.

        Args:
            api: the API server, with the right to write the Secret and to patch the configurations.
            place: their names.
            clients: reads the CAs that sign the certificates of clients; None if any client may call.
            clock: the time.
            timer: seconds, which only grow.
            report: gets the name of an event and its reason.

        Raises:
            CertificateError: a name is unusable, or the CAs of clients cannot be read.
        """
        self._api, self._place = api, place
        self._names = canonical_names(place.names)
        self._clock, self._timer, self._report = clock, timer, report
        self._read_clients = clients
        self._front = Front(minimum=ssl.TLSVersion.TLSv1_3, asks_clients=clients() is not None)
        self._kept: Kept | None = None
        self._trusted_since: dict[int, float] = {}
        self._shown: tuple[x509.Certificate, Clients | None] | None = None
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

    def check(self) -> Checked:
        """Runs one round. Failures are tried again in the next round; the leaf in service stays."""
        before, self.problem = self._shown, None
        try:
            self._round()
        except (CertificateError, ClusterError) as problem:
            self.problem = problem
        return Checked(reloaded=self._shown != before, problem=self.problem)

    def _round(self) -> None:
        for _ in range(_ATTEMPTS):
            # In this order: a bundle that is newer than our copy of the Secret makes the patch fail.
            registered = bundles.read(self._api, self._place.configurations)
            found = secret.read(self._api, self._place.secret)
            if found is None:
                self._report("certificate_secret_missing", f"{self._place.secret} does not exist; usher makes it")
                secret.make_empty(self._api, self._place.secret)
                continue
            kept = self._read(secret.data(found))
            wanted = self._advanced(kept, registered)
            if wanted is not kept and not secret.write(self._api, self._place.secret, found, wanted.data()):
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

    def _read(self, data: Mapping[str, bytes]) -> Kept | None:
        try:
            return rotation.read(data, source=str(self._place.secret))
        except CertificateError as error:
            self._report("certificate_unusable", f"{error}; usher makes a new one")
            return None

    def _advanced(self, kept: Kept | None, registered: Sequence[Registered]) -> Kept:
        before = self._kept.authorities if self._kept is not None else ()
        trusted = kept is not None and all(each.trusts(kept.signer) for each in registered)
        return rotation.advanced(kept, names=self._names, now=self._clock(), trusted=trusted, before=before)

    def _adopt(self, kept: Kept, *, made: bool) -> None:
        before = self._kept
        self._kept = kept
        if made and (before is None or before.signer != kept.signer):
            self._report("certificate_authority_made", _of(kept.signer))
        if made and (before is None or before.leaf != kept.leaf):
            self._report("certificate_made", _of(kept.leaf))

    def _publish(self, registered: Sequence[Registered], kept: Kept) -> None:
        """Restores each caBundle, then shows the leaf if all API servers can trust it."""
        problem: ClusterError | None = None
        for each in registered:
            try:
                if bundles.restore(self._api, each, kept.bundle):
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

    def _may_show(self, kept: Kept) -> bool:
        leaf = self.leaf
        if leaf is None or self._clock() >= leaf.not_valid_after_utc or pem.issued_by(leaf, kept.issuer):
            return True
        since = self._trusted_since.get(kept.issuer.serial_number)
        return since is not None and self._timer() - since >= PROPAGATION

    def _show(self, kept: Kept) -> None:
        wanted = kept.leaf, self._clients()
        if wanted == self._shown:
            return
        data = kept.data()
        pair = pem.Pair(leaf=kept.leaf, certificate_pem=data[CERTIFICATE], key_pem=data[KEY])
        self._front.show(pair, clients=wanted[1], source=str(self._place.secret))
        self._shown = wanted

    def _clients(self) -> Clients | None:
        try:
            return self._read_clients()
        except CertificateError as problem:
            if self._shown is None:
                raise
            self.problem = problem
            return self._shown[1]


def _temporary(names: Sequence[str], *, now: datetime) -> pem.Pair:
    """A pair that no client trusts: it lets probes of a kubelet get an answer while the API server is away."""
    leaf, key = new_leaf(new_authority(now=now), names=names, now=now)
    return pem.Pair(
        leaf=leaf, certificate_pem=leaf.public_bytes(serialization.Encoding.PEM), key_pem=private_key_pem(key)
    )


def _of(certificate: x509.Certificate) -> str:
    return f"serial number {certificate.serial_number:x}, until {pem.moment(certificate.not_valid_after_utc)}"
