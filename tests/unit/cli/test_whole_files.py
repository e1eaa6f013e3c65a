"""Files are replaced as a whole: on a full disk, and where one of several cannot be written, the old ones stay."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from usher import errors
from usher.cli import output

pytestmark = pytest.mark.costly

SMALL, LARGE = 1_000, 100_000
FULL_DISK = f"""
import resource, signal, sys
from pathlib import Path
from usher.cli import output
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({LARGE // 2}, {LARGE // 2}))
given = zip(sys.argv[1::2], map(int, sys.argv[2::2]))
new = [output.WholeFile(path=Path(name), content=bytes(size)) for name, size in given]
output.replace_files(new, what="report")
"""


def written(path: Path, content: bytes) -> output.WholeFile:
    return output.WholeFile(path=path, content=content)


def on_a_full_disk(*files: str | int, folder: Path) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-c", FULL_DISK, *map(str, files)]
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)


def test_a_file_gets_its_new_content_and_keeps_its_permissions(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_bytes(b"old")
    report.chmod(0o640)

    output.replace_file(report, b"new", what="report")

    assert report.read_bytes() == b"new"
    assert report.stat().st_mode & 0o777 == 0o640


@pytest.mark.full_disk
def test_a_full_disk_leaves_every_old_report_and_no_other_file(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(b"old")

    run = on_a_full_disk("a.json", SMALL, "b.json", LARGE, folder=tmp_path)

    assert run.returncode == 1
    assert "b.json: the report cannot be written: File too large" in run.stderr
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"a.json": b"old", "b.json": b"old"}


@pytest.mark.full_disk
def test_what_fits_on_the_disk_is_written(tmp_path: Path) -> None:
    run = on_a_full_disk("a.json", SMALL, "b.json", SMALL, folder=tmp_path)

    assert run.returncode == 0, run.stderr
    assert {each.name: each.stat().st_size for each in tmp_path.iterdir()} == {"a.json": SMALL, "b.json": SMALL}


def test_where_one_folder_is_missing_the_other_files_stay_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"old")

    with pytest.raises(errors.InputError, match=r"gone/b\.json: the report cannot be written: No such file"):
        output.replace_files(
            [written(tmp_path / "a.json", b"new"), written(tmp_path / "gone/b.json", b"new")], what="report"
        )

    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_bytes() == b"old"


def test_a_link_stays_a_link_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_bytes(b"old")
    (tmp_path / "link.json").symlink_to("real.json")

    output.replace_file(tmp_path / "link.json", b"new", what="report")

    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == b"new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE)

    output.replace_file(tmp_path / "pipe", b"new", what="report")

    assert reader.communicate()[0] == b"new"


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(errors.InputError, match="the verdicts cannot be written: Is a directory"):
        output.replace_file(tmp_path, b"new", what="verdicts")
