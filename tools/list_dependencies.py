"""Prints docs/dependencies.md: every locked dependency with its licence. Run it through scripts/generate."""

import re
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

# The reason for each dependency; without an entry here the run fails.
REASONS = {
    "click": "commands and options",
    "cryptography": "certificates",
    "msgspec": "usher's own values, whose classes are made quickly at the start of a command",
    "orjson": "JSON, fast and strict",
    "prometheus-client": "metrics",
    "pydantic": "usher.yaml and its schema",
    "pyyaml": "YAML events, from libyaml",
    "rich": "text on a terminal",
    "typing-extensions": "TypedDict that pydantic can read on Python 3.11",
    "urllib3": "requests to Prometheus and to an API server",
    "wasmtime": "the embedded engine",
}
# The same for the extras of pyproject.toml, by extra.
OPTIONAL_REASONS = {
    "cluster": {"kubernetes": "configuration and connection for commands about a live cluster"},
    "server": {
        "fastapi": "the admin side of the server",
        "httptools": "HTTP parsing for uvicorn",
        "kubernetes": "configuration and connection of the server's cluster",
        "structlog": "JSON logs",
        "uvicorn": "the HTTP server",
        "uvloop": "the event loop of the server",
    },
    "opa": {"opa-python-client": "the second engine: a real OPA server"},
    "history-postgres": {"psycopg": "the history of audits in PostgreSQL"},
    "lsp": {"pygls": "the Language Server Protocol, for `usher lsp`"},
    "fleet": {"duckdb": "the merge of Parquet parts", "fsspec": "parts in object stores"},
    "report": {"duckdb": "Parquet"},
    "tracing": {
        "opentelemetry-exporter-otlp-proto-http": "spans of reviews to a collector",
        "opentelemetry-sdk": "spans of reviews, and the variables OTEL_*",
    },
}


class OwnPart(NamedTuple):
    """A part that we wrote although libraries do something like it."""

    part: str
    place: str
    """Its folder or module in webhooks/usher."""
    weighed: str
    reason: str


OWN_PARTS = (
    OwnPart(
        "YAML with the place of each value, as strict as kubectl",
        "documents/",
        "PyYAML, ruamel.yaml 0.19, ryaml 0.5, rapidyaml 0.15, strictyaml 1.7",
        "We use the events of PyYAML. Its values have no places, and equal keys overwrite each other. ruamel.yaml has "
        "places, but took 16 ms for `examples/bad-pytorchjob.yaml`, ours 0.24 ms. ryaml gives no places and reads "
        "`yes` and `012` as texts, kubectl as true and 10. rapidyaml has no types, and strictyaml refuses valid YAML",
    ),
    OwnPart(
        "edits of the text of a manifest",
        "check/fix/",
        "ruamel.yaml 0.19, yarutsk 0.9, yamlpath 3.9",
        "They write the whole document again, and do not prove that only the wanted value changed. ruamel.yaml does "
        "not keep the indentation of single lines",
    ),
    OwnPart(
        "patches of RFC 6902",
        "policy/mutation/",
        "jsonpatch",
        "It can only compare two objects: the places and the order of our patches follow from the intents, which a "
        "comparison does not know. To apply four values takes it a tenth of a `/mutate`. Tests compare ours with it",
    ),
    OwnPart(
        "JSON Pointers",
        "paths.py",
        "jsonpointer 3",
        "It has no types. Ours are 90 lines on plain texts, which also show a place to people",
    ),
    OwnPart(
        "quantities of Kubernetes",
        "quantities.py",
        "`kubernetes.utils.parse_quantity`, pint 0.26",
        "parse_quantity accepts `1_000`, `NaN` and digits of other scripts, has no canonical form, and takes a quarter "
        "of a second to import. pint has no suffixes of Kubernetes. An oracle compares ours with Kubernetes' code",
    ),
    OwnPart(
        "expressions of descriptions of kinds: a part of CEL",
        "kinds/reading/expressions.py",
        "common-expression-language 0.10 (cel-rust), cel-python 0.5, cel-expr-python 0.1",
        "They know no place of a value, so a wrong count could not be reported where it stands, and have no limit of "
        "steps: one loop in another over 1,500 entries took cel-rust 0.9 s. Importing it takes 0.3 s, one product "
        "0.04 ms; cel-python needs 0.4 ms for it, and 6.6 ms to compile it. Ours counts steps, and needs 0.01 ms",
    ),
    OwnPart(
        "texts and suggestions around the schema of usher.yaml",
        "config/load.py",
        "pydantic-settings 2.16, dynaconf 3.3",
        "The models and the schema are pydantic's. The libraries merge sources and variables, which usher.yaml must "
        "not have, and they know no line of a file; ours adds file, line, key and the key that was meant",
    ),
    OwnPart(
        "the policies as WebAssembly",
        "policy/engines/wasm.py",
        "opa-wasm 0.3, opa-wasmtime 0.1, regopy 1.5",
        "opa-wasm needs wasmer, which does not run on current Pythons; its last release is of 2022. opa-wasmtime has "
        "no types, no limit of time, and begins with 126 MB. regopy is another implementation of Rego, of 14 MB, and "
        "has no limits and no types",
    ),
    OwnPart(
        "`sprintf` and other built-ins of Rego",
        "policy/engines/host_functions.py",
        "no library was found",
        "OPA leaves these to the host. They have to give Go's texts with its marks for mistakes, which `%` of Python "
        "does not; OPA's interpreter is the oracle",
    ),
    OwnPart(
        "watches and lists of the API server",
        "cluster/watching.py",
        "kubernetes, kr8s 0.20, lightkube 1.0, kubernetes-asyncio 36",
        "We use the connection of `kubernetes`. Its informer keeps whole objects, lists without pages, and does not "
        "notice a silent watch ([benchmarks](benchmarks.md#the-facts-of-a-cluster)). kr8s and lightkube offer watches, "
        "and no store over them; kubernetes-asyncio needs an event loop",
    ),
    OwnPart(
        "queries to Prometheus",
        "audit/prometheus/",
        "prometheus-api-client 0.7, promql-http-api 0.3, prometheus-pandas 0.3",
        "prometheus-api-client splits a range by a fixed step, holds answers of any size, and does not say which part "
        "is missing. The others bring pandas",
    ),
    OwnPart(
        "certificates that replicas renew without a leader",
        "server/certs/",
        "cryptography, trustme 1.2, certauth 1.3, acme 5.9",
        "cryptography makes and reads them. trustme is for tests, certauth for proxies (last release of 2019), acme "
        "asks a public CA. They do not renew a CA in steps, and do not agree without a leader",
    ),
    OwnPart(
        "the signature of bundles",
        "extensions/policy_archive.py",
        "cryptography, PyJWT",
        "cryptography signs. `.signatures.json` of OPA is a token that names the algorithm that verifies it, and OPA's "
        "parser makes its digests",
    ),
    OwnPart(
        "SARIF",
        "check/formats/sarif.py",
        "sarif-om 1.0, sarif-pydantic 0.6, sarif-tools 3",
        "sarif-om has had no release since 2019 and no types, sarif-pydantic has no types for its users, sarif-tools "
        "reads only. Typed dictionaries say the same fields; a test validates against the schema of the standard",
    ),
    OwnPart(
        "JUnit XML",
        "check/formats/test_cases.py",
        "junitparser 5.0, junit-xml 1.9",
        "Tried: the bytes differ. junitparser writes tabs, `time=0.0` and no sums of all suites, and lets control "
        "characters through, which XML 1.0 forbids. junit-xml has no types, orders attributes otherwise, and leaves "
        "out the time of a case. Neither stops text that a CI system reads as a command. Ours has 80 lines",
    ),
    OwnPart(
        "TAP version 14",
        "check/formats/test_cases.py",
        "tap.py 3.2",
        "Tried: the bytes differ. It writes version 13 with a comment for each suite, no hyphen, and `#` in names as "
        "it is, which would begin a directive. It has no types, and no YAML block of its own. Ours has 60 lines",
    ),
    OwnPart(
        "GitLab Code Quality, annotations of GitHub and Azure",
        "check/formats/entries.py",
        "gitlab-cq 0.2, the converters of single linters",
        "Each format is some 60 lines over entries that all share. The converters read the output of other tools",
    ),
    OwnPart(
        "elements of HTML",
        "audit/reports/html_elements.py",
        "htpy 26, dominate 2.9, Jinja2 3.1, MarkupSafe 3.0",
        "A cell is drawn twice, as HTML and by the program of the page, from one value; templates cannot. htpy is "
        "typed, but would bring MarkupSafe to replace 60 lines, which also show characters that turn the direction "
        "of text",
    ),
    OwnPart(
        "tables and charts of the page",
        "audit/reports/html_tables.py",
        "plotly 7, pygal 3",
        "plotly adds some megabytes of JavaScript to a page that goes by mail and loads nothing; charts of pygal name "
        "a script to load",
    ),
    OwnPart(
        "tables of text and Markdown",
        "check/formats/",
        "rich, tabulate 0.10, prettytable 3.18",
        "rich writes to terminals. Reports align numbers by their unit, and escape for each CI system before they "
        "measure a cell, so a library would get finished cells and save a few lines. tabulate has no types",
    ),
    OwnPart(
        "answers to an editor",
        "check/editor/",
        "pygls, the YAML language server",
        "pygls speaks the protocol. The YAML language server completes by a schema alone; ours adds findings, remedies "
        "and what usher.yaml means, with columns in the units of the client",
    ),
)  # fmt: skip


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    check_reasons("dependencies", project["dependencies"], REASONS)
    print(
        "# Dependencies\n\nGenerated by `scripts/generate` from `pyproject.toml`. Those with a reason are direct.\n"
        "`requirements.lock` pins those of all commands and of the extras `server` and `opa`.\n"
    )
    common = needed(REASONS)
    print_table(sorted(common), REASONS)
    for extra, lines in project["optional-dependencies"].items():
        reasons = OPTIONAL_REASONS.get(extra, {})
        check_reasons(extra, lines, reasons)
        added = sorted(needed(reasons) - common)
        print(f"\n## Only with `gpu-usher[{extra}]`\n")
        print_table(added, reasons)
    print("\n## What we wrote ourselves\n\nThe libraries were weighed in November 2026.\n")
    print("| part | where | weighed | why not |\n| --- | --- | --- | --- |")
    for own in OWN_PARTS:
        print(f"| {own.part} | `{own.place}` | {own.weighed} | {own.reason} |")


def check_reasons(what: str, lines: list[str], reasons: dict[str, str]) -> None:
    direct = {distribution(line) for line in lines}
    if unexplained := direct ^ set(reasons):
        raise SystemExit(f"tools/list_dependencies.py: {what}: say why, or remove: {', '.join(sorted(unexplained))}")


def distribution(line: str) -> str:
    return re.split(r"[<>=!~\[; (]", line)[0].strip().lower().replace("_", "-")


def needed(names: Iterable[str]) -> set[str]:
    """The distributions that some need, themselves included, without their extras."""
    found, pending = set[str](), list(names)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            lines = metadata.distribution(name).requires or []
            pending += [distribution(line) for line in lines if "extra ==" not in line and "python_version" not in line]
    return found


def print_table(names: list[str], reasons: dict[str, str]) -> None:
    print("| distribution | licence | why |\n| --- | --- | --- |")
    for name in names:
        print(f"| {name} | {licence(name)} | {reasons.get(name, '')} |")


def licence(name: str) -> str:
    try:
        found = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return "not installed on this platform"
    if expression := found.get("License-Expression"):
        return str(expression)
    classifiers = [
        line.rpartition(" :: ")[2] for line in found.get_all("Classifier", []) if line.startswith("License ::")
    ]
    return ", ".join(classifiers) or str(found.get("License", "unknown")).splitlines()[0]


if __name__ == "__main__":
    main()
