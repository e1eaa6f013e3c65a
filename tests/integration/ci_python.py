"""A `python3` for the scripts of CI systems: its environments have the packages of the tests, and pip only writes.

pip writes down its arguments. Where it was asked for gpu-usher, the sources of this checkout count as installed, and
usher is a fork (forked_server.py).
"""

import shlex
import sys
import sysconfig
from pathlib import Path
from typing import Final

import forked_server

ROOT: Final = Path(__file__).parents[2]

_PYTHON: Final = """#!/bin/sh
[ "$2 $3" = "-m venv" ] || exec {python} "$@"
for folder; do :; done
{python} -I -m venv --without-pip "$folder"
for site in "$folder"/lib/python*/site-packages; do echo {packages} >"$site/dependencies.pth"; done
mv "$folder/bin/python" "$folder/bin/real"
cp {pip} "$folder/bin/python"
"""

_PIP: Final = """#!/bin/sh
here=$(dirname "$0")
[ "$1 $2 $3" = "-I -m usher" ] && [ -e "$here/installed" ] && {{ shift 3; exec {usher} "$@"; }}
[ "$2 $3" = "-m pip" ] || exec "$here/real" "$@"
echo "$*" >>{log}
case "$*" in *gpu-usher==*)
  for site in "$here"/../lib/python*/site-packages; do echo {sources} >"$site/sources.pth"; done
  touch "$here/installed"
esac
"""


def write(home: Path) -> None:
    """Writes `bin/python3` in a folder."""
    python, pip = home / "bin" / "python3", home / "bin" / "pip-that-writes"
    python.parent.mkdir(parents=True, exist_ok=True)
    parts = {
        "log": home / "pip.log",
        "packages": sysconfig.get_path("purelib"),
        "pip": pip,
        "python": sys.executable,
        "sources": ROOT / "webhooks",
    }
    quoted = {name: shlex.quote(str(part)) for name, part in parts.items()}
    for file, text in ((python, _PYTHON), (pip, _PIP)):
        file.write_text(text.format(**quoted, usher=forked_server.shell_command()))
        file.chmod(0o755)


def asked_of_pip(home: Path) -> list[str]:
    """The arguments of each call of pip."""
    log = home / "pip.log"
    return log.read_text().splitlines() if log.exists() else []
