"""Runs the job of templates/usher-check.yml as GitLab does: it writes inputs into the text, and sh runs the scripts."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from integration import ci_python, command

FILE: Final = Path(__file__).parents[2] / "templates/usher-check.yml"
_INPUT: Final = re.compile(r"\$\[\[ *inputs\.([\w-]+) *\]\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    code: int
    log: str


def spec() -> Any:
    """The inputs by name."""
    return next(yaml.safe_load_all(FILE.read_text()))["spec"]["inputs"]


def job(**inputs: object) -> Any:
    """The job that GitLab reads; `_` in names of inputs is `-`.

    Raises:
        ValueError: an input is missing, unknown, or not what its definition allows.
    """
    given = {name.replace("_", "-"): value for name, value in inputs.items()}
    values = {name: _value(given.pop(name, about.get("default")), about, name) for name, about in spec().items()}
    if given:
        raise ValueError(f"unknown inputs: {sorted(given)}")
    body = FILE.read_text().partition("\n---\n")[2]
    ((_, found),) = yaml.safe_load(_INPUT.sub(lambda used: values[used[1]], body)).items()
    return found


def _value(given: object, about: Any, name: str) -> str:
    if given is None:
        raise ValueError(f"{name} is missing")
    text = str(given).lower() if isinstance(given, bool) else str(given)
    if isinstance(given, bool) != (about.get("type") == "boolean"):
        raise ValueError(f"{name} has another type")
    if text not in about.get("options", [text]) or not re.search(about.get("regex", ""), text):
        raise ValueError(f"{name} is not allowed to be {text!r}")
    return text


def run(found: Any, home: Path, **predefined: str) -> Ended:
    """Runs the scripts of a job in `checkout` with variables that GitLab defines."""
    (home / "checkout").mkdir(parents=True, exist_ok=True)
    ci_python.write(home)
    variables = {
        name: value["value"] if isinstance(value, dict) else value for name, value in found["variables"].items()
    }
    environment = command.environment(HOME=str(home), TMPDIR=str(home), **predefined, **variables)
    done = subprocess.run(
        ["sh", "-e", "-c", "\n".join([*found["before_script"], *found["script"]])],
        cwd=home / "checkout",
        env={**environment, "PATH": f"{home / 'bin'}:{environment['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    return Ended(code=done.returncode, log=done.stdout)
