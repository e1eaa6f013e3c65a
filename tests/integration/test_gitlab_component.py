"""templates/usher-check.yml, the component for GitLab CI/CD: its inputs, and its script with the real usher."""

import json
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from integration import ci_python, command, gitlab_component
from integration.command import bad, bad_line, good, warned, write

pytestmark = pytest.mark.process

PACKAGE = "gpu-usher==0.1.0"

HOSTILE = [
    '"; touch pwned; #',
    "'; touch pwned; #",
    "$(touch pwned)",
    "`touch pwned`",
    "a && touch pwned",
    "$HOME ${HOME}",
    "# : {a: b} [c] & * ! | > % @",
    "key: value",
    "- item",
    "*",
    "\\",
]


def test_every_input_is_described_and_used() -> None:
    body = gitlab_component.FILE.read_text().partition("\n---\n")[2]

    assert [name for name, about in gitlab_component.spec().items() if not about["description"]] == []
    assert [name for name in gitlab_component.spec() if f"$[[ inputs.{name} ]]" not in body] == []


def test_no_input_is_written_into_a_script_or_expanded() -> None:
    job = gitlab_component.job(package=PACKAGE, paths="$PATHS")

    assert "$[[" not in json.dumps(job)
    assert "$PATHS" not in "".join([*job["before_script"], *job["script"]])
    free = {name for name, about in gitlab_component.spec().items() if about.get("regex")}
    assert {"paths", "options", "config", "package", "rules-from"} == free
    assert all(job["variables"][name]["expand"] is False for name in ("USHER_PATHS", "USHER_OPTIONS", "USHER_FILE"))


@pytest.mark.parametrize("name", ["paths", "options", "config", "package"])
@pytest.mark.parametrize("value", HOSTILE)
def test_an_input_reaches_the_job_unchanged(name: str, value: str) -> None:
    job = gitlab_component.job(**{"package": PACKAGE, name: value})

    variable = {"config": "USHER_FILE"}.get(name, f"USHER_{name.upper()}")
    assert job["variables"][variable]["value"] == value


@pytest.mark.parametrize(
    "inputs",
    [
        {},
        {"package": ""},
        {"package": PACKAGE, "paths": "a\n      expand: true"},
        {"package": PACKAGE, "fail_on": "everything"},
        {"package": PACKAGE, "changed_only": "yes"},
    ],
)
def test_wrong_inputs_are_refused(inputs: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"missing|not allowed|another type"):
        gitlab_component.job(**inputs)


def test_the_job_writes_the_reports_that_gitlab_collects(tmp_path: Path) -> None:
    file = write(tmp_path / "checkout/jobs/bad.yaml", bad())
    job = gitlab_component.job(package=PACKAGE)

    ended = gitlab_component.run(job, tmp_path)

    assert ended.code == 1
    assert "USH103" in ended.log
    reports = {kind: tmp_path / "checkout" / name for kind, name in job["artifacts"]["reports"].items()}
    issues = json.loads(reports["codequality"].read_text())
    assert {"path": "jobs/bad.yaml", "lines": {"begin": bad_line(file), "end": bad_line(file)}} in [
        issue["location"] for issue in issues
    ]
    assert ET.fromstring(reports["junit"].read_text()).tag == "testsuites"
    assert job["artifacts"]["when"] == "always", "GitLab needs the reports of a job that fails"
    assert [asked.split()[-2:] for asked in ci_python.asked_of_pip(tmp_path)] == [["--", PACKAGE]]


def test_the_inputs_become_options(tmp_path: Path) -> None:
    write(tmp_path / "checkout/a/bad.yaml", bad())
    write(tmp_path / "checkout/b/warned.yaml", warned())
    command.config(tmp_path / "checkout/off.yaml", **command.SWITCHED_OFF)

    job = gitlab_component.job(package=PACKAGE, paths="a/*.yaml b", config="off.yaml", options="--as-written --quiet")
    strict = gitlab_component.job(package=PACKAGE, paths="b", fail_on="warn", options="--as-written")

    assert gitlab_component.run(job, tmp_path / "first").code == 2, "the files are elsewhere"
    assert gitlab_component.run(job, tmp_path).code == 0
    assert gitlab_component.run(strict, tmp_path).code == 1


@pytest.mark.parametrize("name", ["paths", "options", "config"])
def test_no_input_becomes_a_command(tmp_path: Path, name: str) -> None:
    value = "; touch pwned; $(touch pwned) `touch pwned` && touch pwned | touch pwned"
    write(tmp_path / "checkout/good.yaml", good())

    ended = gitlab_component.run(gitlab_component.job(**{"package": PACKAGE, name: value}), tmp_path)

    assert ended.code == 2
    assert not (tmp_path / "checkout/pwned").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_target_branch_decides_and_not_the_merge_request(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()

    def git(*arguments: str) -> str:
        names = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        done = subprocess.run(["git", *names, *arguments], cwd=checkout, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "--initial-branch=main")
    write(checkout / "bad.yaml", bad())
    git("add", ".")
    git("commit", "--message=first")
    base = git("rev-parse", "HEAD")
    command.config(checkout / "usher.yaml", **command.SWITCHED_OFF)
    job, own = (gitlab_component.job(package=PACKAGE, **more) for more in ({}, {"rules_from": "tree"}))

    assert gitlab_component.run(job, tmp_path).code == 0, "on a branch the checkout decides"
    ended = gitlab_component.run(job, tmp_path, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert (ended.code, "decides nothing" in ended.log) == (1, True)
    ended = gitlab_component.run(own, tmp_path, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert (ended.code, "which a merge request may change" in ended.log) == (0, True)
    ended = gitlab_component.run(job, tmp_path, CI_MERGE_REQUEST_DIFF_BASE_SHA="1" * 40)
    assert (ended.code, "lacks the commit" in ended.log) == (2, True)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_merge_request_is_judged_by_what_it_changes_even_in_a_shallow_clone(tmp_path: Path) -> None:
    origin, checkout = tmp_path / "origin", tmp_path / "checkout"

    def git(*arguments: str, at: Path = origin) -> str:
        names = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        return subprocess.run(["git", *names, *arguments], cwd=at, check=True, capture_output=True, text=True).stdout

    origin.mkdir()
    git("init", "--initial-branch=main")
    write(origin / "old.yaml", bad("old"))
    git("add", ".")
    git("commit", "--message=first")
    base = git("rev-parse", "HEAD").strip()
    write(origin / "new.yaml", bad("new"))
    git("add", ".")
    git("commit", "--message=second")
    git("clone", "--quiet", "--depth=1", f"file://{origin}", str(checkout), at=tmp_path)
    job = gitlab_component.job(package=PACKAGE, changed_only=True)

    changed = gitlab_component.run(job, tmp_path, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    all_files = gitlab_component.run(job, tmp_path)

    assert ("new.yaml\n" in changed.log, "old.yaml\n" in changed.log) == (True, False)
    assert ("new.yaml\n" in all_files.log, "old.yaml\n" in all_files.log) == (True, True)


def test_a_link_in_the_merge_request_does_not_move_a_report(tmp_path: Path) -> None:
    write(tmp_path / "checkout/good.yaml", good())
    (tmp_path / "checkout/usher-junit.xml").symlink_to(tmp_path / "elsewhere")

    assert gitlab_component.run(gitlab_component.job(package=PACKAGE), tmp_path).code == 0
    assert not (tmp_path / "elsewhere").exists()


def test_modules_of_the_merge_request_are_not_imported(tmp_path: Path) -> None:
    write(tmp_path / "checkout/good.yaml", good())
    for name in ("usher", "json", "yaml", "pip", "venv"):
        (tmp_path / f"checkout/{name}.py").write_text("raise SystemExit('imported')\n")

    ended = gitlab_component.run(gitlab_component.job(package=PACKAGE), tmp_path)

    assert (ended.code, "imported" in ended.log) == (0, False)
