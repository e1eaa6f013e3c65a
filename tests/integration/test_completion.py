"""`usher completion` in real shells: the words that TAB offers. Shells that are not installed are left out."""

import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

import forked_server
from integration import command

pytestmark = pytest.mark.process

BASH = r"""
source ../bash-completion
compopt() { echo "$2"; }  # which paths bash would offer
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
_usher_completion usher
printf '%s\n' "${COMPREPLY[@]}"
"""

ZSH = r"""
compdef() { : }
compadd() { print -l -- "${(@P)@[-1]}" }
_describe() { local -a found; found=("${(@P)3}"); print -l -- "${(@)found%%:*}" }
_path_files() { [[ $1 == -/ ]] && print dirnames || print default }
source ../zsh-completion
words=("$@") CURRENT=$#
_usher_completion
"""

FISH = """
source ../fish-completion
complete -C (string join ' ' -- $argv) | string split -f1 \\t
"""

PATHS = [
    (["check", ""], "file"),
    (["check", "a.yaml", "jo"], "file"),
    (["audit", ""], "file"),
    (["queue", ""], "file"),
    (["workload", "show", ""], "file"),
    (["check", "--config", ""], "file"),
    (["check", "--output", ""], "file"),
    (["check", "--values", ""], "file"),
    (["check", "--facts", ""], "file"),
    (["check", "--helm", ""], "dir"),
    (["check", "-k", ""], "dir"),
    (["check", "--kustomize", ""], "dir"),
]
"""Command lines that go on with a path, and the kind of path."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The working directory: a git repository, with a command `usher` in `bin`."""
    work, program = tmp_path / "work", tmp_path / "bin" / "usher"
    for each in (work / "jobs", program.parent):
        each.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {forked_server.shell_command()} "$@"\n')
    program.chmod(0o755)
    (work / "job.yaml").touch()
    return work


@cache
def completion(shell: str) -> str:
    """The script that `usher completion SHELL` prints."""
    done = command.usher("completion", shell)
    assert done.code == 0, done.err
    return done.out


def offered(shell: str, words: list[str], *, folder: Path) -> list[str]:
    """The words that the shell offers for the last word of `usher WORDS`."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"needs {shell}")
    script, options = {"bash": (BASH, ["--norc"]), "zsh": (ZSH, ["-f"]), "fish": (FISH, ["--no-config"])}[shell]
    file = folder.parent / "script"
    file.write_text(script)
    (folder.parent / f"{shell}-completion").write_text(completion(shell))
    environment = command.environment(HOME=str(folder.parent))
    done = subprocess.run(
        [program, *options, str(file), "usher", *words],
        cwd=folder,
        env={**environment, "PATH": f"{folder.parent / 'bin'}:{environment['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["che"], {"check"}),
        (["check", "--fail-on", ""], {"deny", "warn", "audit", "never"}),
        (["check", "--exit-codes", "g"], {"gator"}),
        (["check", "--format", "ju"], {"junit"}),
        (["check", "--allow-"], {"--allow-unknown", "--allow-empty"}),
        (["check", "--facts", "li"], {"live"}),
        (["config", "s"], {"schema"}),
    ],
)
def test_words_are_offered(folder: Path, shell: str, words: list[str], expected: set[str]) -> None:
    assert set(offered(shell, words, folder=folder)) == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_value_after_an_equals_sign_is_offered_with_its_option(folder: Path, shell: str) -> None:
    assert offered(shell, ["check", "--fail-on=d"], folder=folder) == ["--fail-on=deny"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["check", "--fail-on", "=", "d"], ["deny"]),
        (["check", "--fail-on", "=", "d", "--exit-codes", "=", "g"], ["gator"]),
        (["check", "--format", "=", "ju"], ["junit"]),
        (["check", "--format", "=", "sarif", "=", "out"], ["default"]),
        (["check", "--format", "sarif", "=", "out"], ["default"]),
        (["check", "--helm", "="], ["dirnames"]),
    ],
)
def test_bash_passes_an_equals_sign_as_a_word_of_its_own(folder: Path, words: list[str], expected: list[str]) -> None:
    assert offered("bash", words, folder=folder) == expected


@pytest.mark.parametrize(("words", "kind"), PATHS)
def test_bash_reads_which_paths_may_follow(words: list[str], kind: str) -> None:
    line = {"COMP_WORDS": shlex.join(["usher", *words]), "COMP_CWORD": str(len(words))}

    told = command.usher(env={"_USHER_COMPLETE": "bash_complete", **line})

    assert (told.code, told.out) == (0, f"{kind},{words[-1]}\n")


@pytest.mark.parametrize(
    ("words", "kind"), [(["check", "a.yaml", "jo"], "default"), (["check", "--helm", ""], "dirnames")]
)
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_shell_completes_paths(folder: Path, shell: str, words: list[str], kind: str) -> None:
    """The kind is in the words of bash."""
    assert offered(shell, words, folder=folder) == [kind]


def test_fish_offers_files_and_directories(folder: Path) -> None:
    assert set(offered("fish", ["check", "jo"], folder=folder)) == {"job.yaml", "jobs/"}
    assert offered("fish", ["check", "-k", "jo"], folder=folder) == ["jobs/"]


def test_a_file_whose_name_begins_like_a_word_is_reached(folder: Path) -> None:
    (folder / "live.yaml").touch()

    assert offered("bash", ["check", "--facts", "li"], folder=folder) == ["default"]


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_branches_and_tags_are_offered_to_changed_since(folder: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]
    for arguments in (["init", "--quiet"], ["commit", "-qm", "first", "--allow-empty"], ["tag", "v1"]):
        subprocess.run([*git, *arguments], cwd=folder, check=True)

    assert set(offered("bash", ["check", "--changed-since", ""], folder=folder)) == {"main", "v1"}
    assert offered("bash", ["check", "--changed-since", "v"], folder=folder) == ["v1"]


def test_outside_of_a_repository_no_revision_is_offered(folder: Path) -> None:
    assert offered("bash", ["check", "--changed-since", ""], folder=folder) == []
