"""The commands beside `check`, and how quickly they are there."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from integration import command
from integration.command import bad, config, good, usher, write
from usher.check.formats.lines import LOG_WIDTH
from usher.cli import main


def test_version_names_the_version() -> None:
    assert usher("--version").out == f"usher {version('gpu-usher')}\n"


def test_help_teaches_with_examples_and_exit_codes() -> None:
    out = usher("--help").out

    assert "helm template chart/ | usher check -" in out
    assert "Exit codes: 0 nothing is denied, 1 something is denied, 2 something could not be read or judged." in out


@pytest.mark.parametrize("name", main.COMMANDS)
def test_every_command_of_the_overview_is_there_and_explains_itself(name: str) -> None:
    run = usher(name, "--help")

    assert (run.code, run.err) == (0, "")
    assert run.out.startswith(f"Usage: usher {name} ")


def test_help_and_version_import_nothing_heavy() -> None:
    code = (
        "import sys\nfrom usher.cli import main\n"
        "try:\n    main.main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('pydantic', 'rich', 'wasmtime', 'kubernetes', 'fastapi') if name in sys.modules],"
        " file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=command.environment(), check=True)

    assert done.stderr == b"[]\n"


def test_policies_are_listed_with_what_follows_from_them(tmp_path: Path) -> None:
    file = config(
        tmp_path / "usher.yaml",
        enforcement={
            "preset": "baseline",
            "rules": [
                {"check": "USH103", "action": "audit", "namespaces": ["sandbox-*"]},
                {"check": "whole-gpus-only", "action": "off"},
            ],
        },
    )

    lines = usher("policies", "list", "--config", file).out.splitlines()

    rows = {line.split()[0]: line for line in lines if line}
    assert "  deny   " in rows["USH103"]
    assert rows["USH103"].endswith("; audit in sandbox-*")
    assert "  off  " in rows["USH101"]
    assert "  apply  " in rows["USM301"]


def test_policies_are_listed_by_category_outcome_severity_and_words(tmp_path: Path) -> None:
    def codes(*options: str) -> list[str]:
        return [
            line.split()[0]
            for line in usher("policies", "list", *options, cwd=tmp_path).out.splitlines()
            if "US" in line
        ]

    isolation = codes("--category", "isolation")
    assert "USH201" in isolation
    assert "USH101" not in isolation
    assert "USH105" in codes("--outcome", "off")
    assert "USH201" not in codes("--outcome", "off")
    assert "USH101" in codes("--severity", "critical")
    assert "USH105" not in codes("--severity", "critical")
    assert codes("--search", "Visible-Devices-Set") == ["USH201"]
    nothing = usher("policies", "list", "--search", "nonsense", cwd=tmp_path)
    assert (nothing.code, nothing.out) == (0, "")
    assert "no check or mutation fits these options" in nothing.err


def test_the_list_of_policies_fits_the_width(tmp_path: Path) -> None:
    lines = usher("policies", "list", cwd=tmp_path).out.splitlines()

    assert max(map(len, lines)) <= LOG_WIDTH


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_completion(shell: str) -> None:
    script = usher("completion", shell).out

    assert f"_USHER_COMPLETE={shell}_complete" in script


def test_a_command_line_is_completed() -> None:
    environment = {
        **command.environment(), "_USHER_COMPLETE": "bash_complete", "COMP_WORDS": "usher che", "COMP_CWORD": "1",
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "usher"], capture_output=True, env=environment, check=True)

    assert done.stdout == b"plain,check\n"


def test_policies_are_listed_for_programs(tmp_path: Path) -> None:
    entries = usher("policies", "list", "--format", "json", cwd=tmp_path).json

    (entry,) = [entry for entry in entries if entry["code"] == "USH103"]
    assert (entry["name"], entry["severity"], entry["outcome"]) == ("gpu-requests-equal-limits", "critical", "deny")


@pytest.mark.parametrize("name", ["USH103", "ush103", "gpu-requests-equal-limits"])
def test_a_policy_is_explained_by_code_or_name(tmp_path: Path, name: str) -> None:
    out = usher("policies", "show", name, cwd=tmp_path).out

    assert out.startswith("USH103 gpu-requests-equal-limits\nGPU requests equal GPU limits\n")
    assert "\n  outcome   deny\n" in out
    assert "\nRemedy: " in out
    assert "https://kubernetes.io/" in out


def test_a_directory_is_audited_like_a_cluster(tmp_path: Path) -> None:
    write(tmp_path / "jobs.yaml", bad(), good())

    run = usher("audit", ".", cwd=tmp_path)

    assert run.code == 0
    assert run.out.startswith("Audit of ., 20")
    assert "  asked for  2 GPUs, by 1 workload with accelerators\n" in run.out
    assert usher("audit", ".", "--fail-on", "deny", cwd=tmp_path).code == 1


def test_an_audit_of_files_names_a_namespace_without_workloads(tmp_path: Path) -> None:
    write(tmp_path / "jobs.yaml", bad(), good())

    run = usher("audit", ".", "--in-namespace", "ml-reserch", cwd=tmp_path)

    assert (run.code, run.err) == (2, "usher: .: no workload is in namespace ml-reserch\n")
