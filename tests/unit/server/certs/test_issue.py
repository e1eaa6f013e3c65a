"""A directory of certificates over the years: which files usher makes, keeps, renews, and never touches."""

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from unit.server.certs.directories import (
    NAMES,
    authorities_in,
    authority_of_others,
    pair_in,
    snapshot,
    write_authority,
    write_pair,
    written,
)
from unit.server.certs.handshakes import client_context, listening, serial_seen
from usher.errors import CertificateError
from usher.server.certs import certificates, issue
from usher.server.certs.certificates import new_authority, renewal_time
from usher.server.certs.serving import Reloader

NOW = datetime(2026, 9, 29, 10, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "new" / "certs"


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_an_empty_place_gets_a_ca_and_a_certificate(directory: Path) -> None:
    ensured = issue.ensure(directory, names=NAMES, now=NOW)

    assert ensured.authority_reason == "there was no CA with its key"
    assert ensured.leaf_reason == "there was no readable serving certificate"
    assert sorted(path.name for path in directory.iterdir()) == ["ca.crt", "ca.key", "tls.crt", "tls.key"]
    assert pair_in(directory) == ensured.leaf
    assert authorities_in(directory) == list(ensured.authorities)


def test_tls_crt_holds_the_leaf_alone_and_ca_crt_the_ca(directory: Path) -> None:
    issued = written(directory)
    found = certificates.read_certificates((directory / "tls.crt").read_bytes(), source=directory / "tls.crt")
    assert found == [issued.leaf]
    assert authorities_in(directory) == [issued.authority.certificate]


@pytest.mark.usefixtures("open_umask")
def test_keys_are_readable_by_their_owner_alone_whatever_the_umask(directory: Path) -> None:
    issue.ensure(directory, names=NAMES, now=NOW)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}
    assert modes == {"ca.crt": 0o644, "ca.key": 0o600, "tls.crt": 0o644, "tls.key": 0o600}
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_a_key_that_was_open_to_others_is_closed_when_it_is_replaced(directory: Path) -> None:
    written(directory)
    (directory / "tls.key").chmod(0o644)
    written(directory)
    assert stat.S_IMODE((directory / "tls.key").stat().st_mode) == 0o600


def test_nothing_is_touched_while_all_is_good(directory: Path) -> None:
    first = issue.ensure(directory, names=NAMES, now=NOW)
    before = snapshot(directory)
    second = issue.ensure(directory, names=NAMES[:1], now=renewal_time(first.leaf) - SECOND)

    assert snapshot(directory) == before
    assert (second.authority_reason, second.leaf_reason) == ("", "")
    assert second.leaf == first.leaf
    assert second.authorities == first.authorities


def test_the_leaf_is_renewed_at_two_thirds_of_its_life_under_the_same_ca(directory: Path) -> None:
    first = issue.ensure(directory, names=NAMES, now=NOW)
    authority_files = {name: content for name, content in snapshot(directory).items() if name.startswith("ca.")}
    second = issue.ensure(directory, names=NAMES, now=renewal_time(first.leaf))

    assert second.leaf_reason == "two thirds of its life were over on 2026-11-28 09:58 UTC"
    assert second.leaf.serial_number != first.leaf.serial_number
    assert pair_in(directory) == second.leaf
    assert {name: content for name, content in snapshot(directory).items() if name.startswith("ca.")} == authority_files


def test_a_new_name_needs_a_new_leaf(directory: Path) -> None:
    issue.ensure(directory, names=NAMES, now=NOW)
    ensured = issue.ensure(directory, names=[*NAMES, "B.example", "::1"], now=NOW)
    assert ensured.leaf_reason == "it lacked ::1, b.example"
    assert certificates.subject_names(pair_in(directory)) == ["localhost", "b.example", "127.0.0.1", "::1"]


def test_the_ca_is_renewed_by_its_own_date_while_the_leaf_is_fresh(directory: Path) -> None:
    authority = new_authority(now=NOW)
    due = renewal_time(authority.certificate)
    written(directory, now=due - SECOND, authority=authority)
    assert issue.ensure(directory, names=NAMES, now=due - SECOND).leaf_reason == ""

    ensured = issue.ensure(directory, names=NAMES, now=due)

    assert ensured.authority_reason.startswith("two thirds of its life")
    assert ensured.leaf_reason == "its CA is new"
    assert certificates.issued_by(pair_in(directory), ensured.authorities[0])


def test_both_cas_are_trusted_until_the_earlier_one_expires(directory: Path) -> None:
    first = issue.ensure(directory, names=NAMES, now=NOW)
    due = renewal_time(first.authorities[0])
    second = issue.ensure(directory, names=NAMES, now=due)
    assert authorities_in(directory) == [second.authorities[0], first.authorities[0]]

    third = issue.ensure(directory, names=NAMES, now=renewal_time(second.authorities[0]))
    assert authorities_in(directory) == [third.authorities[0], second.authorities[0]]


async def test_clients_with_the_new_bundle_accept_the_old_leaf_and_the_new_one(directory: Path) -> None:
    now = datetime.now(UTC)
    old = written(directory / "old", authority=new_authority(now=now - timedelta(days=250)))
    for name in ("ca.crt", "ca.key"):
        (directory / name).write_bytes((directory / "old" / name).read_bytes())
    new = issue.ensure(directory, names=NAMES, now=now)
    client = client_context(*authorities_in(directory))

    for place, leaf in ((directory / "old", old.leaf), (directory, new.leaf)):
        async with listening(Reloader(place / "tls.crt", place / "tls.key").context) as port:
            assert await serial_seen(port, client) == leaf.serial_number


def test_looked_at_every_week_for_three_years_the_pair_is_good_at_every_look(directory: Path) -> None:
    authorities = set()
    for week in range(156):
        now = NOW + timedelta(weeks=week)
        ensured = issue.ensure(directory, names=NAMES, now=now)
        signer = next(one for one in ensured.authorities if certificates.issued_by(ensured.leaf, one))
        assert now < ensured.leaf.not_valid_after_utc - timedelta(days=21)
        assert ensured.leaf.not_valid_after_utc <= signer.not_valid_after_utc
        authorities.add(signer.serial_number)
    assert pair_in(directory) == ensured.leaf
    assert len(authorities) == 5


@pytest.mark.parametrize("later", [timedelta(days=91), timedelta(days=400), timedelta(hours=-1)])
def test_a_directory_forgotten_too_long_or_made_by_a_fast_clock_is_made_good(directory: Path, later: timedelta) -> None:
    written(directory, now=NOW)
    ensured = issue.ensure(directory, names=NAMES, now=NOW + later)
    assert ensured.leaf_reason
    certificates.check_dates(pair_in(directory), source=directory, now=NOW + later)


@pytest.mark.parametrize("name", ["tls.crt", "tls.key"])
@pytest.mark.parametrize("damage", ["missing", "empty", "another's"])
def test_a_damaged_pair_is_mended(directory: Path, name: str, damage: str) -> None:
    issued = written(directory, now=NOW)
    path = directory / name
    if damage == "missing":
        path.unlink()
    else:
        other = issue.issue(names=NAMES, certificate_authority=issued.authority, now=NOW)
        path.write_bytes(b"" if damage == "empty" else other.files[name])

    ensured = issue.ensure(directory, names=NAMES, now=NOW)

    assert ensured.authority_reason == ""
    assert ensured.leaf_reason
    assert pair_in(directory) == ensured.leaf


def test_a_leaf_of_a_ca_that_was_replaced_is_replaced(directory: Path) -> None:
    written(directory, now=NOW)
    write_authority(directory, new_authority(now=NOW))
    assert issue.ensure(directory, names=NAMES, now=NOW).leaf_reason == "no CA in ca.crt had signed it"
    pair_in(directory)


def test_without_the_key_of_the_ca_a_valid_leaf_is_kept(directory: Path) -> None:
    issued = written(directory, now=NOW)
    (directory / "ca.key").unlink()
    before = snapshot(directory)
    assert issue.ensure(directory, names=NAMES, now=NOW).leaf == issued.leaf
    assert snapshot(directory) == before


async def test_a_ca_of_others_signs_while_it_is_valid(directory: Path) -> None:
    now = datetime.now(UTC)
    authority = authority_of_others(now=now)
    write_authority(directory, authority)
    before = snapshot(directory)
    ensured = issue.ensure(directory, names=NAMES)

    assert ensured.authority_reason == ""
    assert certificates.issued_by(ensured.leaf, authority.certificate)
    assert {name: snapshot(directory)[name] for name in before} == before
    client = client_context(authority.certificate, strict=False)
    async with listening(Reloader(directory / "tls.crt", directory / "tls.key").context) as port:
        assert await serial_seen(port, client) == ensured.leaf.serial_number


def test_a_ca_of_others_is_used_to_its_last_day_and_never_replaced(directory: Path) -> None:
    authority = authority_of_others(now=NOW, lifetime=timedelta(days=30))
    write_authority(directory, authority)
    late = issue.ensure(directory, names=NAMES, now=NOW + timedelta(days=29))
    assert late.leaf.not_valid_after_utc == authority.certificate.not_valid_after_utc
    before = snapshot(directory)

    with pytest.raises(CertificateError, match=r"ca\.key cannot be recognised as made by usher"):
        issue.ensure(directory, names=NAMES, now=NOW + timedelta(days=30))
    assert snapshot(directory) == before


@pytest.mark.parametrize("ca", [False, None])
def test_a_certificate_that_is_not_a_ca_signs_nothing(directory: Path, *, ca: bool | None) -> None:
    write_authority(directory, authority_of_others(now=NOW, ca=ca))
    with pytest.raises(CertificateError, match=r"ca\.key cannot be recognised"):
        issue.ensure(directory, names=NAMES, now=NOW)


@pytest.mark.parametrize(
    "present", [{"ca.key": b"not a key"}, {"ca.crt": b"of others"}, {"tls.key": b"a key"}, {"tls.crt": b"of others"}]
)
def test_unrecognised_files_are_replaced_only_by_force(directory: Path, present: dict[str, bytes]) -> None:
    directory.mkdir(parents=True)
    for name, content in present.items():
        (directory / name).write_bytes(content)
    with pytest.raises(CertificateError, match="move the files away, choose another directory, or use --force"):
        issue.ensure(directory, names=NAMES, now=NOW)
    assert {name: content for name, (content, _) in snapshot(directory).items()} == present

    issue.ensure(directory, names=NAMES, now=NOW, force=True)
    pair_in(directory)


def test_a_certificate_of_others_is_not_replaced_though_the_ca_is_ours(directory: Path) -> None:
    written(directory, now=NOW)
    other = issue.issue(names=NAMES, certificate_authority=authority_of_others(now=NOW), now=NOW)
    write_pair(directory, other)
    with pytest.raises(CertificateError, match=r"tls\.crt and tls\.key cannot be recognised"):
        issue.ensure(directory, names=NAMES, now=NOW)


def test_a_mounted_secret_of_others_is_kept_until_it_expires(directory: Path) -> None:
    authority = authority_of_others(now=NOW)
    other = issue.issue(names=NAMES, certificate_authority=authority, now=NOW)
    write_pair(directory, other)
    write_authority(directory, authority, key=False)
    before = snapshot(directory)

    assert issue.ensure(directory, names=NAMES, now=NOW + timedelta(days=89)).leaf == other.leaf
    with pytest.raises(CertificateError, match="cannot be recognised"):
        issue.ensure(directory, names=NAMES, now=NOW + timedelta(days=90))
    assert snapshot(directory) == before


def test_write_refuses_to_replace_the_key_of_another_ca(directory: Path) -> None:
    write_authority(directory, authority_of_others(now=NOW))
    before = snapshot(directory)
    issued = issue.issue(names=NAMES, certificate_authority=None, now=NOW)
    with pytest.raises(CertificateError, match=r"ca\.key"):
        issue.write_issued(directory, issued)
    assert snapshot(directory) == before


def test_force_makes_all_files_again_and_trusts_no_old_authority(directory: Path) -> None:
    first = issue.ensure(directory, names=NAMES, now=NOW)
    second = issue.ensure(directory, names=NAMES, now=NOW, force=True)
    assert second.authority_reason == "asked for"
    assert first.authorities[0] not in authorities_in(directory)
    assert pair_in(directory) != first.leaf


def test_an_unusable_name_leaves_no_trace(directory: Path) -> None:
    with pytest.raises(CertificateError, match="'a b' is neither"):
        issue.ensure(directory, names=["a b"], now=NOW)
    assert not directory.exists()


def test_a_directory_that_is_a_file_is_named(directory: Path) -> None:
    directory.parent.mkdir(parents=True)
    directory.write_text("")
    with pytest.raises(CertificateError, match="cannot be used as a directory"):
        issue.ensure(directory, names=NAMES, now=NOW)


def test_the_ca_alone_is_kept_for_leaves_that_live_elsewhere(directory: Path) -> None:
    first = issue.ensure_authority(directory, now=NOW)
    assert sorted(path.name for path in directory.iterdir()) == ["ca.crt", "ca.key"]
    assert issue.ensure_authority(directory, now=NOW).authority.certificate == first.authority.certificate

    due = renewal_time(first.authority.certificate)
    second = issue.ensure_authority(directory, now=due)
    issued = issue.issue(names=NAMES, certificate_authority=second.authority, earlier=second.earlier, now=due)
    assert authorities_in(directory) == [second.authority.certificate, first.authority.certificate]
    assert issued.files["ca.crt"] == (directory / "ca.crt").read_bytes()


def test_the_ca_alone_of_others_is_not_replaced(directory: Path) -> None:
    write_authority(directory, authority_of_others(now=NOW, lifetime=timedelta(days=1)))
    with pytest.raises(CertificateError, match=r"ca\.key cannot be recognised"):
        issue.ensure_authority(directory, now=NOW + timedelta(days=2))
