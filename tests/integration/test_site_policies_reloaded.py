"""Bundles of policies while a server runs: at its start, when they change, and when they cannot be used."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

import builders
import opa_server
import server_process
import site_bundles
from builders import policies
from e2e.cluster import wait_until
from integration.command import CONFIG, usher, write
from reviews import body
from server_process import BOUND, ServerProcess
from usher.extensions import policy_archive

pytestmark = [*opa_server.needs_opa, pytest.mark.process]

TEAM: Any = {"parameters": {"labels": ["team"]}}
OWNER: Any = {"parameters": {"labels": ["owner"]}}
BIG: Any = builders.pod(builders.container(gpus=9), name="big", namespace="research")
QUICK = "--reload-interval=0.1"


def of(**spec: Any) -> tuple[Any, Any]:
    return policies.template(), policies.constraint(**spec)


def said(server: ServerProcess) -> str:
    """The findings of policies in a pod without labels."""
    message: str = server.review("validate", body(BIG)).get("status", {}).get("message", "")
    return message


def replaced(file: Path, content: bytes) -> None:
    """As a ConfigMap does it: the file changes as a whole."""
    other = file.with_suffix(".other")
    other.write_bytes(content)
    other.rename(file)


def test_a_new_bundle_takes_effect_with_its_templates_and_constraints(tmp_path: Path) -> None:
    bundle = site_bundles.gatekeeper(tmp_path, *of(**TEAM))
    other = site_bundles.gatekeeper(
        tmp_path, policies.template("Told", site_bundles.ABOUT_THE_REQUEST), policies.constraint("Told"), name="other"
    )
    with server_process.running(tmp_path, arguments=(f"--policies={bundle}", QUICK)) as server:
        assert "lacks the labels" in said(server)

        replaced(bundle, other.read_bytes())

        wait_until(lambda: "CREATE by alice" in said(server), description="the new policies judge", timeout=BOUND)
        assert "lacks the labels" not in said(server)


def has_told(server: ServerProcess, problems: int) -> bool:
    return len(server.log("policies_problem")) >= problems


def test_a_bundle_that_cannot_be_used_leaves_the_last_good_one_in_service(tmp_path: Path) -> None:
    bundle, second = site_bundles.gatekeeper(tmp_path, *of(**TEAM)), tmp_path / "second.bundle"
    second.write_bytes(site_bundles.gatekeeper(tmp_path, *of(**OWNER), name="another").read_bytes())
    whole = bundle.read_bytes()
    damages = (
        whole[: len(whole) // 2],
        b"kind: ConstraintTemplate\n",
        policy_archive.written({"kind": "Other"}, {}),
        None,
    )
    config = tmp_path / "usher.yaml"
    with server_process.running(tmp_path, config={}, arguments=(f"--policies={bundle}", QUICK)) as server:
        for number, damage in enumerate(damages, 1):
            if damage is None:
                bundle.unlink()
            else:
                replaced(bundle, damage)
            wait_until(partial(has_told, server, number), description=f"problem {number} is told", timeout=BOUND)

            line = server.log("policies_problem")[-1]
            assert str(bundle) in line["reason"]
            assert line["kept"] == "the last good ones"
            assert server.metrics()["usher_policies_good{}"] == 0
            assert 'lacks the labels {"team"}' in said(server)

        assert len(server.log("policies_problem")) == len(damages)
        replaced(config, orjson.dumps({**CONFIG, "enforcement": {"preset": "observe"}}))
        wait_until(lambda: server.log("configuration_reloaded"), description="usher.yaml is read", timeout=BOUND)
        assert 'lacks the labels {"team"}' in said(server)

        replaced(bundle, second.read_bytes())
        wait_until(lambda: '{"owner"}' in said(server), description="the good bundle judges", timeout=BOUND)
        assert server.metrics()["usher_policies_good{}"] == 1


def test_own_checks_judge_and_usher_yaml_decides_about_them(tmp_path: Path) -> None:
    bundle = site_bundles.own_checks(tmp_path)
    rules: Any = {"enforcement": {"rules": [{"check": "ACME101", "action": "deny"}]}}
    with server_process.running(tmp_path, config=rules, arguments=(f"--policies={bundle}", QUICK)) as server:
        answer = server.review("validate", body(BIG))

        assert "ACME101 gpus-per-team: the pod asks for 9 of nvidia.com/gpu" in answer["status"]["message"]
        assert "usher explain ACME101" not in answer["status"]["message"]
        assert "ACME101" in answer["auditAnnotations"]["deny"]
        assert server.log("configuration_warning") == []

        replaced(tmp_path / "usher.yaml", orjson.dumps(CONFIG))
        wait_until(
            lambda: server.review("validate", body(BIG))["allowed"], description="the check only warns", timeout=BOUND
        )


def test_without_the_bundle_a_server_says_that_codes_of_own_checks_have_no_effect(tmp_path: Path) -> None:
    rules: Any = {"enforcement": {"rules": [{"check": "ACME101", "action": "deny"}]}}
    with server_process.running(tmp_path, config=rules) as server:
        assert "no check ACME101 is loaded" in server.log("configuration_warning")[0]["reason"]


def serving(folder: Path, *arguments: str | Path) -> str:
    """Why a server does not start."""
    run = usher(
        "serve", "--dev", "--port=0", "--admin-port=0", *arguments, cwd=folder, env={"PATH": os.environ["PATH"]}
    )
    assert run.code == 2, run.out + run.err
    return run.err + run.out


def test_sources_are_refused_with_the_command_that_builds_a_bundle(tmp_path: Path) -> None:
    write(tmp_path / "gatekeeper" / "all.yaml", *of(**TEAM))

    told = serving(tmp_path, "--policies", "gatekeeper")

    assert "gatekeeper: is not a bundle, and a server takes bundles alone" in told
    assert "usher policies build" in told


def test_a_bundle_must_be_signed_by_the_owner_of_the_key(tmp_path: Path) -> None:
    private, public = site_bundles.keys(tmp_path)
    _, other = site_bundles.keys(tmp_path, "other")
    unsigned = site_bundles.gatekeeper(tmp_path, *of(**TEAM), name="unsigned")
    signed = site_bundles.gatekeeper(tmp_path, *of(**TEAM), options=("--sign-key", str(private)))

    assert "is not signed" in serving(tmp_path, "--policies", unsigned, "--verify-key", public)
    assert "its signature is not one of the given key" in serving(tmp_path, "--policies", signed, "--verify-key", other)
    with server_process.running(
        tmp_path, arguments=(f"--policies={signed}", f"--verify-key={public}", QUICK)
    ) as server:
        replaced(signed, unsigned.read_bytes())
        (line,) = wait_until(lambda: server.log("policies_problem"), description="the problem is told", timeout=BOUND)

        assert "is not signed" in line["reason"]
        assert "lacks the labels" in said(server)
