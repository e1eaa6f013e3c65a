"""The workloads of the corpora in a real cluster: audit, check and admission say the same of each of them."""

import contextlib
import json
import re
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import reviews
import server_process
import shared_files
from e2e import corpus, crds
from e2e.cluster import ApiError, Cluster, Object
from e2e.registration import CONFIG
from indexed_manifests import documents
from integration import command
from server_process import ServerProcess
from usher.kinds.kind import Kind
from usher.kinds.registry import WORKLOADS

pytestmark = [pytest.mark.uses_definitions, pytest.mark.thorough]

AT_LEAST = 50
"""Workloads of the corpora that the API server takes."""

AT_ADMISSION_ALONE = {"USH220"}
"""It warns once, when somebody makes a DaemonSet, until usher.yaml names the system namespaces."""

CONNECTIONS = 8

_CODE = re.compile(r"\bUSH\d{3,4}\b")


def _workloads() -> Iterator[tuple[Kind, Object]]:
    for source in shared_files.available():
        for document in documents(source):
            value = document.value
            group = str(value.get("apiVersion", "")).rpartition("/")[0]
            kind = WORKLOADS.get((group, str(value.get("kind"))))
            if kind is not None and crds.is_served(kind) and not kind.cluster_scoped:
                yield kind, value


@pytest.fixture(scope="module")
def place(cluster: Cluster) -> Iterator[str]:
    """A namespace with every workload of the corpora that the API server takes."""
    kinds = [kind for kind in WORKLOADS.values() if kind.group not in crds.BUILT_IN and crds.is_served(kind)]
    crds.install(cluster, [f"{kind.group}/{kind.plural}" for kind in kinds])
    namespace = cluster.create_namespace(prefix="audited-")
    cluster.wait_for_service_account(namespace)

    def create(number: int, kind: Kind, value: Object) -> None:
        placed = corpus.placed(value, kind, namespace)
        placed["metadata"]["name"] = f"w{number}"
        with contextlib.suppress(ApiError):
            cluster.create(placed)

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        for number, (kind, value) in enumerate(_workloads()):
            pool.submit(create, number, kind, value)
    yield namespace
    cluster.delete_namespace(namespace, wait=False)


@pytest.fixture(scope="module")
def audited(cluster: Cluster, place: str) -> Mapping[tuple[str, str], Object]:
    """The decisions of an audit, by kind with its version, and name."""
    done = command.usher(
        "audit",
        f"--kubeconfig={cluster.kubeconfig}",
        f"--in-namespace={place}",
        f"--config={CONFIG}",
        "--format=findings",
    )
    assert done.code == 0, done.err
    return {(f"{each['apiVersion']} {each['kind']}", each["name"]): each for each in done.json["workloads"]}


@pytest.fixture(scope="module")
def existing(cluster: Cluster, place: str, audited: Mapping[tuple[str, str], Object]) -> list[Object]:
    """The workloads that the audit judged, as the API server has them."""
    found = []
    for api_kind, name in audited:
        version, kind = api_kind.split()
        try:
            found.append(cluster.get(kind, name, namespace=place, api_version=version))
        except ApiError:  # a Pod that has ended meanwhile
            continue
    return found


def of(value: Object) -> tuple[str, str]:
    return f"{value['apiVersion']} {value['kind']}", value["metadata"]["name"]


def codes(entry: Object, *outcomes: str) -> set[str]:
    return {each["code"] for each in entry["findings"] if each["outcome"] in outcomes}


def test_the_audit_judges_what_the_api_server_took(existing: list[Object]) -> None:
    assert len(existing) >= AT_LEAST


def test_check_says_of_each_what_the_audit_says(
    cluster: Cluster, existing: list[Object], audited: Mapping[tuple[str, str], Object], tmp_path: Path
) -> None:
    snapshot = tmp_path / "cluster.json.gz"
    assert command.usher("snapshot", f"--kubeconfig={cluster.kubeconfig}", "--output", snapshot).code == 0
    folder = tmp_path / "workloads"
    folder.mkdir()
    for number, value in enumerate(existing):  # one file each, because objects of one file see each other
        (folder / f"{number:04}.json").write_text(json.dumps(value))
    done = command.usher(
        "check", "--as-written", "--facts", snapshot, f"--config={CONFIG}", "--format=json", "--no-cache", folder
    )
    checked = {(f"{each['apiVersion']} {each['kind']}", each["name"]): each for each in done.json["workloads"]}

    said = {of(value): codes(audited[of(value)], "deny", "warn", "audit") for value in existing}
    assert {name: codes(checked[name], "deny", "warn", "audit") for name in said} == said


def test_admission_says_of_each_what_the_audit_says(
    cluster: Cluster, existing: list[Object], audited: Mapping[tuple[str, str], Object], tmp_path: Path
) -> None:
    """A review names the checks that deny and those that warn."""
    arguments = (f"--config={CONFIG}", "--live", f"--kubeconfig={cluster.kubeconfig}")
    different = {}
    with server_process.running(tmp_path / "server", arguments=arguments) as running:
        for value in existing:
            expected = codes(audited[of(value)], "deny", "warn")
            found = _codes_of(running, value)
            if found - AT_ADMISSION_ALONE != expected - AT_ADMISSION_ALONE:
                different[of(value)] = (found, expected)
        running.running.process.send_signal(signal.SIGINT)

    assert different == {}


def _codes_of(server: ServerProcess, value: Object) -> set[str]:
    response = server.review("validate", reviews.body(value, dryRun=True))
    texts = [response.get("status", {}).get("message", ""), *response.get("warnings", [])]
    return set(_CODE.findall("\n".join(texts)))
