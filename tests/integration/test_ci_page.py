"""docs/ci.md: every set-up on the page runs here with the real usher. pip and programs of others are stand-ins."""

import itertools
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

import forked_server
from integration import action, ci_python, command, gitlab_component
from integration.command import bad, good, write
from integration.test_pre_commit_hook import Repository
from usher import __version__

pytestmark = pytest.mark.process

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
DENIED: Final = "USH103"


def blocks() -> dict[str, list[str]]:
    """The code blocks of the page with a language, by their headings."""
    found = [
        (section.partition("\n")[0], block)
        for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
        for block in re.findall(r"^```\w+\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL)
    ]
    return {
        heading: [block for _, block in each] for heading, each in itertools.groupby(found, key=lambda each: each[0])
    }


BLOCKS: Final = blocks()


def run(script: str, home: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    """The exit code and the output of a script in `checkout`, with the stand-in for pip."""
    (home / "checkout").mkdir(exist_ok=True)
    ci_python.write(home)
    environment = command.environment(HOME=str(home), TMPDIR=str(home), **variables)
    done = subprocess.run(
        ["sh", "-c", script, "sh", *arguments],
        cwd=home / "checkout",
        env={**environment, "PATH": f"{home / 'bin'}:{environment['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    write(folder / "manifests" / "bad.yaml", bad())
    return folder


def test_every_set_up_on_the_page_has_a_test() -> None:
    assert {heading: len(each) for heading, each in BLOCKS.items()} == {
        "GitHub Actions": 1, "GitLab": 1, "pre-commit": 1, "Jenkins": 1, "Tekton": 1, "Argo CD": 2, "Flux": 1,
    }  # fmt: skip


def test_the_set_ups_name_this_version() -> None:
    named = re.findall(r"gpu-usher==([\w.]+)|gpu-usher(?:/[\w-]+)?@v([\w.]+)|rev: v([\w.]+)", PAGE)

    assert {version for each in named for version in each if version} == {__version__}
    assert all(any(each[place] for each in named) for place in range(3))


def steps() -> dict[str, Any]:
    """The steps of the workflow by what they use, without the version."""
    (job,) = yaml.load(BLOCKS["GitHub Actions"][0], yaml.BaseLoader)["jobs"].values()
    return {step["uses"].partition("@")[0]: step for step in job["steps"]}


def test_the_workflow_of_github_runs(tmp_path: Path) -> None:
    runner = action.runner(tmp_path)
    write(runner.checkout / "manifests/bad.yaml", bad())
    inputs = {name.replace("-", "_"): value for name, value in steps()["gpu-usher/gpu-usher"]["with"].items()}
    assert inputs.pop("changed_since") == "${{ github.event.pull_request.base.sha }}"

    ended = runner.steps(**inputs)

    assert ended.code == 1
    assert "::error file=manifests/bad.yaml" in ended.log
    wanted = re.findall(r"steps\.usher\.outputs\.([\w-]+)", str(steps()["github/codeql-action/upload-sarif"]))
    assert set(wanted) == {"sarif"} <= set(ended.outputs)


def test_the_workflow_of_github_may_only_read_and_upload() -> None:
    workflow = yaml.load(BLOCKS["GitHub Actions"][0], yaml.BaseLoader)

    assert workflow["permissions"] == {"contents": "read", "security-events": "write"}
    assert steps()["actions/checkout"]["with"] == {"fetch-depth": "0", "persist-credentials": "false"}
    assert steps()["actions/checkout"]["uses"] in (ROOT / ".github/workflows/ci.yml").read_text()
    assert not [step for step in steps().values() if "run" in step]


def test_the_page_names_every_input_and_output_of_the_action() -> None:
    section = PAGE.partition("\n## GitHub Actions\n")[2].partition("\n## ")[0]
    cells = [[cell.strip(" `") for cell in line.split("|")[1:3]] for line in section.splitlines() if line[:3] == "| `"]
    rows = dict(cells)

    assert rows == {name: about["default"] for name, about in action.definition()["inputs"].items()}
    assert [name for name in action.definition()["outputs"] if f"`{name}`" not in section] == []


def test_the_component_of_gitlab_runs_with_the_inputs_of_the_page(tmp_path: Path, checkout: Path) -> None:
    (included,) = yaml.safe_load(BLOCKS["GitLab"][0])["include"]

    ended = gitlab_component.run(gitlab_component.job(**included["inputs"]), tmp_path)

    assert re.fullmatch(r"\$CI_SERVER_FQDN/[\w/-]+/usher-check@v[\d.]+", included["component"])
    assert (ended.code, DENIED in ended.log) == (1, True)
    assert (checkout / "usher-code-quality.json").exists()


def test_the_hook_runs_with_the_settings_of_the_page(tmp_path: Path) -> None:
    (listed,) = yaml.safe_load(BLOCKS["pre-commit"][0])["repos"]
    (settings,) = listed["hooks"]
    repository = Repository(tmp_path, **settings)
    command.config(repository.files / "usher.yaml")
    write(repository.files / "elsewhere/bad.yaml", bad())

    assert repository.hook()[0], "only manifests are judged"
    write(repository.files / "manifests/bad.yaml", bad())
    assert DENIED in repository.hook()[1]


def test_the_shell_steps_of_jenkins_run(tmp_path: Path, checkout: Path) -> None:
    block = BLOCKS["Jenkins"][0]
    commands = re.findall(r"sh '([^']+)'", block)

    ended = [run(each, tmp_path) for each in commands]

    assert [code for code, _ in ended] == [0, 0, 1]
    assert DENIED in ended[-1][1]
    for name in re.findall(r"(?:testResults|artifacts): '([^']+)'", block):
        assert (checkout / name).exists()


def test_the_task_of_tekton_runs(tmp_path: Path, checkout: Path) -> None:
    task = yaml.safe_load(BLOCKS["Tekton"][0])
    (step,) = task["spec"]["steps"]
    defaults = {each["name"]: each["default"] for each in task["spec"]["params"]}
    write(checkout / "more files" / "$(touch pwned).yaml", bad("second"))

    code, log = run(step["script"], tmp_path, *defaults["paths"], USHER_PACKAGE=defaults["package"])

    assert (code, log.count(f"{DENIED} ")) == (1, 2)
    assert not (checkout / "pwned").exists()
    assert "$(params" not in step["script"]
    assert step["args"] == ["$(params.paths[*])"]
    assert [each["value"] for each in step["env"]] == ["$(params.package)"]


def test_usher_has_nothing_against_the_objects_on_the_page(tmp_path: Path) -> None:
    for name, block in (("task", BLOCKS["Tekton"][0]), ("application", BLOCKS["Argo CD"][1])):
        (tmp_path / f"{name}.yaml").write_text(block)

    assert command.usher("check", ".", cwd=tmp_path).code == 0


@pytest.mark.parametrize(("heading", "program"), [("Argo CD", "argocd"), ("Flux", "flux")])
@pytest.mark.parametrize(
    ("rendered", "code"),
    [(command.manifest(bad()), 1), (command.manifest(good()), 0), ("", 2)],
    ids=["denied", "good", "nothing rendered"],
)
def test_the_output_of_gitops_tools_is_judged(
    tmp_path: Path, heading: str, program: str, rendered: str, code: int
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "rendered.yaml").write_text(rendered)
    for name, script in (
        (program, f"cat {shlex.quote(str(tmp_path / 'rendered.yaml'))}"),
        ("usher", f'exec {forked_server.shell_command()} "$@"'),
    ):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)

    ended, log = run(BLOCKS[heading][0], tmp_path, CI_COMMIT_SHA="0123abc")

    assert ended == code
    assert (DENIED in log) == (code == 1)
