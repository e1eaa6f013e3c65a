"""Builds the files that follow from the Rego sources: capabilities, input schema, policy.wasm, catalogue, digests.

Run it through scripts/policies, which provides the pinned opa.
"""

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import orjson
import pydantic
import quicken_module

from usher.policy.checks import catalogue, metadata
from usher.policy.engines.engine import Entrypoint
from usher.policy.input import document as input_document

# Functions that OPA compiles to WebAssembly natively (internal/compiler/wasm/wasm.go), without two: print has no
# output here, and walk costs more than a check may.
NATIVE = """
abs and array.concat array.flatten array.reverse array.slice assign base64.decode base64.encode base64.is_valid
base64url.decode base64url.encode bits.and bits.lsh bits.negate bits.or bits.rsh bits.xor ceil concat contains count
div endswith eq equal floor format_int glob.match graph.reachable gt gte indexof internal.member_2 internal.member_3
internal.template_string intersection is_array is_boolean is_null is_number is_object is_set is_string json.filter
json.is_valid json.marshal json.remove json.unmarshal lower lt lte max min minus mul neq net.cidr_contains
net.cidr_intersects numbers.range object.filter object.get object.keys object.remove object.union object.union_n or
plus product regex.find_all_string_submatch_n regex.is_valid regex.match rem replace round sort split startswith
strings.replace_n strings.reverse substring sum to_number trim trim_left trim_prefix trim_right trim_space
trim_suffix type_name union upper
""".split()  # noqa: SIM905 - ninety quoted names would be harder to read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opa", type=Path, required=True)
    parser.add_argument(
        "--binaryen",
        type=Path,
        help="the folder of its library; without it the module is not optimised, and where it is missing, not built",
    )
    parser.add_argument("--policies", type=Path, required=True)
    arguments = parser.parse_args()
    policies: Path = arguments.policies
    write_json(policies / "capabilities.json", capabilities(arguments.opa))
    schema = pydantic.TypeAdapter(input_document.Input).json_schema()
    (policies / "schemas").mkdir(exist_ok=True)
    write_json(policies / "schemas" / "input.json", closed(schema))
    entries = metadata.read_entries(policies)
    refuse_unknown_kinds(entries["checks"])
    generate_rego_files(arguments.opa, policies, entries)
    write_json(
        policies / catalogue.CATALOGUE,
        {kind: [entry.model_dump(mode="json") for entry in entries[kind]] for kind in entries},
    )
    (policies / catalogue.REVISION_FILE).write_text(revision_rule(policies), encoding="utf-8")
    if arguments.binaryen is None or arguments.binaryen.is_dir():
        numbers = {
            f"{kind}.{entry.key.replace('/', '.')}.{rule}": catalogue.number_in_table(entry)
            for kind, rule in (("checks", "deny"), ("mutations", "intents"))
            for entry in entries[kind]
        }
        (policies / catalogue.WASM).write_bytes(wasm(arguments.opa, arguments.binaryen, policies, numbers))
    files = catalogue.digests(catalogue.contents(policies))
    write_json(policies / catalogue.MANIFEST, {"opa": opa_version(arguments.opa), "files": files})
    print(f"{sum(map(len, entries.values()))} checks and mutations, revision {catalogue.revision(files)}")


def generate_rego_files(opa: Path, policies: Path, entries: dict[str, list[catalogue.Entry]]) -> None:
    """The Rego that follows from the METADATA, formatted as opa fmt would."""
    rules_of = {
        entry.key: metadata.rule_names(
            (policies / "usher" / kind / entry.key / f"{entry.key.partition('/')[2]}.rego").read_text(encoding="utf-8")
        )
        for kind in entries
        for entry in entries[kind]
    }
    dispatch = policies / "usher" / "main" / "dispatch.rego"
    dispatch.write_text(metadata.dispatch_rego(entries["checks"], entries["mutations"], rules_of), encoding="utf-8")
    parameters = policies / "usher" / "lib" / "parameters.rego"
    parameters.write_text(metadata.parameters_rego(entries["checks"]), encoding="utf-8")
    run(opa, "fmt", "--write", str(dispatch), str(parameters))


def refuse_unknown_kinds(checks: list[catalogue.Entry]) -> None:
    for entry in checks:
        if problem := metadata.problem_of_kinds(entry):
            sys.exit(f"checks/{entry.key}: {problem}")


def write_json(path: Path, value: object) -> None:
    path.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def capabilities(opa: Path) -> dict[str, Any]:
    """OPA's own capabilities, reduced to the portable subset; a policy may not reach any host."""
    value: dict[str, Any] = json.loads(run(opa, "capabilities", "--current"))
    value["builtins"] = [builtin for builtin in value["builtins"] if builtin["name"] in NATIVE]
    missing = set(NATIVE) - {builtin["name"] for builtin in value["builtins"]}
    if missing:
        sys.exit(f"this opa has no built-ins {', '.join(sorted(missing))}: update NATIVE in {__file__}")
    value["allow_net"] = []
    return value


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with every object closed, so that opa check reports a misspelt field."""
    for definition in [schema, *schema.get("$defs", {}).values()]:
        if "properties" in definition:
            definition["additionalProperties"] = False
    return schema


def revision_rule(policies: Path) -> str:
    """Rego with which an OPA server names the revision of its policies; formatted as opa fmt would."""
    revision = catalogue.source_revision(catalogue.digests(catalogue.contents(policies, generated=False)))
    return f"""package usher.main

# METADATA
# title: Revision
# description: Digest over all other Rego files, generated by scripts/policies; usher asks an OPA server for it.
revision := "{revision}"
"""


def wasm(opa: Path, binaryen: Path | None, policies: Path, numbers: dict[str, int]) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        archive = Path(directory) / "bundle.tar.gz"
        entrypoints = [argument for entrypoint in Entrypoint for argument in ("-e", entrypoint)]
        # Without -b: the bundle root is policies/, and the generated JSON beside usher/ must not become data.
        run(
            opa, "build", "--target", "wasm", "--capabilities", str(policies / "capabilities.json"), *entrypoints,
            "--ignore", "*_test.rego", "--ignore", "examples", "--output", str(archive), str(policies / "usher"),
        )  # fmt: skip
        with tarfile.open(archive) as tar:
            member = tar.extractfile("/policy.wasm")
            assert member is not None
            try:
                module = quicken_module.quickened(member.read(), numbers)
                return module if binaryen is None else quicken_module.optimised(module, binaryen)
            except quicken_module.QuickenError as error:
                sys.exit(f"tools/quicken_module.py: {error}")


def opa_version(opa: Path) -> str:
    return run(opa, "version").splitlines()[0].removeprefix("Version: ")


def run(opa: Path, *arguments: str) -> str:
    result = subprocess.run([opa, *arguments], check=False, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"opa {arguments[0]} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


if __name__ == "__main__":
    main()
