"""The real kubectl reads manifests, without a cluster."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

KUBECTL = Path(__file__).parents[3] / ".tools" / "bin" / "kubectl"
needs_kubectl = pytest.mark.skipif(not KUBECTL.exists(), reason="needs .tools/bin/kubectl (scripts/tools)")


class RefusedError(Exception):
    """kubectl takes no such file; the message is its own."""


def sent(files: Sequence[Path]) -> list[Any]:
    """The objects of the files as kubectl would send them: an empty patch changes nothing. `List` kinds are flattened.

    Every object needs a `kind`.
    """
    command: list[str | Path] = [KUBECTL, "patch", "--local", "--type=merge", "--patch={}", "--output=json"]
    command.append("--show-managed-fields")  # the printer leaves them out otherwise; the request does not
    for file in files:
        command += ["--filename", file]
    environment = {"KUBECONFIG": "/dev/null", "HOME": "/nonexistent"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    if done.returncode:
        raise RefusedError(done.stderr)
    return list(_values(done.stdout))


def sent_of(content: str | bytes, directory: Path) -> list[Any]:
    """The same for one file with that content."""
    file = directory / "manifest.yaml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return sent([file])


def same(ours: Any, theirs: Any) -> bool:
    """Equal as JSON: a boolean is not a number, and 1 equals 1.0."""
    return json.dumps(_as_floats(ours), sort_keys=True) == json.dumps(_as_floats(theirs), sort_keys=True)


def _as_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_floats(item) for item in value]
    return float(value) + 0.0 if isinstance(value, int | float) and not isinstance(value, bool) else value


def _values(text: str) -> list[Any]:
    decoder, values, rest = json.JSONDecoder(), [], text.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        values.append(value)
        rest = rest[end:].lstrip()
    return values
