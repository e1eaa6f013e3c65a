"""action.yml: its steps run in bash with the real usher, as a runner of GitHub runs them, also with hostile inputs."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from integration import action, command
from integration.action import ROOT, Ended, Runner
from integration.command import bad, good, warned, write

pytestmark = [pytest.mark.process, pytest.mark.skipif(action.MISSING, reason="needs bash")]

INSTALL, CHECK = 0, 1

HOSTILE = [
    '"; touch pwned; #',
    "'; touch pwned; #",
    "$(touch pwned)`touch pwned`",
    "a\ntouch pwned",
    "--output",
    "a\n::add-mask::x",
    "a\n::set-output name=a::b",
    "##[add-mask]x",
    "a\r::add-mask::x",
    "* ~ \\",
]


def by_turns(names: list[str], values: Sequence[object]) -> list[ParameterSet]:
    """Each input with each value; a change is tried with one input for each value, in turn."""
    return [
        pytest.param(name, value, marks=() if number % len(names) == turn else pytest.mark.thorough)
        for number, value in enumerate(values)
        for turn, name in enumerate(names)
    ]


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return action.runner(tmp_path / "runner")


def test_no_input_is_written_into_a_script() -> None:
    definition = action.definition()

    assert [step["name"] for step in definition["runs"]["steps"] if "${{" in step["run"]] == []
    used = "".join(value for step in definition["runs"]["steps"] for value in step["env"].values())
    assert {name for name in definition["inputs"] if f"inputs.{name} " not in used} == set()


def test_findings_become_annotations_a_summary_and_a_report(runner: Runner) -> None:
    file = write(runner.checkout / "jobs" / "bad.yaml", bad())

    ended = runner.steps()

    assert ended.code == 1
    assert f"::error file=jobs/bad.yaml,line={command.bad_line(file)}," in ended.log
    assert ended.summary.startswith("<!-- gpu-usher:report -->\n## gpu-usher: 1 error")
    assert ended.outputs == {"exit-code": "1", "sarif": "usher.sarif"}
    (run,) = json.loads((runner.checkout / "usher.sarif").read_text())["runs"]
    assert "USH103" in {result["ruleId"] for result in run["results"]}


def test_a_clean_run_passes_and_leaves_a_summary(runner: Runner) -> None:
    write(runner.checkout / "good.yaml", good())

    ended = runner.steps()

    assert (ended.code, ended.outputs["exit-code"]) == (0, "0")
    assert "no errors" in ended.summary


def test_the_inputs_become_options(runner: Runner) -> None:
    write(runner.checkout / "bad.yaml", bad())
    write(runner.checkout / "a b" / "warned.yaml", warned())
    command.config(runner.checkout / "off.yaml", **command.SWITCHED_OFF)

    ended = runner.steps(
        paths="  a b/*.yaml\n\nbad.yaml\n",
        config="off.yaml",
        fail_on="warn",
        formats="junit=usher.xml\njson=report.json\n",
        options="--as-written\n--allow-unknown\n",
        sarif="",
    )

    assert (ended.code, ended.outputs) == (1, {"exit-code": "1"})
    report = json.loads((runner.checkout / "report.json").read_text())
    assert {each["name"] for each in report["workloads"]} == {"bad", "warned"}
    assert not {"USH103"} & {found["code"] for each in report["workloads"] for found in each["findings"]}
    assert (runner.checkout / "usher.xml").exists()
    assert not (runner.checkout / "usher.sarif").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_only_what_the_branch_changed_is_judged(runner: Runner) -> None:
    def git(*arguments: str) -> None:
        names = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", *names, *arguments], cwd=runner.checkout, check=True, capture_output=True)

    git("init", "--initial-branch=main")
    write(runner.checkout / "old.yaml", bad("old"))
    git("add", ".")
    git("commit", "--message=first")
    git("switch", "--create=branch")
    write(runner.checkout / "new.yaml", bad("new"))
    git("add", ".")
    git("commit", "--message=second")

    ended = runner.steps(changed_since="main")

    assert "file=new.yaml" in ended.log
    assert "file=old.yaml" not in ended.log


def test_a_run_that_proves_nothing_says_so_and_offers_no_report(runner: Runner) -> None:
    (runner.checkout / "usher.sarif").write_text("{}")

    ended = runner.steps(paths="nowhere.yaml")

    assert (ended.code, ended.outputs) == (2, {"exit-code": "2", "sarif": "usher.sarif"})
    assert "nowhere.yaml" in ended.log

    ended = runner.steps(config="nowhere.yaml")

    assert (ended.code, ended.outputs) == (2, {"exit-code": "2"})
    assert not (runner.checkout / "usher.sarif").exists()


@pytest.mark.parametrize(("name", "value"), by_turns(["config", "changed_since", "fail_on", "sarif"], HOSTILE))
def test_no_input_becomes_a_command(runner: Runner, name: str, value: str) -> None:
    write(runner.checkout / "good.yaml", good())

    ended = runner.steps(CHECK, **{name: value})

    assert_harmless(ended, runner)


@pytest.mark.parametrize(
    ("name", "values"),
    by_turns(["paths", "options", "formats"], [HOSTILE, HOSTILE[::-1], [f"json={value}" for value in HOSTILE]]),
)
def test_no_line_of_an_input_becomes_a_command(runner: Runner, name: str, values: list[str]) -> None:
    write(runner.checkout / "good.yaml", good())

    ended = runner.steps(CHECK, **{name: "\n".join(values)})

    assert_harmless(ended, runner)


def assert_harmless(ended: Ended, runner: Runner) -> None:
    assert not (runner.checkout / "pwned").exists()
    lines = [line.strip() for line in ended.log.replace("\r", "\n").splitlines()]
    assert [line for line in lines if line.startswith(("::add-mask", "::set-output"))] == []
    assert "##[" not in ended.log
    assert set(ended.outputs) <= {"exit-code", "sarif"}


def test_a_link_in_the_pull_request_does_not_move_a_report(runner: Runner, tmp_path: Path) -> None:
    write(runner.checkout / "good.yaml", good())
    for name in ("usher.sarif", "usher.xml"):
        (runner.checkout / name).symlink_to(tmp_path / "elsewhere")

    assert runner.steps(formats="junit=usher.xml").code == 0
    assert not (tmp_path / "elsewhere").exists()


def test_modules_of_the_pull_request_are_not_imported(runner: Runner) -> None:
    for name in ("usher", "json", "yaml", "pip", "venv", "click"):
        (runner.checkout / f"{name}.py").write_text("raise SystemExit('imported')\n")
    write(runner.checkout / "good.yaml", good())

    assert "imported" not in runner.steps().log


def test_the_sources_of_the_action_are_installed_with_locked_dependencies(tmp_path: Path) -> None:
    runner = action.runner(tmp_path / "new", installed=False)
    write(runner.checkout / "bad.yaml", bad())

    ended = runner.steps()

    assert "::error file=bad.yaml" in ended.log
    (asked,) = runner.asked_of_pip
    assert asked.endswith(f"--require-hashes --requirement {ROOT}/requirements.lock")
    runner.steps(INSTALL)
    assert len(runner.asked_of_pip) == 1, "a second use of the action installs nothing"


def test_a_release_is_installed_by_its_version(tmp_path: Path) -> None:
    runner = action.runner(tmp_path / "new", installed=False)

    assert runner.steps(INSTALL, version="0.1.0").code == 0
    assert [asked.split()[-2:] for asked in runner.asked_of_pip] == [["--", "gpu-usher==0.1.0"]]


@pytest.mark.parametrize("version", [">=0", "0.1.0 evil", "-r x", "0.1.0\n::add-mask::x", "$(touch pwned)", "@ file"])
def test_a_text_that_is_not_a_version_is_refused(tmp_path: Path, version: str) -> None:
    runner = action.runner(tmp_path / "new", installed=False)

    ended = runner.steps(version=version)

    assert ended.code == 2
    assert ended.log == "::error title=gpu-usher::The input version is not a version, for example 0.1.0.\n"
    assert runner.asked_of_pip == []


def test_a_python_that_is_too_old_is_named(tmp_path: Path) -> None:
    runner = action.runner(tmp_path / "new", installed=False)
    (runner.home / "bin/python3").write_text("#!/bin/sh\nexit 1\n")

    ended = runner.steps()

    assert ended.code == 2
    assert ended.log.startswith("::error title=gpu-usher::usher needs Python 3.11 or newer")
