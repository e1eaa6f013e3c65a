"""An upgrade, and the way back: replicas of two releases share accounts, certificates and webhooks.

The release before is the newest tag, or the commit before where there is no tag; USHER_EARLIER names another commit.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest
import yaml

import builders
import server_process
from e2e import certificate_site, quota_site, registration
from e2e.balancer import Endpoints, balancing
from e2e.cluster import ApiError, Cluster, Object, wait_until
from e2e.processes import LOOPBACK
from integration import command
from server_process import ServerProcess

ROOT: Final = Path(__file__).parents[2]
HARD: Final = 8

pytestmark = pytest.mark.slow


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The variables with which Python runs the release before."""
    tags = git("tag", "--list", "v*", "--sort=-version:refname").decode().split()
    commit = os.environ.get("USHER_EARLIER") or (tags[0] if tags else "HEAD~1")
    folder = tmp_path_factory.mktemp("earlier")
    subprocess.run(["tar", "--extract"], input=git("archive", commit, "webhooks", "policies"), cwd=folder, check=True)
    variables = {"PYTHONPATH": str(folder / "webhooks")}
    where = printed_by(variables, "-c", "import usher; print(usher.__file__)")
    assert where.startswith(str(folder)), "the release before is not the one that runs"
    return variables


def printed_by(variables: Mapping[str, str], *arguments: str) -> str:
    """The output of Python with the package that the variables name."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env=command.environment(**variables),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout


THIS: Final[Mapping[str, str]] = {"PYTHONPATH": str(ROOT / "webhooks")}


def admitted(cluster: Cluster, namespace: str, name: str) -> bool:
    """Whether a job of one GPU comes in; any other error than a full quota fails the test."""
    template = builders.template(builders.container(gpus=1), restartPolicy="Never")
    try:
        cluster.create(builders.job(template, name=name, namespace=namespace))
    except ApiError as error:
        if "GPUQuota" not in error.message:
            raise
        return False
    return True


def test_both_versions_charge_one_account_and_no_gpu_too_many(
    cluster: Cluster, namespace: str, earlier: Mapping[str, str], tmp_path: Path
) -> None:
    with (
        quota_site.account(cluster) as account,
        quota_site.replica(tmp_path, 0, account, env=earlier) as old,
        quota_site.replica(tmp_path, 1, account, env=THIS) as new,
        quota_site.quota(cluster, namespace, {"hard": {"gpus": HARD}}) as quota,
    ):
        quota_site.wait_until_known([old, new])
        came = 0
        # Before the rollout, in the middle of it, after it, and back.
        for step, replicas in enumerate(([old], [old, new], [new], [old])):
            with quota_site.asked(cluster, replicas):
                came += sum(admitted(cluster, namespace, f"job-{step}-{number}") for number in range(3))
        wait_until(lambda: quota_site.used(cluster, quota) == HARD, description="the account is full")

        assert came == HARD
        for server in (old, new):
            assert server.log("review_failed") == []


def test_both_versions_keep_one_certificate_authority(
    cluster: Cluster, earlier: Mapping[str, str], tmp_path: Path
) -> None:
    """Neither makes a new CA beside the other's: clients that trust the first one trust both."""
    with certificate_site.site(cluster) as site, certificate_site.registered(site):
        authorities = set()
        for number, variables in enumerate((earlier, THIS, earlier)):
            with certificate_site.replica(site, tmp_path / str(number), env=variables) as server:
                wait_until(site.trusted, description="all bundles trust the CA")
                authorities.add(site.kept().data()["ca.crt"])
                assert server.log("certificate_problem") == server.log("certificate_unusable") == []

    assert len(authorities) == 1


@contextlib.contextmanager
def asked(cluster: Cluster, server: ServerProcess, variables: Mapping[str, str]) -> Iterator[None]:
    """While the context lasts, the API server calls a server by the webhooks that one version prints."""
    with balancing(Endpoints(server.port)) as port:
        given = ("--url", f"https://{LOOPBACK}:{port}", "--ca-bundle", str(server.ca_file))
        closed = ("--mutate-failure-policy=Fail", "--validate-failure-policy=Fail")
        printed = printed_by(variables, "-m", "usher", "manifests", "webhooks", *given, *closed)
        objects: list[Object] = list(yaml.safe_load_all(printed))
        cluster.kubectl("apply", "--filename=-", stdin=yaml.safe_dump_all(objects))
        try:
            yield
        finally:
            registration.remove(cluster, kinds=[each["kind"] for each in objects])


@pytest.mark.parametrize("webhooks_first", [True, False])
def test_webhooks_of_one_version_have_answers_of_the_other(
    cluster: Cluster, namespace: str, earlier: Mapping[str, str], tmp_path: Path, *, webhooks_first: bool
) -> None:
    """An upgrade changes webhooks and server at different times, and each order happens."""
    of_webhooks, of_server = (THIS, earlier) if webhooks_first else (earlier, THIS)
    greedy = builders.pod(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}), name="greedy", namespace=namespace)
    plain = builders.pod(builders.container(gpus=1), name="train", namespace=namespace)

    with registration.serving(tmp_path, env=of_server) as server, asked(cluster, server, of_webhooks):
        wait_until(lambda: tolerates(cluster, plain), description="pods are changed")
        with pytest.raises(ApiError, match="USH201"):
            cluster.create(greedy)

    assert server.log("review_failed") == []
    assert server.log("request_refused") == []


def tolerates(cluster: Cluster, pod: Object) -> bool:
    found = cluster.create(pod, dry_run=True)["spec"].get("tolerations", [])
    return any(each.get("key") == "nvidia.com/gpu" for each in found)


def test_what_runs_is_what_the_test_says(earlier: Mapping[str, str], tmp_path: Path) -> None:
    """Without this, both replicas could be this version."""
    with server_process.running(tmp_path, env=earlier) as server:
        environment = Path(f"/proc/{server.pid}/environ").read_bytes()

    assert f"PYTHONPATH={earlier['PYTHONPATH']}".encode() in environment.split(b"\0")
