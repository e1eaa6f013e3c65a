"""Checks of a site: `usher policies new` and `usher policies test`."""

from pathlib import Path
from typing import Any

import pytest

import opa_server
from integration.command import config, usher

pytestmark = [*opa_server.needs_opa, pytest.mark.process]

RULE = Path("checks/gpus_per_team/gpus_per_team.rego")
TEST = Path("checks/gpus_per_team/gpus_per_team_test.rego")
EXAMPLES = Path("checks/gpus_per_team/examples")


@pytest.fixture
def begun(run_in: Any, tmp_path: Path) -> Path:
    """The directory of a run, with a new check."""
    assert run_in("policies", "new", "gpus_per_team", "--policies", "checks", "--code", "ACME101").code == 0
    return tmp_path


def changed(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.usefixtures("begun")
def test_a_new_check_passes_its_own_tests(run_in: Any) -> None:
    run = run_in("policies", "test", "checks", "--coverage", "100")

    assert run.out.splitlines() == [
        "ok    ACME101 gpus-per-team            2 tests, 2 examples, 100 % of lines covered",
        "1 check: 1 passed",
    ]
    assert run.code == 0


def test_a_check_that_breaks_fails_by_its_test_and_its_example_with_the_values(run_in: Any, begun: Path) -> None:
    changed(begun / RULE, "number > parameters", "number >= parameters")

    run = run_in("policies", "test", "checks")

    assert run.code == 1
    assert f"{TEST}:14: test_what_is_right_is_good fails" in run.out
    assert "check.deny == set() with input as examples.good_pod" in run.out
    assert f"{EXAMPLES}/good_pod.yaml: the check finds something in a good example: the pod asks for 8" in run.out
    assert run.out.endswith("1 check: 0 passed, 1 failed\n")


def test_programs_read_the_same_as_json(run_in: Any, begun: Path) -> None:
    changed(begun / RULE, "number > parameters", "number >= parameters")

    run = run_in("policies", "test", "checks", "--format", "json")

    (check,) = run.json["checks"]
    assert run.code == 1
    assert (check["code"], check["passed"], check["tests"], check["coverage"]) == ("ACME101", False, 2, None)
    assert [each["place"] for each in check["failures"]] == [f"{TEST}:14", f"{EXAMPLES}/good_pod.yaml"]


def test_lines_that_no_test_reaches_are_named_and_fail_below_the_threshold(run_in: Any, begun: Path) -> None:
    with (begun / RULE).open("a") as file:
        file.write('\n_unused(number) := "many" if {\n\tnumber > 1\n\tnumber < 9\n}\n')

    named, failed = run_in("policies", "test", "checks"), run_in("policies", "test", "checks", "--coverage", "95")

    first = len((begun / RULE).read_text().splitlines()) - 3
    assert named.code == 0
    assert f"{RULE}:{first}" in named.out
    assert "no test reaches this" in named.out
    assert failed.code == 1
    assert "fewer than the 95 % of --coverage" in failed.out


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (TEST, "has no test"),
        (EXAMPLES / "good_pod.yaml", "has no good example"),
        (EXAMPLES / "bad_pod.yaml", "has no bad example"),
    ],
)
def test_a_check_needs_a_test_and_examples_of_both_kinds(run_in: Any, begun: Path, file: Path, reason: str) -> None:
    if file != TEST:
        (begun / TEST).write_text("package usher.checks.site.gpus_per_team_test\n\ntest_nothing if true\n")
    (begun / file).unlink()

    run = run_in("policies", "test", "checks")

    assert run.code == 1
    assert reason in run.out


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        (RULE, ("# custom:", "# colour: red\n# custom:"), f"{RULE}:11: METADATA: colour"),
        (RULE, ("code: ACME101", "code: USH101"), f"{RULE}:12: METADATA: custom.code: expected a prefix of your site"),
        (RULE, ("package usher", "package other"), f"{RULE}:21: expected `package usher.checks.site.gpus_per_team`"),
        (RULE, ("deny contains", "warn contains"), "has no rule `deny contains`, so it would never find anything"),
        (RULE, ("pod_set.accelerators", "pod_set.acelerators"), f"{RULE}:28: rego_type_error: undefined ref"),
        (RULE, ("number > ", "http.send({}) > "), f"{RULE}:29: rego_type_error: undefined function http.send"),
        (RULE, ("about: accelerator pods", "about: objects"), "`kinds` names the kinds of a check about objects"),
        (RULE, ("severity: medium", "severity: medium\n#   closes: [S1]"), "closes is for rules of usher; remove it"),
        (TEST, ("_test\n", "_tests\n"), f"{TEST}:1: expected `package usher.checks.site.gpus_per_team_test`"),
        (TEST, ("check.deny ==", "check.dney(1) =="), f"{TEST}:7: rego_type_error: undefined function"),
    ],
)
def test_a_mistake_is_named_with_its_place(
    run_in: Any, begun: Path, file: Path, change: tuple[str, str], message: str
) -> None:
    changed(begun / file, *change)

    run = run_in("policies", "test", "checks")

    assert run.code == 2
    assert message in run.err


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("gpus_per_team/more.rego", "package x\n", "is not used: the folder gpus_per_team holds gpus_per_team.rego"),
        ("other.rego", "package x\n", "each check has a folder of its own: move it to other/other.rego"),
        ("other/rule.rego", "package x\n", "is not used"),
        ("x_test/x_test.rego", "package x\n", "and not X_test"),
        ("Other/Other.rego", "package x\n", "name the folder in small letters"),
        ("lib/teams.rego", "package teams\n", "expected `package site.teams`"),
        ("gpus_per_team/examples/pod.yaml", "kind: Pod\n", "begin the name with bad_, good_ or unknown_"),
        ("gpus_per_team/examples/bad_x.yaml", "kind: Other\n", "usher judges no objects of this kind"),
        ("gpus_per_team/examples/bad_x.yaml", "kind: AdmissionReview\nrequest: 1\n", "has no request.object"),
        ("gpus_per_team/examples/bad_x.yaml", "kind: [\n", "bad_x.yaml:"),
        ("gpus_per_team/examples/usher.yaml", "enforcement: 1\n", "usher.yaml"),
    ],
)
def test_a_file_that_would_have_no_effect_is_refused(
    run_in: Any, begun: Path, name: str, text: str, message: str
) -> None:
    file = begun / "checks" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)

    run = run_in("policies", "test", "checks")

    assert run.code == 2
    assert message in run.err


def test_checks_share_libraries_which_have_tests_of_their_own(run_in: Any, begun: Path) -> None:
    library = begun / "checks/lib"
    library.mkdir()
    (library / "limits.rego").write_text("package site.limits\n\nmost(number) := number\n")
    (library / "limits_test.rego").write_text(
        "package site.limits_test\n\nimport data.site.limits\n\ntest_most if limits.most(1) == 1\n"
    )
    changed(begun / RULE, "import data.usher.lib.workload", "import data.usher.lib.workload\nimport data.site.limits")
    changed(
        begun / RULE,
        "> parameters.site.gpus_per_team.maximum",
        "> limits.most(parameters.site.gpus_per_team.maximum)",
    )

    run = run_in("policies", "test", "checks")

    assert run.code == 0, run.err
    assert "ok    lib                              1 test, 0 examples, 100 % of lines covered" in run.out


def test_examples_have_the_configuration_beside_them(run_in: Any, begun: Path) -> None:
    config(begun / EXAMPLES / "usher.yaml", parameters=[{"check": "gpus-per-team", "values": {"maximum": 4}}])

    run = run_in("policies", "test", "checks")

    assert run.code == 1
    assert "good_pod.yaml: the check finds something in a good example" in run.out


@pytest.mark.usefixtures("begun")
def test_the_next_check_gets_the_next_code_of_the_site(run_in: Any) -> None:
    assert run_in("policies", "new", "more", "--policies", "checks").out.startswith("ACME102: checks/more\n")
    assert run_in("policies", "test", "checks").out.endswith("2 checks: 2 passed\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x", "--code", "USH101"), "the prefixes USH and USM belong to usher"),
        (("x", "--code", "ACME101"), "a number that no other check has, for example ACME102"),
        (("x", "--code", "acme"), "give a prefix of your site and a number"),
        (("gpus_per_team",), "is there already"),
        (("../x",), "small letters"),
        (("lib",), "a name is not lib"),
        (("x_test",), "does not end in _test"),
        (("a", "b", "c"), "give NAME for a check of your own, or CATEGORY NAME"),
        (("cost", "b", "--code", "ACME102"), "--code is for checks of your own"),
    ],
)
@pytest.mark.usefixtures("begun")
def test_a_check_cannot_begin_with(run_in: Any, arguments: tuple[str, ...], message: str) -> None:
    run = run_in("policies", "new", *arguments, "--policies", "checks")

    assert run.code == 2
    assert message in run.err


@pytest.mark.parametrize(
    ("directory", "message"),
    [
        ("nowhere", "is not a directory"),
        (".", "no check is here"),
        ("checks/gpus_per_team", "is the folder of one check; give the directory above it"),
    ],
)
def test_a_directory_without_checks_is_refused(run_in: Any, begun: Path, directory: str, message: str) -> None:
    (begun / "checks" / "empty").mkdir()
    run = run_in("policies", "test", directory if directory != "." else "checks/empty")

    assert run.code == 2
    assert message in run.err


def test_without_opa_the_error_says_what_to_do(begun: Path) -> None:
    run = usher("policies", "test", "checks", cwd=begun, env={"USHER_OPA": "/nonexistent/opa"})

    assert run.code == 2
    assert "own checks are compiled and tested by OPA. Install opa" in run.err
