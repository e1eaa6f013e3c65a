"""Parts in object stores: by fsspec, atomic as seen by readers, and without credentials in messages."""

import threading
from pathlib import Path

import pytest

from builders import fleets
from unit.audit.store import written
from usher import errors
from usher.audit.document.fleet_document import Fleet
from usher.audit.store import audit_parts, part_stores
from usher.audit.store.part_stores import ObjectStore

pytestmark = pytest.mark.costly


def test_parts_of_an_object_store_are_merged(tmp_path: Path) -> None:
    place = f"memory://{tmp_path.name}-parts/run-1"
    audits = [fleets.cluster(seed) for seed in (1, 2)]
    for each in audits:
        written.part(place, each)

    assert audit_parts.is_done(part_stores.store_at(place), written.key(audits[0]))
    assert written.merged(place).summary.workloads == 80


def test_folders_and_object_stores_are_merged_together(tmp_path: Path) -> None:
    place = f"memory://{tmp_path.name}-mixed"
    written.part(place, fleets.cluster(1))
    written.part(tmp_path, fleets.cluster(2))

    assert written.merged(place, tmp_path.as_uri()).summary.clusters == 2


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "", "a//b", "a\\b", "a/./b", "x\0y"])
@pytest.mark.parametrize("scheme", ["", "memory://"])
def test_names_never_leave_the_folder(tmp_path: Path, scheme: str, name: str) -> None:
    store = part_stores.store_at(f"{scheme}{tmp_path}/inside")

    with pytest.raises(errors.InputError, match="not the name of a file"):
        store.write(name, b"")
    with pytest.raises(errors.InputError, match="not the name of a file"):
        store.chunks(name, most=1)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("s3://AKIA:secret@bucket/audits?token=secret", "s3fs"),
        ("gs://user:secret@bucket/x", "gcsfs"),
        ("abfs://user:secret@account/x", "adlfs"),
        ("smb2://user:secret@host/x", "does not know smb2://"),
    ],
)
def test_a_missing_library_is_named_and_credentials_are_not(url: str, says: str) -> None:
    with pytest.raises(errors.InputError, match=says) as raised:
        part_stores.store_at(url)

    assert "secret" not in str(raised.value)
    assert "AKIA" not in str(raised.value)


def test_the_text_of_a_library_never_reaches_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    store = ObjectStore("memory://place")

    def fail(*_: object, **__: object) -> None:
        raise PermissionError("signature of AKIA with secret does not match")

    monkeypatch.setattr(type(store._files), "pipe_file", fail)
    with pytest.raises(errors.InputError, match="PermissionError of the library for memory://") as raised:
        store.write("a", b"")

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (FileNotFoundError("bucket secret"), "mend the URL, or create the bucket; usher never creates one"),
        (PermissionError("key secret"), "look at the credentials, and at their right to list"),
        (type("NoCredentialsError", (Exception,), {})("secret"), "give credentials by variables"),
        (type("EndpointConnectionError", (Exception,), {})("secret"), "look whether its endpoint can be reached"),
        (ValueError("secret"), "look at the URL, the credentials and the endpoint"),
    ],
)
def test_a_store_that_cannot_be_listed_is_an_error_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, error: Exception, says: str
) -> None:
    """Libraries leave folders out that they cannot list, unless they are told otherwise."""
    store = ObjectStore("memory://listed")

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(type(store._files), "ls", fail)
    with pytest.raises(errors.InputError, match=says) as raised:
        list(store.find("record.json"))

    assert str(raised.value).startswith("memory://listed: usher cannot list it")
    assert "secret" not in str(raised.value)


def test_an_unreachable_store_ends_a_run_before_its_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is missing or refused does not: a store may let its writers read nothing."""
    store, key = ObjectStore("memory://unreachable"), written.key(fleets.cluster(1))

    def failing(error: Exception) -> None:
        def fail(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(type(store._files), "cat_file", fail)

    for error in (FileNotFoundError(), PermissionError(), OSError(5, "reset")):
        failing(error)
        assert not audit_parts.is_done(store, key)
    failing(ConnectionError())
    with pytest.raises(errors.InputError, match="usher cannot read it"):
        audit_parts.is_done(store, key)


def test_no_bucket_is_made_for_a_name_with_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """`makedirs` of s3fs makes a bucket that is missing."""
    store = ObjectStore("memory://bucket")
    made: list[str] = []
    monkeypatch.setattr(type(store._files), "makedirs", lambda _self, path, **_: made.append(path))
    monkeypatch.setattr(store, "_driver", "s3fs")

    store.write("a/b", b"content")

    assert made == []
    assert part_stores.read_file(store, "a/b", most=100) == b"content"


@pytest.mark.parametrize("most", [9, 64 << 20])
def test_a_file_is_read_by_one_request_or_as_a_stream(most: int) -> None:
    store = ObjectStore("memory://sizes")
    store.write("a", b"0123456789")

    if most < 10:
        with pytest.raises(OSError, match="more than 9 bytes"):
            part_stores.read_file(store, "a", most=most)
    else:
        assert part_stores.read_file(store, "a", most=most) == b"0123456789"


def test_readers_see_the_old_or_the_new_content(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b"
    contents = {bytes([each]) * 200_000 for each in range(4)}
    part_stores.replace_file(file, min(contents))
    done = threading.Event()

    def write() -> None:
        for _ in range(10):
            for content in contents:
                part_stores.replace_file(file, content)
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not done.is_set():
        assert file.read_bytes() in contents
    thread.join()
    assert [each.name for each in file.parent.iterdir()] == ["b"]


def test_two_merges_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    written.shards(tmp_path, fleets.cluster(1), 3)
    found: list[Fleet] = []
    threads = [threading.Thread(target=lambda: found.append(written.merged(tmp_path))) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len(found) == 2
    assert found[0] == found[1] == written.merged(tmp_path)


def test_a_search_goes_only_so_deep(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*"abcdef")
    deep.mkdir(parents=True)
    for folder in (tmp_path, deep.parent, deep):
        (folder / "record.json").write_text("{}")

    assert list(part_stores.store_at(str(tmp_path)).find("record.json")) == ["record.json", "a/b/c/d/e/record.json"]
