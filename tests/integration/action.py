"""Runs the steps of action.yml as a runner of GitHub does: in bash, with the inputs in the environment.

`python3` is the one of integration.ci_python: pip only writes down its arguments.
"""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

import forked_server
from integration import ci_python, command

ROOT: Final = Path(__file__).parents[2]
_EXPRESSION: Final = re.compile(r"\$\{\{ *inputs\.([\w-]+) *\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    code: int
    log: str
    outputs: dict[str, str]
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """A machine that runs steps in a checkout."""

    home: Path
    base: str = ""
    """The commit that GitHub names as the base of a pull request."""

    @property
    def checkout(self) -> Path:
        return self.home / "checkout"

    @property
    def asked_of_pip(self) -> list[str]:
        return ci_python.asked_of_pip(self.home)

    def steps(self, *numbers: int, **inputs: str) -> Ended:
        """Runs steps of the action, or all, up to the first that fails; `_` in names of inputs is `-`."""
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        described = definition()["inputs"]
        assert set(given) <= set(described)
        values = {name: given.get(name, about["default"]) for name, about in described.items()}
        log = ""
        for name in ("output", "summary"):
            (self.home / name).write_text("")
        for number, step in enumerate(definition()["runs"]["steps"]):
            if numbers and number not in numbers:
                continue
            done = self._step(step, values)
            log += done.stdout + done.stderr
            if done.returncode:
                break
        lines = (self.home / "output").read_text().splitlines()
        return Ended(
            code=done.returncode,
            log=log,
            outputs=dict(line.split("=", 1) for line in lines),
            summary=(self.home / "summary").read_text(),
        )

    def _step(self, step: Mapping[str, Any], inputs: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        assert step["shell"] == "bash"
        script = self.home / "step.sh"
        script.write_text(step["run"])
        environment = command.environment(
            HOME=str(self.home),
            RUNNER_TEMP=str(self.home),
            GITHUB_ACTION_PATH=str(ROOT),
            GITHUB_OUTPUT=str(self.home / "output"),
            GITHUB_STEP_SUMMARY=str(self.home / "summary"),
            **{
                name: self.base if "github.event." in text else _EXPRESSION.sub(lambda found: inputs[found[1]], text)
                for name, text in step["env"].items()
            },
        )
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.checkout,
            env={**environment, "PATH": f"{self.home / 'bin'}:{environment['PATH']}"},
            capture_output=True,
            text=True,
            errors="backslashreplace",
            check=False,
            timeout=120,
        )


def definition() -> Any:
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def runner(home: Path, *, installed: bool = True) -> Runner:
    """A runner with an empty checkout; `installed`: the action has installed usher already."""
    (home / "checkout").mkdir(parents=True)
    ci_python.write(home)
    if installed:
        program = home / "gpu-usher" / "bin" / "python"
        program.parent.mkdir(parents=True)
        # The action runs `python -I -m usher`, and other modules to install it.
        forked = f'[ "$1 $2 $3" = "-I -m usher" ] && {{ shift 3; exec {forked_server.shell_command()} "$@"; }}'
        program.write_text(f'#!/bin/sh\n{forked}\nexec {shlex.quote(sys.executable)} "$@"\n')
        program.chmod(0o755)
        (home / "gpu-usher" / "installed").write_text(f"{ROOT}\n")
    return Runner(home=home)


MISSING: Final = shutil.which("bash") is None
