""".pre-commit-hooks.yaml: pre-commit runs the hook over the staged files of a real repository.

The hook is a local one here, because pre-commit would install usher from the network; all else of it is the same.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import forked_server
from integration import command
from integration.command import bad, good, write

pytestmark = [pytest.mark.process, pytest.mark.skipif(shutil.which("git") is None, reason="needs git")]

FILE = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"


class Repository:
    """A git repository that uses the hook."""

    def __init__(self, home: Path, **changes: Any) -> None:
        (hook,) = yaml.safe_load(FILE.read_text())
        self.home, self.files = home, home / "repository"
        self.files.mkdir()
        program = home / "bin" / "usher"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {forked_server.shell_command()} "$@"\n')
        program.chmod(0o755)
        self.run("git", "init", "--quiet")
        local = {"repo": "local", "hooks": [{**hook, **changes, "language": "system"}]}
        (home / "config.yaml").write_text(yaml.safe_dump({"repos": [local]}))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = command.environment(HOME=str(self.home), PRE_COMMIT_HOME=str(self.home / "cache"))
        return subprocess.run(
            arguments,
            cwd=self.files,
            env={**environment, "PATH": f"{self.home / 'bin'}:{environment['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )

    def hook(self) -> tuple[bool, str]:
        """Whether the hook lets the staged files pass, and what it prints."""
        assert self.run("git", "add", "--all").returncode == 0
        done = self.run(sys.executable, "-m", "pre_commit", "run", "--config", str(self.home / "config.yaml"))
        return done.returncode == 0, done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_pre_commit_accepts_the_file(repository: Repository) -> None:
    assert repository.run(sys.executable, "-m", "pre_commit", "validate-manifest", str(FILE)).stdout == ""


def test_a_manifest_that_the_cluster_would_deny_is_not_committed(repository: Repository) -> None:
    write(repository.files / "jobs/bad.yaml", bad())
    write(repository.files / "jobs/good.yaml", good())

    passed, printed = repository.hook()

    assert not passed
    assert "jobs/bad.yaml" in printed
    assert "USH103" in printed
    assert "good.yaml" not in printed


def test_a_good_manifest_is_committed(repository: Repository) -> None:
    write(repository.files / "good.yaml", good())

    assert repository.hook()[0]


def test_a_commit_without_a_manifest_passes(repository: Repository) -> None:
    (repository.files / "values.yaml").write_text("replicas: 1\n")
    (repository.files / "package.json").write_text("{}\n")

    assert repository.hook()[0]


def test_the_name_of_a_file_is_not_an_option(repository: Repository) -> None:
    write(repository.files / "bad.yaml", bad())
    write(repository.files / "--fail-on=never .yaml", good())
    write(repository.files / "--as-written" / ".yaml", good())

    passed, printed = repository.hook()

    assert not passed
    assert "USH103" in printed


def test_options_of_the_repository_stand_before_the_files(tmp_path: Path) -> None:
    repository = Repository(tmp_path, args=["--config=off.yml", "--"])
    write(repository.files / "bad.yaml", bad())
    command.config(repository.files / "off.yml", **command.SWITCHED_OFF)

    assert repository.hook()[0]


def test_files_of_other_types_are_not_read(repository: Repository) -> None:
    (repository.files / "notes.txt").write_text(command.manifest(bad()))

    passed, printed = repository.hook()

    assert passed
    assert "no files to check" in printed
