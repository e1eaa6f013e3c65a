"""Parts in object stores: by fsspec, atomic as seen by readers, and without credentials in messages."""

import threading
from pathlib import Path

import pytest

from builders import fleets
from unit.fleet import written
from usher import errors
from usher.audit.document.fleet import Fleet
from usher.fleet import local_files, parts, stores


def test_parts_of_an_object_store_are_merged(tmp_path: Path) -> None:
    place = f"memory://{tmp_path.name}-parts/run-1"
    audits = [fleets.cluster(seed) for seed in (1, 2)]
    for each in audits:
        written.part(place, each)

    assert parts.is_done(stores.of(place), written.key(audits[0]))
    assert written.merged(place).summary.workloads == 80


def test_folders_and_object_stores_are_merged_together(tmp_path: Path) -> None:
    place = f"memory://{tmp_path.name}-mixed"
    written.part(place, fleets.cluster(1))
    written.part(tmp_path, fleets.cluster(2))

    assert written.merged(place, tmp_path.as_uri()).summary.clusters == 2


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "", "a//b", "a\\b", "a/./b", "x\0y"])
@pytest.mark.parametrize("scheme", ["", "memory://"])
def test_names_never_leave_the_folder(tmp_path: Path, scheme: str, name: str) -> None:
    store = stores.of(f"{scheme}{tmp_path}/inside")

    with pytest.raises(errors.InputError, match="not the name of a file"):
        store.write(name, b"")
    with pytest.raises(errors.InputError, match="not the name of a file"):
        store.open(name)


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
        stores.of(url)

    assert "secret" not in str(raised.value)
    assert "AKIA" not in str(raised.value)


def test_the_text_of_a_library_never_reaches_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    store = stores.RemoteStore("memory://place")

    def fail(*_: object, **__: object) -> None:
        raise PermissionError("signature of AKIA with secret does not match")

    monkeypatch.setattr(type(store._files), "pipe_file", fail)
    with pytest.raises(errors.InputError, match="PermissionError of the library for memory://") as raised:
        store.write("a", b"")

    assert "secret" not in str(raised.value)


def test_readers_see_the_old_or_the_new_content(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b"
    contents = {bytes([each]) * 200_000 for each in range(4)}
    local_files.replace(file, min(contents))
    done = threading.Event()

    def write() -> None:
        for _ in range(10):
            for content in contents:
                local_files.replace(file, content)
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

    assert list(stores.of(str(tmp_path)).find("record.json")) == ["record.json", "a/b/c/d/e/record.json"]
