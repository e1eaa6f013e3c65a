"""A year of certificates in milliseconds: when each part is renewed, and which CAs are trusted meanwhile."""

from datetime import datetime, timedelta

import pytest

from unit.server.certs.small_api import Clock
from usher.errors import CertificateError
from usher.server.certs import certificates, managed
from usher.server.certs.certificates import AUTHORITY_LIFETIME, CLOCK_SKEW, LEAF_LIFETIME, made_here, service_names
from usher.server.certs.managed import OVERLAP, KeptCertificates

NAMES = service_names("gpu-usher", namespace="gpu-usher")
START = Clock().now


def fresh(*, now: datetime = START) -> KeptCertificates:
    return managed.advance(None, names=NAMES, now=now, trusted=True)


def later(kept: KeptCertificates | None, now: datetime, *, trusted: bool = True) -> KeptCertificates:
    return managed.advance(kept, names=NAMES, now=now, trusted=trusted)


def test_the_first_pair_has_the_names_of_the_service_and_the_promised_lifetimes() -> None:
    kept = fresh()

    assert certificates.subject_names(kept.leaf) == ["gpu-usher.gpu-usher.svc", "gpu-usher.gpu-usher.svc.cluster.local"]
    assert kept.leaf.not_valid_after_utc - kept.leaf.not_valid_before_utc == LEAF_LIFETIME + CLOCK_SKEW
    assert kept.signer.not_valid_after_utc - kept.signer.not_valid_before_utc == AUTHORITY_LIFETIME + CLOCK_SKEW
    assert made_here(kept.signer)
    assert len({fresh().leaf.serial_number for _ in range(20)} | {0, 1}) == 22


def test_nothing_changes_before_two_thirds_of_the_life_of_the_leaf_are_over() -> None:
    kept = fresh()
    due = START + (LEAF_LIFETIME + CLOCK_SKEW) * 2 / 3 - CLOCK_SKEW

    assert later(kept, due - timedelta(seconds=2)) is kept
    renewed = later(kept, due)
    assert renewed.leaf != kept.leaf
    assert renewed.authorities == kept.authorities
    assert "PRIVATE" not in repr(renewed)


def test_the_ca_is_renewed_by_its_own_date_also_while_the_leaf_is_fresh() -> None:
    """A leaf that was made yesterday must not hide that its CA ends (kyverno#13639)."""
    due = START + (AUTHORITY_LIFETIME + CLOCK_SKEW) * 2 / 3 - CLOCK_SKEW
    kept = later(fresh(), due - timedelta(days=1))
    assert kept.leaf.not_valid_after_utc > due + timedelta(days=80)

    renewed = later(kept, due)

    assert renewed.signer not in kept.authorities
    assert renewed.leaf == kept.leaf


def test_the_new_ca_is_trusted_first_the_leaf_follows_and_the_old_ca_leaves_last() -> None:
    old = later(fresh(), START + timedelta(days=200))
    now = START + timedelta(days=250)
    old = later(old, now - timedelta(days=10))

    staged = later(old, now)
    assert staged.authorities == (staged.signer, old.signer)
    assert later(staged, now + OVERLAP - timedelta(seconds=1)) is staged
    assert later(staged, now + OVERLAP, trusted=False) is staged, "a bundle lacks the new CA"

    switched = later(staged, now + OVERLAP)
    assert switched.issuer == staged.signer
    assert switched.authorities == staged.authorities
    assert later(switched, now + 2 * OVERLAP - timedelta(seconds=1)) is switched

    alone = later(switched, now + 2 * OVERLAP)
    assert alone.authorities == (staged.signer,)
    assert alone.leaf == switched.leaf


@pytest.mark.costly
def test_in_three_years_every_leaf_is_valid_and_its_ca_was_trusted_a_day_before_and_stays_a_day_after() -> None:
    now, kept = START, fresh()
    trusted = {now: set(kept.authorities)}
    shown = {now: (kept.leaf, kept.issuer)}
    step = timedelta(hours=12)
    for _ in range(3 * 365 * 2):
        now += step
        kept = later(kept, now)
        trusted[now], shown[now] = set(kept.authorities), (kept.leaf, kept.issuer)

    for time, (leaf, issuer) in shown.items():
        assert leaf.not_valid_after_utc - time > timedelta(days=29)
        assert issuer.not_valid_after_utc - time > timedelta(days=90)
        for steps in range(-(OVERLAP // step) + 1, OVERLAP // step):
            around = time + steps * step
            if around in trusted and around >= START + OVERLAP:
                assert issuer in trusted[around], (time, around)
    assert len({issuer for _, issuer in shown.values()}) >= 4
    assert max(len(authorities) for authorities in trusted.values()) == 2


def test_after_a_year_of_sleep_all_is_replaced() -> None:
    kept = fresh()

    woken = later(kept, START + timedelta(days=400))

    assert woken.signer not in kept.authorities
    assert len(woken.authorities) == 1


def test_an_expired_leaf_is_replaced_at_once_also_while_the_ca_changes() -> None:
    staged = later(fresh(), START + timedelta(days=250))

    assert staged.leaf.not_valid_after_utc > START + timedelta(days=250)
    assert staged.issuer == staged.signer, "the leaf of the start had expired"


def test_a_leaf_with_other_names_is_replaced() -> None:
    kept = fresh()

    renamed = managed.advance(kept, names=["10.0.0.1"], now=START, trusted=True)

    assert certificates.subject_names(renamed.leaf) == ["10.0.0.1"]
    assert renamed.authorities == kept.authorities


def test_a_ca_from_the_future_is_replaced_and_not_trusted() -> None:
    kept = fresh()

    replaced = later(kept, START - timedelta(hours=1))

    assert kept.signer not in replaced.authorities
    assert not certificates.date_problem(replaced.leaf, now=START - timedelta(hours=1))


def test_a_secret_is_read_as_it_was_written() -> None:
    kept = later(fresh(), START + timedelta(days=250))

    assert managed.read_kept({}, source="Secret") is None
    read = managed.read_kept(kept.data(), source="Secret")
    assert read is not None
    assert read.data() == kept.data()


OF_OTHERS = fresh().data()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"tls.key": b""}, "tls.key is empty"),
        ({"ca.crt": b"x" * 70_000}, "more than 65536 bytes"),
        ({"tls.crt": b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}, "no readable certificate"),
        ({"ca.key": b"no key"}, "no readable private key"),
        ({"ca.key": fresh().data()["ca.key"]}, "does not belong to the first CA"),
        ({"tls.key": fresh().data()["tls.key"]}, "tls.key does not belong"),
        ({part: OF_OTHERS[part] for part in ("ca.crt", "ca.key")}, "no CA of ca.crt signed"),
        ({"ca.crt": fresh().data()["tls.crt"]}, "other than a few CAs"),
    ],
)
def test_a_secret_whose_parts_are_damaged_or_of_others_is_refused(changed: dict[str, bytes], reason: str) -> None:
    with pytest.raises(CertificateError, match=reason) as refused:
        managed.read_kept({**fresh().data(), **changed}, source="Secret gpu-usher/certificates")
    assert "PRIVATE" not in str(refused.value)


def test_a_bundle_of_many_cas_is_refused() -> None:
    kept = fresh()
    many = kept.bundle + b"".join(fresh().bundle for _ in range(4))

    with pytest.raises(CertificateError, match="a few CAs"):
        managed.read_kept({**kept.data(), "ca.crt": many}, source="Secret")
