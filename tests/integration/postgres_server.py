"""A PostgreSQL server of a test's own: on a socket in a folder, without a network, gone at the end."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

BOUND: Final = 60
"""Seconds."""
PASSWORD: Final = "corr%40ct horse/battery"


def programs() -> Path | None:
    """The folder of the programs of PostgreSQL, of Debian's newest version or in PATH; None without."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda each: int(each.parts[-3]))
    found = str(debian[-1]) if debian else shutil.which("initdb")
    return Path(found).parent if found else None


@contextlib.contextmanager
def running() -> Iterator[str]:
    """The URL of a server, without its password, which is PASSWORD."""
    folder = programs()
    assert folder is not None
    # A path of a socket is short, and the server of root's tests belongs to another user.
    with tempfile.TemporaryDirectory(prefix="pg-") as name:
        home = Path(name)
        home.chmod(0o755)
        (home / "password").write_text(PASSWORD)
        data = home / "data"
        data.mkdir()
        as_user: list[str | Path] = [*_user(home, data)]
        options: list[str | Path] = [
            "--auth=scram-sha-256",
            "--username=usher",
            f"--pwfile={home / 'password'}",
            "--no-sync",
        ]
        subprocess.run(
            [*as_user, folder / "initdb", "-D", data, *options], check=True, capture_output=True, timeout=BOUND
        )
        settings = f"-c listen_addresses='' -c unix_socket_directories={data} -c fsync=off"
        control = [*as_user, folder / "pg_ctl", "-D", data, "-w"]
        started = [*control, "-l", data / "log", "-o", settings, "start"]
        subprocess.run(started, check=True, stdout=subprocess.DEVNULL, timeout=BOUND)
        try:
            yield f"postgresql://usher@/postgres?host={data}"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, capture_output=True, timeout=BOUND)


def _user(*given: Path) -> list[str]:
    """A prefix of commands: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    for each in given:
        shutil.chown(each, "nobody", "nogroup")
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
