"""The cache directory: made for the user alone, and never used where others could have written."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from usher.extensions import installed_programs


@pytest.fixture(params=[0o002, 0o022, 0o077, 0o000], ids=oct)
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("_umask")
def test_every_folder_that_is_made_is_the_users_own_whatever_the_umask_is(tmp_path: Path) -> None:
    folder = tmp_path / ".cache" / "gpu-usher" / "gatekeeper"

    installed_programs.make_cache_folder(folder)

    for each in (folder, *folder.parents[:2]):
        assert stat.S_IMODE(each.stat().st_mode) == 0o700
        assert installed_programs.belongs_to_user(each)


@pytest.mark.usefixtures("_umask")
def test_a_module_that_comes_first_leaves_a_directory_that_others_use(tmp_path: Path) -> None:
    """The verdicts of `usher check` and modules of policies share the directory, in any order."""
    cache = tmp_path / "cache"

    installed_programs.made_once(lambda: b"module", of="source", cache=cache / "own-checks")

    assert installed_programs.belongs_to_user(cache)


def test_a_module_is_made_once(tmp_path: Path) -> None:
    made = list[str]()

    def module() -> bytes:
        made.append("once")
        return b"module"

    assert [installed_programs.made_once(module, of="source", cache=tmp_path / "cache") for _ in range(3)] == [
        b"module"
    ] * 3
    assert made == ["once"]


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o777], ids=oct)
def test_a_file_that_others_may_write_to_is_not_the_users_own(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "module"
    file.write_bytes(b"module")
    file.chmod(mode)

    assert not installed_programs.belongs_to_user(file)


def test_a_module_that_others_could_have_written_is_made_again(tmp_path: Path) -> None:
    installed_programs.made_once(lambda: b"theirs", of="source", cache=tmp_path)
    for file in tmp_path.iterdir():
        file.chmod(0o666)

    assert installed_programs.made_once(lambda: b"ours", of="source", cache=tmp_path) == b"ours"


def test_a_link_is_never_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)

    assert not installed_programs.belongs_to_user(tmp_path / "link")


def test_the_directory_is_the_one_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(installed_programs.CACHE_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert installed_programs.cache_directory() == tmp_path / "xdg" / "gpu-usher"

    monkeypatch.setenv(installed_programs.CACHE_VARIABLE, str(tmp_path / "given"))
    assert installed_programs.cache_directory() == tmp_path / "given"
