"""A server keeps its own certificate: no call of the API server fails while it is made, renewed, damaged or deleted."""

import base64
import dataclasses
import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Self

import pytest
from cryptography import x509

from e2e import accounts, certificate_site
from e2e.certificate_site import KINDS, NAME, PLACE, SECRET, Site, now, registered, replica
from e2e.cluster import Cluster, wait_until
from server_process import ServerProcess
from usher.server.certs import certificates
from usher.server.certs.certificates import CertificateAuthority, new_authority, new_leaf
from usher.server.certs.managed import OVERLAP, KeptCertificates

PAST = OVERLAP + timedelta(hours=1)
PAUSE = 0.2
"""Seconds between small bursts of calls, once there were enough calls: the rest of the time is for the servers."""


@pytest.fixture(scope="module")
def site(cluster: Cluster) -> Iterator[Site]:
    with certificate_site.site(cluster) as made:
        yield made


@pytest.fixture(scope="class")
def replicas(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ServerProcess]]:
    """Two servers that the API server asks, which found a CA and a leaf that are both due."""
    site.keep(due())
    folder = tmp_path_factory.mktemp("replicas")
    with replica(site, folder / "0") as first, replica(site, folder / "1") as second:
        both = [first, second]
        with registered(site, both):
            wait_until(site.trusted, description="the servers filled caBundle in")
            wait_until(lambda: not site.failures(1), description="the API server asks them")
            yield both


def of_authority(ago: timedelta, *, before: tuple[x509.Certificate, ...] = ()) -> KeptCertificates:
    """The Secret of a CA of some age, with a leaf of the same age."""
    authority = new_authority(now=now() - ago)
    leaf, key = new_leaf(authority, names=PLACE.names, now=now() - ago)
    return KeptCertificates(
        authorities=(authority.certificate, *before), authority_key=authority.key, leaf=leaf, leaf_key=key
    )


def due() -> KeptCertificates:
    """A CA and a leaf that are both due."""
    return with_leaf(of_authority(timedelta(days=250)), timedelta(days=61))


def with_leaf(kept: KeptCertificates, ago: timedelta) -> KeptCertificates:
    """The same with a leaf that was made some time ago."""
    authority = CertificateAuthority(certificate=kept.signer, key=kept.authority_key)
    leaf, key = new_leaf(authority, names=PLACE.names, now=now() - ago)
    return dataclasses.replace(kept, leaf=leaf, leaf_key=key)


def with_authority_added(kept: KeptCertificates, ago: timedelta) -> KeptCertificates:
    """The same as if the CA that signs had been added some time ago: no leaf of it was made yet."""
    authority = new_authority(now=now() - ago)
    return dataclasses.replace(kept, authorities=(authority.certificate, kept.issuer), authority_key=authority.key)


def serving(site: Site, replicas: list[ServerProcess]) -> bool:
    """Whether each server serves the leaf of the Secret, by the metric of its end."""
    expires = site.kept().leaf.not_valid_after_utc.timestamp()
    return all(each.metrics()["usher_certificate_expires_timestamp_seconds{}"] == expires for each in replicas)


class Traffic:
    """Calls from one context to the end of it, at least a number of them."""

    def __init__(self, site: Site, least: int = 200) -> None:
        self._site, self._least, self._end = site, least, threading.Event()
        self._thread = threading.Thread(target=self._call)
        self._opened = site.opened
        self.calls = 0
        self.failures: list[str] = []

    def _call(self) -> None:
        while self.calls < self._least or not self._end.is_set():
            enough = self.calls >= self._least
            burst = certificate_site.BURST // 10 if enough else certificate_site.BURST
            self.failures += self._site.failures(burst)
            self.failures += self._site.failures_of_new_clients(burst)
            self.calls += 2 * burst
            if enough:
                self._end.wait(PAUSE)

    @property
    def opened(self) -> int:
        """Connections since the start."""
        return self._site.opened - self._opened

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._end.set()
        self._thread.join()


def show(text: str) -> None:
    print(f"\n{text}")  # noqa: T201 - pytest -s shows the figures


def renew(site: Site, replicas: list[ServerProcess]) -> None:
    """A new CA, a leaf of it, the end of the old CA, and a further leaf."""
    old = site.kept().issuer
    site.keep(with_authority_added(site.kept(), timedelta(days=70)))
    wait_until(lambda: site.kept().issuer == site.kept().signer, description="the leaf is of the new CA")
    wait_until(lambda: serving(site, replicas), description="both servers serve it")
    assert site.trusted() == [site.kept().signer, old], "the old CA leaves last"

    site.keep(with_leaf(site.kept(), PAST))
    wait_until(lambda: site.trusted() == [site.kept().signer], description="the old CA left caBundle")

    aged = with_leaf(site.kept(), timedelta(days=61))
    site.keep(aged)
    wait_until(lambda: site.kept().leaf != aged.leaf, description="the leaf is renewed")
    wait_until(lambda: serving(site, replicas), description="both servers serve it")


def _secret(site: Site) -> dict[str, Any]:
    return site.cluster.get("Secret", SECRET, namespace=accounts.NAMESPACE)


class TestWhileTheApiServerCalls:
    """Two servers for all tests, which leave them with a certificate that is not due."""

    @pytest.mark.parametrize(
        "calls", [200, pytest.param(400, marks=pytest.mark.thorough), pytest.param(10_000, marks=pytest.mark.slow)]
    )
    def test_no_call_fails_while_ca_and_leaf_are_renewed(
        self, site: Site, replicas: list[ServerProcess], calls: int
    ) -> None:
        """Time is the Secret's: the test writes what it would hold a day later, and the servers do what is due."""
        site.keep(due())
        wait_until(lambda: site.kept().signer != site.kept().issuer, description="the CA was due by its own date")
        wait_until(lambda: serving(site, replicas), description="both servers serve a leaf of the CA before")
        staged = site.kept()
        wait_until(lambda: site.trusted() == [staged.signer, staged.issuer], description="both CAs are trusted")
        wait_until(lambda: not site.failures(1), description="calls succeed")
        renewed = 0
        with Traffic(site, calls) as traffic:
            while not renewed or traffic.calls < calls:
                renew(site, replicas)
                renewed += 1
        show(f"{traffic.calls} calls, {traffic.opened} connections, {renewed} new CAs, {2 * renewed} new certificates")
        assert traffic.failures == []
        assert traffic.calls >= calls
        assert traffic.opened * 2 >= traffic.calls, "half of the calls came with a new connection"

    @pytest.mark.parametrize("bundle", ["", "LS0tCg=="], ids=["emptied", "of another time, as by helm rollback"])
    def test_a_bundle_that_someone_changes_is_restored(
        self, site: Site, replicas: list[ServerProcess], bundle: str
    ) -> None:
        assert replicas
        before = site.trusted()
        patch = [{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle}]
        if bundle:
            # The API server itself refuses what is no certificate, so this is the CA of another.
            authority = of_authority(timedelta())
            patch[0]["value"] = base64.b64encode(authority.bundle).decode()
        for kind in KINDS:
            site.cluster.kubectl("patch", kind, NAME, "--type=json", f"--patch={json.dumps(patch)}")

        wait_until(lambda: site.trusted() == before, description="caBundle is restored", timeout=60)
        wait_until(lambda: not site.failures(1), description="calls succeed")

    def test_a_secret_that_someone_deletes_or_damages_is_made_again_without_a_failed_call(
        self, site: Site, replicas: list[ServerProcess]
    ) -> None:
        before = site.kept()
        with Traffic(site) as traffic:
            site.cluster.delete("Secret", SECRET, namespace=accounts.NAMESPACE)
            wait_until(
                lambda: site.cluster.exists("Secret", SECRET, namespace=accounts.NAMESPACE), description="it is back"
            )
            wait_until(lambda: "data" in _secret(site), description="it has data")
            assert site.kept().signer not in before.authorities
            wait_until(lambda: site.kept().signer in site.trusted(), description="the new CA is in caBundle")
            assert any(certificates.issued_by(before.leaf, each) for each in site.trusted()), (
                "leaves in service stay trusted"
            )
            wait_until(lambda: serving(site, replicas), description="both servers serve the new leaf")

            second = site.kept()
            secret = _secret(site)
            site.cluster.replace({**secret, "data": {**secret["data"], "tls.key": "Z2FyYmFnZQ=="}})
            wait_until(lambda: _secret(site)["data"]["tls.key"] != "Z2FyYmFnZQ==", description="the damage is mended")
            assert site.kept().signer not in second.authorities
            wait_until(lambda: serving(site, replicas), description="both servers serve the new leaf")
        assert traffic.failures == []
        for each in replicas:
            assert "PRIVATE KEY" not in each.log_text

    def test_a_leaf_from_the_future_is_replaced_without_a_failed_call(
        self, site: Site, replicas: list[ServerProcess]
    ) -> None:
        """As a server would leave it whose clock was 100 days ahead."""
        early = with_leaf(site.kept(), -timedelta(days=100))
        with Traffic(site) as traffic:
            site.keep(early)
            wait_until(lambda: site.kept().leaf != early.leaf, description="the leaf is replaced")
            wait_until(lambda: serving(site, replicas), description="both servers serve the new leaf")
        assert traffic.failures == []
        assert site.kept().leaf.not_valid_before_utc < now()
        assert site.kept().authorities == early.authorities
        for each in replicas:
            assert each.admin("/readyz").status == 200
            assert each.metrics()["usher_certificate_good{}"] == 1
            assert abs(each.metrics()["usher_clock_ahead_seconds{}"]) < 2

    @pytest.mark.parametrize("ahead", [timedelta(days=100), timedelta(days=-100)])
    def test_a_server_whose_clock_is_wrong_signs_nothing(
        self, site: Site, replicas: list[ServerProcess], ahead: timedelta
    ) -> None:
        """It compares its clock with the Date of the API server's answers."""
        wait_until(lambda: serving(site, replicas), description="nothing is due")
        version = _secret(site)["metadata"]["resourceVersion"]
        wrong = site.managed(ahead=ahead)

        checked = wrong.check()

        assert "the clock of this server is 100 days" in str(checked.problem)
        assert wrong.unusable == str(checked.problem), "it is not ready"
        assert wrong.leaf == site.kept().leaf
        assert _secret(site)["metadata"]["resourceVersion"] == version


@pytest.mark.parametrize("runs", [5, pytest.param(20, marks=pytest.mark.thorough)])
def test_of_two_replicas_that_start_together_one_makes_the_ca(site: Site, runs: int) -> None:
    with registered(site):
        for _ in range(runs):
            secret = _secret(site)
            secret.pop("data", None)
            site.cluster.replace(secret)
            replicas = [site.managed(), site.managed()]
            threads = [threading.Thread(target=each.check) for each in replicas]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

            assert [each.check().problem for each in replicas] == [None, None]
            version = _secret(site)["metadata"]
            assert [each.leaf for each in replicas] == 2 * [site.kept().leaf]
            assert site.trusted() == [site.kept().signer]
            assert [each.check().reloaded for each in replicas] == [False, False]
            assert _secret(site)["metadata"] == version
