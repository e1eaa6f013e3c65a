"""Makes the folder of a new check, with a template of each file that the author must fill in."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from usher import errors
from usher.policy.checks import catalogue

_STEP: Final = 100
"""Each category has its own block of codes."""


def next_code(category: str, entries: Iterable[catalogue.Entry]) -> str:
    """The next free code of a category; a new category begins in the next unused hundred."""
    numbers: dict[str, list[int]] = {}
    taken: set[int] = set()
    for entry in entries:
        numbers.setdefault(entry.category, []).append(entry.number)
        taken.update(int(code.removeprefix("USH")) for code in entry.codes)
    own = numbers.get(category)
    number = max(own) + 1 if own else (max(taken, default=0) // _STEP + 1) * _STEP + 1
    while number in taken:
        number += 1
    return f"USH{number}"


def files(category: str, name: str, code: str) -> Mapping[str, str]:
    """The files of a new check, by their paths within its folder.

    Raises:
        InputError: the category or the name cannot name a folder and a Rego package.
    """
    for text in (category, name):
        if not text.isascii() or not text.isidentifier() or text != text.lower():
            raise errors.InputError(f"{text!r}: write small letters, digits and underscores, like gpus_per_workload")
    values = {"category": category, "name": name, "code": code}
    return {
        f"{name}.rego": _fill(_RULE, values),
        f"{name}_test.rego": _fill(_TEST, values),
        "examples/bad_pod.yaml": _fill(_EXAMPLE, {**values, "gpus": "9"}),
        "examples/good_pod.yaml": _fill(_EXAMPLE, {**values, "gpus": "8"}),
    }


def write(folder: Path, contents: Mapping[str, str]) -> None:
    """Writes the files.

    Raises:
        InputError: the folder exists already, or cannot be written.
    """
    if folder.exists():
        raise errors.InputError(f"{folder} is there already; choose another name")
    try:
        for path, text in contents.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise errors.InputError(f"{folder}: cannot be written: {error.strerror}") from None


def _fill(template: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        template = template.replace(f"<{name}>", value)
    return template


_RULE: Final = """\
# METADATA
# title: What must be, in one line
# description: |
#   What goes wrong otherwise, for whom, and how the rule decides; what the rule skips and why.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/
#     description: Where it is written
# schemas:
#   - input: schema.input
# custom:
#   code: <code>
#   about: accelerator pods
#   severity: medium
#   why: Why it matters, in one line.
#   parameters:
#     maximum:
#       default: 8
#       description: What a site may set in usher.yaml.
#   remediation: What to do about it.
package usher.checks.<category>.<name>

import data.usher.lib.parameters
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some name, number in pod_set.accelerators
	number > parameters.<category>.<name>.maximum

	finding := {
		"path": pod_set.specPath,
		"message": $"{workload.pod_set_name(pod_set)} asks for {number} of {name}",
		"remedy": "ask for fewer",
	}
}
"""

_TEST: Final = """\
package usher.checks.<category>.<name>_test

import data.examples.checks.<category>.<name> as examples
import data.usher.checks.<category>.<name> as check

test_what_is_wrong_is_found if {
	check.deny == {{
		"path": "/spec",
		"message": "the pod asks for 9 of nvidia.com/gpu",
		"remedy": "ask for fewer",
	}} with input as examples.bad_pod
}

test_what_is_right_is_good if {
	check.deny == set() with input as examples.good_pod
}
"""

_EXAMPLE: Final = """\
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: research-nlp
spec:
  containers:
    - name: trainer
      image: registry.example.com/trainer:1
      resources:
        limits:
          nvidia.com/gpu: <gpus>
"""
