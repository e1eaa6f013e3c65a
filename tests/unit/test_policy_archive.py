"""The archive of compiled policies: read within bounds, and verified before anything in it is read."""

import zipfile

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from hypothesis import example, given
from hypothesis import strategies as st

from usher import errors
from usher.extensions import policy_archive

KEY = ed25519.Ed25519PrivateKey.from_private_bytes(b"k" * 32)
PLAIN = policy_archive.written({"kind": "Test"}, {"policy.wasm": b"module" * 100})
SIGNED = policy_archive.signed(PLAIN, KEY)


def refused(content: bytes) -> str:
    with pytest.raises(errors.InputError) as caught:
        policy_archive.verify(content, KEY.public_key(), source="x.bundle")
    return str(caught.value)


def test_a_signed_archive_is_verified_and_read() -> None:
    policy_archive.verify(SIGNED, KEY.public_key(), source="x.bundle")

    with policy_archive.opened(SIGNED, source="x.bundle") as archive:
        assert policy_archive.manifest(archive, source="x.bundle") == {"kind": "Test"}
        assert policy_archive.entry(archive, "policy.wasm", most=600, source="x.bundle") == b"module" * 100


def test_equal_content_gives_equal_archives_signed_or_not() -> None:
    assert policy_archive.written({"kind": "Test"}, {"policy.wasm": b"module" * 100}) == PLAIN
    assert policy_archive.signed(PLAIN, KEY) == SIGNED


@given(st.integers(0, len(SIGNED) - 1), st.integers(1, 255))
@example(len(SIGNED) - 3, ord("A") ^ ord("B"))  # bits that base64 does not use
def test_no_byte_of_a_signed_archive_can_change(position: int, mask: int) -> None:
    content = bytearray(SIGNED)
    content[position] ^= mask

    assert refused(bytes(content)).startswith("x.bundle: ")


@given(st.binary(min_size=1, max_size=200))
def test_nothing_can_be_added_or_cut(more: bytes) -> None:
    assert refused(SIGNED + more)
    assert refused(more + SIGNED)
    assert refused(SIGNED[: -len(more)])


def test_an_archive_without_a_signature_is_named_as_that() -> None:
    assert "is not signed, and a key to verify was given" in refused(PLAIN)
    assert "is not signed" in refused(b"")


@given(st.binary(max_size=300))
def test_other_bytes_are_refused_by_name(content: bytes) -> None:
    with (
        pytest.raises(errors.InputError, match="not a whole bundle"),
        policy_archive.opened(content, source="x.bundle"),
    ):
        pass


def test_no_more_of_a_file_is_read_than_the_caller_allows() -> None:
    with (
        pytest.raises(errors.InputError, match=r"policy\.wasm has more than 599 bytes"),
        policy_archive.opened(PLAIN, source="x.bundle") as archive,
    ):
        policy_archive.entry(archive, "policy.wasm", most=599, source="x.bundle")


def test_a_file_that_is_missing_is_named() -> None:
    with (
        pytest.raises(errors.InputError, match=r"not a whole bundle of policies .*other\.wasm"),
        policy_archive.opened(PLAIN, source="x.bundle") as archive,
    ):
        policy_archive.entry(archive, "other.wasm", most=1, source="x.bundle")


def test_a_signed_archive_is_still_a_zip_archive() -> None:
    with policy_archive.opened(SIGNED, source="x.bundle") as archive:
        assert isinstance(archive, zipfile.ZipFile)
        assert archive.testzip() is None
