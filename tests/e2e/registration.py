"""The real webhook server before the real API server: started, registered by our own commands, and taken away again."""

import contextlib
import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

import builders
import server_process
from e2e import processes
from e2e.cluster import ApiError, Cluster, Object, wait_until
from integration import command
from server_process import ServerProcess

CONFIG = Path(__file__).with_name("usher.yaml")

_API_VERSION = "admissionregistration.k8s.io/v1"
MUTATING = "MutatingWebhookConfiguration"


@contextlib.contextmanager
def serving(
    directory: Path,
    *,
    port: int | None = None,
    config: Path = CONFIG,
    arguments: tuple[str, ...] = (),
    env: Mapping[str, str] | None = None,
) -> Iterator[ServerProcess]:
    """A server with a configuration, more arguments and more variables, on a certain port or a free one.

    `usher certs` makes its certificate, once in a directory.
    """
    done = command.usher("certs", "issue", "--dir", directory, "--name", processes.LOOPBACK, "--name", "localhost")
    assert done.code == 0, done.err
    # Of two ports the last one counts.
    last = () if port is None else (f"--port={port}",)
    with server_process.running(directory, arguments=(f"--config={config}", *arguments, *last), env=env) as server:
        yield server if port is None else dataclasses.replace(server, port=port)


@contextlib.contextmanager
def registered(
    cluster: Cluster,
    server: ServerProcess,
    *,
    validating: bool = True,
    closed: Sequence[str] = (),
    policies: Sequence[Path] = (),
) -> Iterator[None]:
    """While the context lasts, the API server asks the server about every workload; it must run when that begins.

    Without `validating` it is only asked what to change. Objects with accelerators need the answer of the webhooks in
    `closed`: "mutate", "validate". It is also asked about the kinds that constraints in the bundles `policies` match.
    """
    printed = command.usher(
        *("manifests", "webhooks", "--url", server.url, "--ca-bundle", server.ca_file),
        *(f"--{webhook}-failure-policy=Fail" for webhook in closed),
        *(f"--policies={bundle}" for bundle in policies),
    )
    assert printed.code == 0, printed.err
    configurations = list(yaml.safe_load_all(printed.out))
    wanted = [each for each in configurations if validating or each["kind"] == MUTATING]
    for each in wanted:
        cluster.apply(each)
    try:
        wait_until(
            lambda: _mutates(cluster) and _validates(cluster) == validating,
            description="the API server asks the webhooks",
        )
        yield
    finally:
        remove(cluster, kinds=[each["kind"] for each in wanted])


@contextlib.contextmanager
def repointed(cluster: Cluster, url: str) -> Iterator[None]:
    """While the context lasts, the API server calls another URL for mutations."""
    before = cluster.get(MUTATING, "gpu-usher", api_version=_API_VERSION)["webhooks"][0]["clientConfig"]["url"]
    _repoint(cluster, url)
    try:
        yield
    finally:
        _repoint(cluster, before)


def _repoint(cluster: Cluster, url: str) -> None:
    patch = [{"op": "replace", "path": "/webhooks/0/clientConfig/url", "value": url}]
    cluster.kubectl("patch", MUTATING, "gpu-usher", "--type=json", f"--patch={json.dumps(patch)}")


def remove(cluster: Cluster, *, kinds: Sequence[str]) -> None:
    """Deletes our configurations of these kinds, if they exist, and waits for the last review."""
    for kind in filter(lambda each: cluster.exists(each, "gpu-usher", api_version=_API_VERSION), kinds):
        cluster.delete(kind, "gpu-usher", api_version=_API_VERSION)
    wait_until(lambda: not _mutates(cluster) and not _validates(cluster), description="the API server asks no webhook")


def decisions(server: ServerProcess, namespace: str, *, count: int = 0) -> list[Object]:
    """The decisions that the server logs about the objects of a namespace, as soon as there are `count` entries.

    An answer is logged a moment after it has been sent.
    """

    def logged() -> list[Object]:
        return [entry for entry in server.log("decision") if entry["namespace"] == namespace]

    wait_until(lambda: len(logged()) >= count, description=f"{count} decisions about {namespace} are logged")
    return logged()


def _mutates(cluster: Cluster) -> bool:
    try:
        return "env" in cluster.create(_probe(), dry_run=True)["spec"]["containers"][0]
    except ApiError as error:
        if error.status != 503:  # the Pod has missed the mutation that hides its devices
            raise
        return False


def _validates(cluster: Cluster) -> bool:
    try:
        cluster.create(_probe(visible_devices="all"), dry_run=True)
    except ApiError as error:
        return any(f"{name}.gpu-usher.io" in error.message for name in ("validate", "accelerators"))
    return False


def _probe(*, visible_devices: str | None = None) -> Object:
    """A pod that one webhook would change; with a value for the variable, one that the other would deny."""
    env = None if visible_devices is None else {"NVIDIA_VISIBLE_DEVICES": visible_devices}
    return builders.pod(builders.container(env=env), name="probe", namespace="default")
