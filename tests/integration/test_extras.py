"""Installed without extras: which commands work, and what the others say."""

import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Final

import pytest

from integration import command
from integration.command import BAD_EXAMPLE, EXAMPLES
from usher.cli.main import COMMANDS, EXTRAS

pytestmark = pytest.mark.process

_PROJECT: Final = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def _distributions(lines: list[str]) -> set[str]:
    return {re.split(r"[<>=!~\[; (]", line)[0].lower() for line in lines}


_OPTIONAL: Final[dict[str, list[str]]] = _PROJECT["optional-dependencies"]
_BROUGHT: Final = _distributions([line for lines in _OPTIONAL.values() for line in lines])
_ABSENT: Final = ["requests", "starlette", "lsprotocol"] + [
    module
    for module, distributions in metadata.packages_distributions().items()
    if _BROUGHT & {name.lower() for name in distributions}
]
"""Modules that only extras bring."""

_WITHOUT: Final = """
import contextlib, io, json, os, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

absent, runs = (json.loads(argument) for argument in sys.argv[1:])
sys.meta_path.insert(0, Absent())
from usher.cli import main
shown = []
for arguments, variables in runs:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        os.environ.update(variables)
        try:
            main.main(arguments)
        except SystemExit as ended:
            shown.append([ended.code, *(stream.buffer.getvalue().decode() for stream in (out, err))])
        for name in variables:
            del os.environ[name]
json.dump(shown, sys.stdout)
"""


def run(*commands: list[str], cwd: Path, variables: dict[str, str] | None = None) -> list[tuple[int, str, str]]:
    """Exit code, output and errors of each command, all in one process, where no extra is installed."""
    runs = [(arguments, variables or {}) for arguments in commands]
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, json.dumps(_ABSENT), json.dumps(runs)],
        cwd=cwd,
        # Coverage would import more.
        env={name: value for name, value in command.environment().items() if "COVERAGE_" not in name},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [(code, out, err) for code, out, err in json.loads(done.stdout)]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with an usher.yaml."""
    (tmp_path / "usher.yaml").write_text("apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n")
    return tmp_path


_NEED: Final = [
    (["audit"], "kubernetes", "cluster"),
    (["audit", "--demo", "--serve", "8090"], "structlog", "server"),
    (["check", BAD_EXAMPLE, "--facts", "live"], "kubernetes", "cluster"),
    (["check", BAD_EXAMPLE, "--engine", "opa"], "opa_client", "opa"),
    (["explain", BAD_EXAMPLE, "--facts", "live"], "kubernetes", "cluster"),
    (["fix", BAD_EXAMPLE, "--facts", "live"], "kubernetes", "cluster"),
    (["init", "--facts", "live", "-o", "site.yaml"], "kubernetes", "cluster"),
    (["lsp"], "lsprotocol", "lsp"),
    (["portal", "queue", "-f", BAD_EXAMPLE], "kubernetes", "cluster"),
    (["preflight"], "kubernetes", "cluster"),
    (["queue", BAD_EXAMPLE, "--facts", "live"], "kubernetes", "cluster"),
    (["replay", "--facts", "live", "--against", "usher.yaml"], "kubernetes", "cluster"),
    (["serve", "--dev"], "structlog", "server"),
    (["snapshot", "-o", "facts.json.gz"], "kubernetes", "cluster"),
    (["uninstall", "--yes"], "kubernetes", "cluster"),
]

_WORK: Final = [
    (["check", BAD_EXAMPLE], 1),
    (["check", BAD_EXAMPLE, "--format", "github", "--format", "sarif=usher.sarif"], 1),
    (["fix", BAD_EXAMPLE, "--dry-run"], 1),
    (["explain", "USH103"], 0),
    (["explain", BAD_EXAMPLE], 0),
    (["audit", "--demo", "--format", "html=demo.html", "--format", "prometheus=demo.prom"], 0),
    (["audit", str(EXAMPLES)], 0),
    (["replay", BAD_EXAMPLE, "--against", "usher.yaml"], 0),
    (["queue", BAD_EXAMPLE, "--facts", str(EXAMPLES), "--allow-unknown"], 0),
    (["workload", "show", BAD_EXAMPLE], 0),
    (["policies", "list"], 0),
    (["config", "check", "usher.yaml"], 0),
    (["certs", "issue", "--dir", "certificates"], 0),
    (["manifests", "webhooks"], 0),
    (["completion", "bash"], 0),
]


def test_a_command_names_the_library_that_it_needs_and_the_extra_that_brings_it(site: Path) -> None:
    ended = run(*(arguments for arguments, _, _ in _NEED), cwd=site)

    assert ended == [
        (2, "", f"usher: usher {arguments[0]} needs the library {library} for this: pip install 'gpu-usher[{extra}]'\n")
        for arguments, library, extra in _NEED
    ]


def test_commands_about_files_need_no_extra(site: Path) -> None:
    ended = run(*(arguments for arguments, _ in _WORK), cwd=site)

    shown = [(arguments, code, err) for (arguments, _), (code, _, err) in zip(_WORK, ended, strict=True)]
    assert [each for each, (_, expected) in zip(shown, _WORK, strict=True) if each[1] != expected] == []


def test_each_command_but_that_of_the_server_shows_its_help(site: Path) -> None:
    ended = run(*([name, "--help"] for name in COMMANDS), cwd=site)

    assert [name for name, (code, _, _) in zip(COMMANDS, ended, strict=True) if code != 0] == ["serve"]


@pytest.mark.parametrize(("name", "expected"), [("audit", "plain,--serve"), ("serve", "")])
def test_completion_has_no_traceback_where_an_extra_is_absent(site: Path, name: str, expected: str) -> None:
    asked = {"_USHER_COMPLETE": "bash_complete", "COMP_WORDS": f"usher {name} --serve", "COMP_CWORD": "2"}

    ((code, out, err),) = run([], cwd=site, variables=asked)

    assert (code, err) == (0, "")
    assert expected in out


def test_each_extra_that_commands_need_at_once_has_its_libraries_named() -> None:
    said_by_their_code = {"fleet", "history-postgres", "report", "tracing"}
    optional = {name: lines for name, lines in _OPTIONAL.items() if name not in said_by_their_code}
    provided = metadata.packages_distributions()

    for extra, lines in optional.items():
        modules = [module for module, brought_by in EXTRAS.items() if brought_by == extra]
        named = {name.lower() for module in modules for name in provided[module]}
        assert _distributions(lines) - {"kubernetes"} <= named, extra
    assert set(EXTRAS.values()) == optional.keys()
