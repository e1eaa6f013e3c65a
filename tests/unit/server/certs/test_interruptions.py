"""Writers that fail, are killed or come in crowds: no file is ever half written, and the next run mends the rest."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from unit.server.certs.directories import NAMES, pair_in, snapshot, written
from usher.server.certs import certificates, issue

NOW = datetime(2026, 9, 29, 10, 0, tzinfo=UTC)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "new" / "certs"


def test_of_many_that_start_at_once_one_makes_the_ca_and_all_use_it(directory: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: issue.ensure(directory, names=NAMES, now=NOW), range(8)))
    assert sum(bool(ensured.authority_reason) for ensured in results) == 1
    assert {ensured.leaf for ensured in results} == {pair_in(directory)}


FULL_DISK = """
import resource, sys
from pathlib import Path
from usher.server.certs import issue
from usher.errors import CertificateError

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))
try:
    issue.ensure(Path(sys.argv[1]), names=["localhost"], force=True)
except CertificateError as error:
    sys.exit(str(error))
"""


@pytest.mark.costly
@pytest.mark.full_disk
@pytest.mark.parametrize("largest_file", [0, 100, 700])
def test_a_write_that_fails_midway_leaves_the_old_files_as_they_were(directory: Path, largest_file: int) -> None:
    """A limit on file size stands in for a full disk: no byte, half a key, all but the leaf."""
    written(directory)
    before = snapshot(directory)
    ended = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(directory), str(largest_file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "cannot write ca.crt, ca.key, tls.crt, tls.key: File too large" in ended.stderr
    assert ended.returncode == 1
    assert snapshot(directory) == before


@pytest.mark.parametrize("steps", range(6))
def test_the_next_run_repairs_a_replacement_that_stopped_between_any_two_steps(directory: Path, steps: int) -> None:
    """The steps: the CA's key goes, then ca.crt, ca.key, tls.crt and tls.key come, each by a rename."""
    new = directory.parent / "new-files"
    written(directory, now=NOW)
    written(new, now=NOW)
    if steps > 0:
        (directory / "ca.key").unlink()
    for name in ("ca.crt", "ca.key", "tls.crt", "tls.key")[: max(0, steps - 1)]:
        (new / name).replace(directory / name)

    ensured = issue.ensure(directory, names=NAMES, now=NOW)
    assert pair_in(directory) == ensured.leaf


WRITE_FOR_EVER = """
import sys
from pathlib import Path
from usher.server.certs import issue

while True:
    issue.ensure(Path(sys.argv[1]), names=["localhost"], force=True)
    print(flush=True)
"""


@pytest.mark.costly
@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_run_that_is_killed_leaves_whole_files_which_the_next_run_mends(directory: Path, times: int) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITE_FOR_EVER, str(directory)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        for _ in range(times):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
    for name in ("tls.crt", "ca.crt"):
        certificates.read_certificates((directory / name).read_bytes(), source=directory / name)
    for name in ("tls.key", "ca.key"):
        certificates.private_key((directory / name).read_bytes(), source=directory / name)

    issue.ensure(directory, names=NAMES)
    pair_in(directory)
    issue.ensure(directory, names=NAMES, force=True)
    pair_in(directory)
    assert sorted(path.name for path in directory.iterdir()) == ["ca.crt", "ca.key", "tls.crt", "tls.key"]
