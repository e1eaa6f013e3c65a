"""One check or mutation by itself, in seconds: format, types, the portable subset, tests. Run it as scripts/rego NAME.

It works in a temporary copy with the libraries that it imports, so that neither the rest of the bundle nor anything
generated is touched or needed; only its own files are formatted in place.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import build_examples
import build_policies
import orjson
import pydantic

from usher.policy.checks import catalogue, metadata
from usher.policy.input import document as input_document

_LIBRARY: Final = re.compile(r"\bdata\.usher\.lib\.(\w+)")
_PARAMETER: Final = re.compile(r"\bparameters\.(\w+)\.(\w+)\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A check in a folder of its own, with the arguments of opa to check and to test it."""

    code: str
    rule: Path
    examples: int
    check: tuple[str, ...]
    test: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opa", type=Path, required=True)
    parser.add_argument("--policies", type=Path, required=True)
    parser.add_argument("key", help="category/name, as in the folders")
    arguments = parser.parse_args()
    policies: Path = arguments.policies
    folder = next((found for found in policies.glob(f"usher/*/{arguments.key}") if found.is_dir()), None)
    if folder is None:
        sys.exit(f"there is no check or mutation {arguments.key}; `usher policies new CATEGORY NAME` begins one")
    run(arguments.opa, "fmt", "--write", str(folder))
    with tempfile.TemporaryDirectory() as directory:
        trial = prepare(policies, folder, Path(directory))
        run(arguments.opa, *trial.check)
        run(arguments.opa, *trial.test, "--var-values", "--verbose")
        covered = json.loads(run(arguments.opa, *trial.test, "--coverage", "--format", "json"))["files"]
    for file, lines in covered.items():
        missed = [span["start"]["row"] for span in lines.get("not_covered", [])]
        if file.endswith(f"/{trial.rule.name}") and missed:
            sys.exit(f"{folder / trial.rule.name}: no test reaches line {', '.join(map(str, missed))}")
    print(f"{trial.code} {arguments.key}: {trial.examples} examples, all tests pass")


def prepare(policies: Path, folder: Path, copy: Path) -> Trial:
    """Copies a check with its libraries into an empty folder, and writes the generated files for it there."""
    own = copy / folder.relative_to(policies)
    shutil.copytree(folder, own)
    copy_libraries(policies, libraries(policies, own.glob("*.rego")), copy)
    entry = metadata.read_entry(copy, own / f"{own.name}.rego")
    texts = [file.read_text(encoding="utf-8") for file in copy.glob("usher/**/*.rego")]
    others = [each for each in parametrised(policies, texts) if each.key != entry.key]
    keys = {word: each.key for each in (entry, *others) for word in (each.code, each.name, *each.aliases)}
    # A mutation has no parameters, but may read those of a check.
    checks = [each for each in (entry, *others) if each.severity is not None]
    (copy / "usher" / "lib" / "parameters.rego").write_text(metadata.parameters_rego(checks))
    (copy / "schemas").mkdir()
    schema = pydantic.TypeAdapter(input_document.Input).json_schema()
    (copy / "schemas" / "input.json").write_text(json.dumps(build_policies.closed(schema)))
    examples = build_examples.examples(own, keys)
    kind, category, name = own.relative_to(copy / "usher").parts
    (copy / "examples.json").write_bytes(orjson.dumps({"examples": {kind: {category: {name: examples}}}}))
    sources = str(copy / "usher")
    return Trial(
        code=entry.code,
        rule=own / f"{name}.rego",
        examples=len(examples),
        check=(
            "check", "--strict", "--schema", str(copy / "schemas"), "--capabilities",
            str(policies / "capabilities.json"), "--ignore", "*_test.rego", "--ignore", "*.yaml", sources,
        ),
        test=(
            "test", "--ignore", "*.yaml", "--run", rf"^data\.usher\.{kind}\.{category}\.{name}_test\.", sources,
            str(copy / "examples.json"),
        ),
    )  # fmt: skip


def parametrised(policies: Path, texts: Iterable[str]) -> list[catalogue.Entry]:
    """The checks whose parameters these Rego files read."""
    read = sorted({found for text in texts for found in _PARAMETER.findall(text)})
    files = [policies / "usher" / "checks" / category / name / f"{name}.rego" for category, name in read]
    return [metadata.read_entry(policies, file) for file in files]


def libraries(policies: Path, files: Iterable[Path]) -> set[str]:
    """The names of all libraries that these files use, directly or through another one."""
    found: set[str] = set()
    waiting = [name for file in files for name in _LIBRARY.findall(file.read_text(encoding="utf-8"))]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            text = (policies / "usher" / "lib" / f"{name}.rego").read_text(encoding="utf-8")
            waiting.extend(_LIBRARY.findall(text))
    return found


def copy_libraries(policies: Path, names: Iterable[str], copy: Path) -> None:
    (copy / "usher" / "lib").mkdir(parents=True)
    for name in names:
        shutil.copy(policies / "usher" / "lib" / f"{name}.rego", copy / "usher" / "lib")


def run(opa: Path, *arguments: str) -> str:
    result = subprocess.run([opa, *arguments], check=False, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"opa {arguments[0]} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


if __name__ == "__main__":
    main()
