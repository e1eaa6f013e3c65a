"""Workflows, issue forms and dependency updates in .github. GitHub itself reports mistakes there only after a push.

Sources: docs.github.com, "Workflow syntax for GitHub Actions", "Syntax for issue forms", "Syntax for GitHub's form
schema", "Dependabot options reference".
"""

import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

ROOT: Final = Path(__file__).parents[2]
GITHUB: Final = ROOT / ".github"
WORKFLOWS: Final = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS: Final = sorted(set((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) - {GITHUB / "ISSUE_TEMPLATE/config.yml"})

ELEMENTS: Final = {
    "markdown": {"value"},
    "input": {"label"},
    "textarea": {"label"},
    "dropdown": {"label", "options"},
    "checkboxes": {"label", "options"},
}
"""Types of form elements, with the attributes that each must have."""


def read(file: Path) -> Any:
    """YAML without types, so that the key `on` stays a word."""
    return yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


def steps(workflow: Path) -> list[Any]:
    return [step for job in read(workflow)["jobs"].values() for step in job.get("steps", [])]


ORACLES: Final = "scripts/test --oracles"


OTHER_CASES: Final = "AGREEMENT_CASES=150 AGREEMENT_SEED=${{ github.run_number }}"


@pytest.mark.parametrize(
    ("workflow", "expected"),
    [
        ("ci", [".ci/run"]),
        (
            "thorough",
            [
                ".ci/run --thorough",
                ORACLES,
                f"{OTHER_CASES} {ORACLES} -k what_usher_says",
                f"{OTHER_CASES} scripts/test tests/e2e/own_server/test_agreement_with_the_scheduler.py",
            ],
        ),
    ],
)
def test_ci_runs_what_a_contributor_can_run(workflow: str, expected: list[str]) -> None:
    commands = [step["run"] for step in steps(GITHUB / f"workflows/{workflow}.yml") if "run" in step]

    assert commands == expected
    assert (ROOT / ".ci/run").stat().st_mode & 0o111


@pytest.mark.parametrize("workflow", ["ci", "thorough"])
def test_ci_uses_the_oldest_python_that_is_supported_and_the_pinned_go(workflow: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    settings = {
        step["uses"].partition("@")[0]: step["with"]
        for step in steps(GITHUB / f"workflows/{workflow}.yml")
        if "uses" in step
    }

    assert project["requires-python"] == f">={settings['actions/setup-python']['python-version']}"
    assert (ROOT / settings["actions/setup-go"]["go-version-file"]).is_file()


def test_all_that_is_thorough_runs_at_night_and_before_a_release() -> None:
    jobs = read(GITHUB / "workflows/release.yml")["jobs"]

    assert read(GITHUB / "workflows/thorough.yml")["on"]["schedule"]
    assert jobs["thorough"]["uses"] == "./.github/workflows/thorough.yml"
    assert "thorough" in jobs["publish"]["needs"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_may_read_and_each_job_asks_for_more(workflow: Path) -> None:
    content = read(workflow)

    assert content["permissions"] == {"contents": "read"}
    assert {"name", "on", "jobs"} <= set(content)
    assert all("uses" in job or "timeout-minutes" in job for job in content["jobs"].values())


def test_a_release_signs_what_it_publishes() -> None:
    publish = read(GITHUB / "workflows/release.yml")["jobs"]["publish"]
    commands = "\n".join(step.get("run", "") for step in publish["steps"])

    assert publish["permissions"]["id-token"] == "write"
    for kind in ("*.whl", "*.tar.gz", "*.tgz", "usher.pyz", "usher.yaml"):
        assert re.search(rf"for file in .*dist/{re.escape(kind)}.*; do\n *cosign sign-blob --yes", commands), kind
    assert commands.index("docker push") < commands.index("cosign sign --yes") < commands.index("helm push")
    assert commands.index("helm push") < commands.rindex("cosign sign --yes") < commands.index("gh release create")


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.stem)
def test_every_action_of_others_is_pinned_to_a_commit_and_says_its_version(workflow: Path) -> None:
    used = re.findall(r"uses: (?!\./)(.+)", workflow.read_text(encoding="utf-8"))

    assert [action for action in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)] == []


@pytest.mark.parametrize("form", FORMS, ids=lambda file: file.stem)
def test_a_form_has_what_the_hosting_page_asks_of_it(form: Path) -> None:
    content = read(form)
    fields = [element for element in content["body"] if element["type"] != "markdown"]
    labels = [field["attributes"]["label"] for field in fields]
    names = [field["id"] for field in fields]

    assert {"name", "description", "body"} <= set(content) <= {"name", "description", "title", "labels", "body"}
    assert fields
    assert len(set(labels)) == len(labels)
    assert len(set(names)) == len(names)
    for element in content["body"]:
        assert ELEMENTS[element["type"]] <= set(element["attributes"])


def test_the_forms_have_names_of_their_own() -> None:
    names = [read(form)["name"] for form in FORMS]

    assert sorted(set(names)) == sorted(names) == ["Crash or outage", "Idea", "Wrong finding", "Wrong mutation"]


def test_updates_are_asked_for_where_versions_are_pinned() -> None:
    updates = {each["package-ecosystem"]: each["directory"] for each in read(GITHUB / "dependabot.yml")["updates"]}

    assert updates == {"github-actions": "/", "gomod": "/tools"}
    assert (ROOT / "tools/go.mod").is_file()
