"""Every known path of a node is found, however a manifest spells it, and so is every directory above one.

docs/domain/host-paths.md has the sources of the paths.
"""

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, Literal

import pytest

from usher import paths
from usher.config import models
from usher.model import Outcome
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator

ROOT: Final = Path(__file__).parents[2]
LISTS: Final = (
    ("isolation/host_path_to_devices", "paths"),
    ("isolation/host_path_to_kubelet_state", "paths"),
    ("isolation/host_path_to_node_control", "paths"),
    ("isolation/host_path_to_node_control", "writtenPaths"),
)
BROAD: Final = ("isolation/broad_host_path", "directories")
NOT_LISTED: Final = "isolation/host_path_not_listed"
WITH_AN_ASSUMPTION: Final = frozenset({"/home/USER", "/tmp", "/var/lib/kubelet/pods"})
"""Directories with contents that usher can only assume, and those that a finding only warns about."""

Preset = Literal["observe", "baseline", "recommended", "strict"]


@cache
def evaluator(preset: Preset = "recommended") -> Evaluator:
    values = [models.ParameterValues(check="host-path-not-listed", values={"paths": ["/mnt/data"]})]
    return assembly.embedded(models.Config(enforcement=models.Enforcement(preset=preset), parameters=values))


def listed(check: str, parameter: str) -> list[str]:
    default = evaluator().catalogue.checks[check].parameters[parameter].default
    assert isinstance(default, list)
    return [str(path) for path in default]


KNOWN: Final = [(check, path) for check, parameter in LISTS for path in listed(check, parameter)]


def example(path: str) -> str:
    """A path on a node that a path of a table stands for."""
    path = path.replace("USER", "anna").replace("PID", "17")
    return path.removesuffix("*") + "x" if path.endswith("*") else path


def pod(path: str, *, read_only: bool = False) -> paths.Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "main", "namespace": "research-nlp"},
        "spec": {
            "volumes": [{"name": "files", "hostPath": {"path": path}}],
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example.com/main:1",
                    "volumeMounts": [{"name": "files", "mountPath": "/files", "readOnly": read_only}],
                }
            ],
        },
    }


def outcomes(path: str, *, preset: Preset = "recommended", read_only: bool = False) -> dict[str, Outcome]:
    """The outcome of each check that finds the path."""
    decision = evaluator(preset).decide(Request(value=pod(path, read_only=read_only)))
    return {
        judgement.finding.check: judgement.outcome
        for judgement in decision.judgements
        if judgement.finding.path.endswith("hostPath/path")
    }


@pytest.mark.parametrize("below", ["", "/below"], ids=["itself", "below it"])
def test_every_known_path_is_found_and_so_is_what_lies_below_it(below: str) -> None:
    missed = [
        (check, path)
        for check, path in KNOWN
        if outcomes(example(path) + below).get(check)
        is not (Outcome.WARN if check == "isolation/host_path_to_kubelet_state" else Outcome.DENY)
    ]

    assert missed == []


@pytest.mark.parametrize("source", ["hostPath", "local"])
def test_every_known_path_is_found_in_a_persistent_volume_too(source: str) -> None:
    def found(path: str) -> set[tuple[str, str]]:
        value: paths.Object = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "data"}}
        decision = evaluator().decide(Request(value={**value, "spec": {source: {"path": example(path)}}}))
        return {(each.finding.check, each.finding.path) for each in decision.judgements}

    assert [(check, path) for check, path in KNOWN if (check, f"/spec/{source}/path") not in found(path)] == []


def above(path: str) -> Iterator[str]:
    """The directories above a path, without the root."""
    directory = posixpath.dirname(path.rstrip("*"))
    while directory != "/":
        yield directory
        directory = posixpath.dirname(directory)


def test_every_directory_above_a_known_path_is_found_too() -> None:
    directories = {each for _, path in KNOWN for each in above(path)}
    missed = [
        each
        for each in sorted(directories)
        if (Outcome.WARN if each in WITH_AN_ASSUMPTION else Outcome.DENY) not in outcomes(example(each)).values()
    ]

    assert len(directories) > 20
    assert missed == []


SPELLINGS: Final = (
    "/opt/cni/bin/",
    "//opt///cni/./bin",
    "opt/cni/bin",
    "/opt/cni/plugins/../bin",
    "/var/opt/cni/bin",
    "/proc/1/root/opt/cni/bin",
    "/proc/1/task/1/cwd/opt/cni/bin",
    "/proc/self/root/var/run/../opt/cni/bin",
    "/lib/systemd/system",
    "/bin",
    "/sbin/",
    "/var/run/containerd",
    "/var/roothome/.ssh",
    "/home/../root/.kube/config",
    "/..//../etc/cron.d",
    "/",
    "/.",
    "/proc/1/root",
    "/proc/1/root/",
    "/var/run/..",
)


@pytest.mark.parametrize("path", SPELLINGS)
def test_no_spelling_hides_a_path(path: str) -> None:
    assert Outcome.DENY in outcomes(path).values()


@pytest.mark.parametrize(
    "path", ["/mnt/data", "/data", "/scratch", "/srv/models", "/var/lib/model-cache", "/home/anna/data", "/opt/models"]
)
def test_data_sets_and_scratch_space_are_for_strict_to_list(path: str) -> None:
    listed_here = path == "/mnt/data"

    assert outcomes(path) == {}
    assert outcomes(path, preset="strict") == ({} if listed_here else {NOT_LISTED: Outcome.DENY})


@pytest.mark.parametrize("path", ["/usr/local/Ascend/driver", "/lib/modules", "/etc/fstab", "/usr", "/opt"])
def test_programs_and_settings_may_be_read(path: str) -> None:
    assert outcomes(path, read_only=True) == {}
    assert Outcome.DENY in outcomes(path).values()


@pytest.mark.parametrize("path", ["/etc/localtime", "/usr/share/zoneinfo/Asia", "/etc/hostname", "/etc/hccn.conf"])
def test_files_by_which_no_program_runs_are_only_for_strict(path: str) -> None:
    assert outcomes(path) == {}
    assert NOT_LISTED in outcomes(path, preset="strict")


def test_strict_lets_pods_read_the_time_of_the_node_and_write_no_clock() -> None:
    assert outcomes("/etc/localtime", preset="strict", read_only=True) == {}
    assert NOT_LISTED in outcomes("/etc/localtime", preset="strict")


@pytest.mark.parametrize("path", ["/", "/etc", "/root", "/run/containerd/containerd.sock", "/etc/kubernetes/pki"])
def test_a_read_only_mount_hides_no_sockets_and_no_secrets(path: str) -> None:
    assert outcomes(path, read_only=True)
    assert Outcome.DENY in outcomes(path, preset="strict", read_only=True).values()


@pytest.mark.parametrize("preset", ["observe", "baseline"])
def test_every_preset_knows_the_paths(preset: Preset) -> None:
    wanted = {"observe": Outcome.AUDIT, "baseline": Outcome.WARN}[preset]

    assert set(outcomes("/opt/cni/bin", preset=preset).values()) == {wanted}


def test_the_page_names_every_known_path_with_its_source() -> None:
    page = (ROOT / "docs/domain/host-paths.md").read_text(encoding="utf-8")
    rows = [row for row in page.splitlines() if row.startswith("| ")]
    named = {path: row for row in rows for path in re.findall(r"`([^`]+)`", row.split("|")[2])}

    assert {path for _, path in KNOWN} | set(listed(*BROAD)) == set(named)
    assert all(row.split("|")[4].strip() for row in named.values())
