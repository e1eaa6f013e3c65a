"""Options of earlier versions still work, and standard error says what to write instead."""

from pathlib import Path

import pytest

from integration import command
from integration.command import usher

NEW = "is an old spelling, which a later version drops; write"


@pytest.mark.costly
@pytest.mark.parametrize(
    ("arguments", "warning"),
    [
        (("audit", "PATH", "-n", "default"), f"--namespace {NEW} --in-namespace"),
        (("audit", "PATH", "--namespace", "default"), f"--namespace {NEW} --in-namespace"),
        (("fix", "--dry-run", "--check", "USH103", "PATH"), f"--check {NEW} --select"),
        (("manifests", "floor", "--check", "USH601"), f"--check {NEW} --select"),
        (("manifests", "facts-role", "--namespace", "ml"), f"--namespace {NEW} --server-namespace"),
        (("manifests", "audit", "--namespace", "ml"), f"--namespace {NEW} --audit-namespace"),
        (("replay", "PATH", "--against", "CONFIG", "--fail-on", "denied"), f"--fail-on denied {NEW} --fail-on deny"),
        (("replay", "PATH", "--against", "CONFIG", "--fail-on", "any"), f"--fail-on any {NEW} --fail-on audit"),
    ],
)
def test_an_old_spelling_works_and_names_the_new_one(arguments: tuple[str, ...], warning: str, tmp_path: Path) -> None:
    given = {"PATH": str(command.BAD_EXAMPLE), "CONFIG": str(command.config(tmp_path / "usher.yaml"))}
    run = usher(*(given.get(each, each) for each in arguments))
    words = warning.rpartition("write ")[2].split()
    old = warning.partition(" is an")[0].split()
    new = usher(*_replaced([given.get(each, each) for each in arguments], old, words))

    assert run.err.splitlines()[0] == f"usher: warning: {warning}"
    assert (run.code, run.out) == (new.code, new.out)
    assert "old spelling" not in new.err


def _replaced(arguments: list[str], old: list[str], new: list[str]) -> list[str]:
    spellings = (old[0], "-n") if old[0] == "--namespace" else (old[0],)
    place = next(number for number, each in enumerate(arguments) if each in spellings)
    return [*arguments[:place], *new, *arguments[place + len(old) :]]


def test_live_is_an_old_spelling_of_facts_live(tmp_path: Path) -> None:
    missing = tmp_path / "kubeconfig"

    for arguments in (("queue", command.BAD_EXAMPLE), ("init", "-o", "-"), ("replay", "--against", "usher.yaml")):
        old = usher(*arguments, "--live", "--kubeconfig", missing, cwd=tmp_path)
        new = usher(*arguments, "--facts", "live", "--kubeconfig", missing, cwd=tmp_path)
        assert old.err == f"usher: warning: --live {NEW} --facts live\n{new.err}"
        assert (old.code, "no such file" in new.err) == (new.code, True)


@pytest.mark.parametrize("words", [("check",), ("fix", "--dry-run"), ("explain",), ("audit",)])
def test_a_command_about_files_can_ask_a_cluster_for_facts(words: tuple[str, ...], tmp_path: Path) -> None:
    for given in (("--facts", "live", "--kubeconfig", "absent"), ("--kubeconfig", "absent")):
        run = usher(*words, command.BAD_EXAMPLE, *given, cwd=tmp_path)
        assert (run.code, "absent: no such file" in run.err) == (2, True), run.err


def test_a_cluster_and_files_are_two_sources_of_the_same_facts(tmp_path: Path) -> None:
    run = usher("fix", command.BAD_EXAMPLE, "--facts", "live", "--facts", "cluster.json.gz", cwd=tmp_path)

    assert run.code == 2
    assert "--facts live reads all facts from the cluster; leave out the files, or `live`" in run.err
