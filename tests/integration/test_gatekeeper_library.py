"""The templates of gatekeeper-library with their own suites, judged by usher and by OPA's interpreter.

The library is not in this repository. USHER_GATEKEEPER_LIBRARY names a checkout of
github.com/open-policy-agent/gatekeeper-library; without it these tests are left out, and tests/integration/
test_gatekeeper.py judges by a few templates of ours.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

import opa_server
from integration.command import usher
from usher import paths
from usher.check import site_policies
from usher.extensions import installed_programs
from usher.extensions.gatekeeper import constraint_templates, constraints, evaluation, library, suites
from usher.extensions.gatekeeper.constraint_templates import Written
from usher.extensions.gatekeeper.evaluation import Policies, Violation

_VARIABLE = "USHER_GATEKEEPER_LIBRARY"
_FOLDER = os.environ.get(_VARIABLE, "")

pytestmark = [
    *opa_server.needs_opa,
    pytest.mark.skipif(not _FOLDER, reason=f"needs a checkout of gatekeeper-library; set {_VARIABLE} to its folder"),
]

FOLDER = Path(_FOLDER) / "library"


def cases_as_written() -> list[tuple[str, str, str]]:
    """Every case of every suite, read by nothing of usher."""
    found = []
    for file in sorted(FOLDER.rglob("*.yaml")):
        for value in yaml.safe_load_all(file.read_text()):
            if isinstance(value, dict) and value.get("kind") == "Suite":
                found += [(str(file), test["name"], case["name"]) for test in value["tests"] for case in test["cases"]]
    return found


def test_every_case_of_every_suite_finds_what_it_expects() -> None:
    run = usher("policies", "verify", FOLDER, "--format", "json", env={"USHER_OPA": str(opa_server.OPA)})

    assert [case for case in run.json["cases"] if case["outcome"] != "passed"] == []
    found = [(case["suite"], case["test"], case["case"]) for case in run.json["cases"]]
    assert sorted(found) == sorted(cases_as_written())
    assert len(found) > 250
    assert run.code == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One test of a suite: a template, a constraint, and what is judged by them."""

    rego: constraint_templates.Rego
    constraint: constraints.Constraint
    compiled: library.Compiled
    cases: tuple[tuple[evaluation.Review, bytes], ...]
    """The review of each case, and the base data with its inventory."""


def asked(compiler: library.Compiler) -> Iterator[Asked]:
    for suite in site_policies.read_suites([str(FOLDER)]):
        for test in suite.tests:
            template = constraint_templates.read_template(
                site_policies.read_named_objects(suite.source, test.template)[0]
            )
            assert template.rego is not None
            yield Asked(
                rego=template.rego,
                constraint=constraints.read_constraint(
                    site_policies.read_named_objects(suite.source, test.constraint)[0]
                ),
                compiled=library.compile_template(template, compiler),
                cases=tuple(reviewed(case, suite.source) for case in test.cases),
            )


def reviewed(case: suites.Case, source: str) -> tuple[evaluation.Review, bytes]:
    written: Written = site_policies.read_named_objects(source, case.object)[0]
    others = [each.value for file in case.inventory for each in site_policies.read_named_objects(source, file)]
    if evaluation.is_admission_review(written.value):
        return evaluation.review_of_admission_review(written), evaluation.inventory_data(others)
    return evaluation.review_of_object(written.value), evaluation.inventory_data(others)


def messages_of_usher(test: Asked) -> list[list[str]]:
    """The messages of each case, whether the constraint matches its object or not."""
    everywhere = constraints.Constraint(
        kind=test.constraint.kind,
        name=test.constraint.name,
        match=constraints.Match(),
        parameters=test.constraint.parameters,
        actions=test.constraint.actions,
        value=test.constraint.value,
    )
    policies = Policies(library.Library(templates={everywhere.kind: test.compiled}, constraints=(everywhere,)))
    found = []
    for review, data in test.cases:
        policies.compare_with(lambda data=data: data)  # type: ignore[misc]  # mypy infers no default
        judged = list(policies.judged(review, [constraints.COMMAND]))
        assert all(isinstance(each, Violation) for each in judged), judged
        found.append(sorted(each.message for each in judged if isinstance(each, Violation)))
    policies.close()
    return found


def messages_of_opa(test: Asked, folder: Path) -> list[list[str]]:
    """The messages of OPA's interpreter, which Gatekeeper has inside."""
    mode = [] if test.rego.version == "v1" else ["--v0-compatible"]
    found = []
    files = []
    for number, text in enumerate((test.rego.text, *test.rego.libraries)):
        file = folder / f"{number}.rego"
        file.write_text(text)
        files.append(file)
    parsed = subprocess.run(
        [opa_server.OPA, "parse", *mode, "--format", "json", files[0]], capture_output=True, check=True
    )
    package = "".join(f"[{json.dumps(part['value'])}]" for part in json.loads(parsed.stdout)["package"]["path"][1:])
    cases: list[Any] = [
        {
            "input": {"review": review.document, "parameters": test.constraint.parameters},
            "inventory": json.loads(data)["inventory"],
        }
        for review, data in test.cases
    ]
    (folder / "data.json").write_text(json.dumps({"cases": cases}))
    ask = folder / "ask.rego"
    ask.write_text(
        "package ask\n\nimport rego.v1\n\n"
        "answers[number] := answer if {\n\tsome number, case in data.cases\n"
        f'\tanswer := {{[found.msg, object.get(found, "details", {{}})] | some found; data{package}.violation[found]}} '
        "with input as case.input with data.inventory as case.inventory\n}\n"
    )
    options = [option for file in (*files, ask, folder / "data.json") for option in ("--data", str(file))]
    done = subprocess.run(
        [opa_server.OPA, "eval", *mode, *options, "data.ask.answers"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    answers: paths.Object = json.loads(done.stdout)["result"][0]["expressions"][0]["value"]
    for number in range(len(cases)):
        answer = answers[str(number)]
        assert isinstance(answer, list)
        found.append(sorted(str(each[0]) for each in answer if isinstance(each, list)))
    return found


def test_every_message_is_that_of_opas_interpreter(tmp_path: Path) -> None:
    compiler = library.make_compiler(opa_server.OPA, cache=installed_programs.cache_directory() / "gatekeeper")
    compared = 0
    for number, test in enumerate(asked(compiler)):
        folder = tmp_path / str(number)
        folder.mkdir()
        ours, theirs = messages_of_usher(test), messages_of_opa(test, folder)
        assert ours == theirs, test.constraint.place
        compared += sum(map(len, ours))

    assert compared > 100
