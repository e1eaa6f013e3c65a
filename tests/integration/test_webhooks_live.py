"""`usher manifests webhooks --ca-from-cluster`: the webhooks trust from the first moment what the server serves."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from integration.api_server import ApiServer, Response, status
from integration.command import Run, usher

ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
ENDPOINTS: Final = "/apis/discovery.k8s.io/v1/namespaces/gpu-usher/endpointslices"
SECRET: Final = "/api/v1/namespaces/gpu-usher/secrets/gpu-usher-certificates"
FAIL: Final = ("--validate-failure-policy=Fail", "--mutate-failure-policy=Fail")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def webhook(bundle: str) -> dict[str, Any]:
    return {"name": "one.gpu-usher.io", "clientConfig": {"caBundle": encoded(bundle)} if bundle else {}}


def serve(api: ApiServer, answers: Mapping[str, Response]) -> None:
    api.troubles.append(lambda path, _: answers.get(path))


def live_webhooks(mutating: str, validating: str) -> dict[str, Response]:
    return {
        f"{ADMISSION}/{kind}webhookconfigurations/gpu-usher": Response(
            value={"metadata": {"name": "gpu-usher"}, "webhooks": [webhook(""), webhook(bundle)]}
        )
        for kind, bundle in (("mutating", mutating), ("validating", validating))
    }


def ready(count: int) -> dict[str, Response]:
    conditions = [{"conditions": {"ready": True}}] * count + [{"conditions": {"ready": False}}]
    return {ENDPOINTS: Response(value={"items": [{"endpoints": conditions}]})}


def printed(kubeconfig: Path, *options: str) -> Run:
    return usher("manifests", "webhooks", "--ca-from-cluster", f"--kubeconfig={kubeconfig}", *options)


def bundles(run: Run) -> set[str]:
    documents = list(yaml.safe_load_all(run.out))
    return {each["clientConfig"]["caBundle"] for document in documents for each in document["webhooks"]}


@pytest.mark.parametrize(("mutating", "validating"), [("CA", "CA"), ("", "CA"), ("CA", "")])
def test_new_webhooks_trust_what_the_others_trust(
    api: ApiServer, kubeconfig: Path, mutating: str, validating: str
) -> None:
    serve(api, {**live_webhooks(mutating, validating), **ready(1)})

    assert bundles(printed(kubeconfig, *FAIL)) == {encoded("CA")}


def test_before_there_are_webhooks_the_ca_of_the_secret_is_trusted(api: ApiServer, kubeconfig: Path) -> None:
    serve(api, {SECRET: Response(value={"data": {"ca.crt": encoded("first")}}), **ready(1)})

    assert bundles(printed(kubeconfig, *FAIL)) == {encoded("first")}


def test_without_a_ready_server_nothing_is_printed_that_fails_closed(api: ApiServer, kubeconfig: Path) -> None:
    serve(api, {**live_webhooks("CA", "CA"), **ready(0)})

    run = printed(kubeconfig, *FAIL)

    assert (run.code, run.out) == (2, "")
    assert "no server behind the Service gpu-usher/gpu-usher is ready" in run.err
    assert "kubectl rollout status deployment/gpu-usher" in run.err
    assert bundles(printed(kubeconfig)) == {encoded("CA")}, "with Ignore no server is needed"


@pytest.mark.parametrize("data", [{}, {"ca.crt": ""}, {"ca.crt": "not base64!"}, None])
def test_a_cluster_without_a_ca_is_an_error_with_the_remedy(api: ApiServer, kubeconfig: Path, data: Any) -> None:
    serve(api, {SECRET: Response(value={"data": data})})

    run = printed(kubeconfig)

    assert (run.code, run.out) == (2, "")
    assert "has a caBundle" in run.err
    assert "wait until the server is ready" in run.err


def test_what_may_not_be_read_is_an_error_and_not_an_empty_bundle(api: ApiServer, kubeconfig: Path) -> None:
    path = f"{ADMISSION}/mutatingwebhookconfigurations/gpu-usher"
    serve(api, {path: status(403, "you may not"), SECRET: Response(value={"data": {"ca.crt": encoded("CA")}})})

    assert "you may not" in printed(kubeconfig).err


def test_two_sources_of_a_ca_are_refused(kubeconfig: Path, tmp_path: Path) -> None:
    file = tmp_path / "ca.crt"
    file.write_text("CA")

    assert "leave out --ca-bundle" in printed(kubeconfig, f"--ca-bundle={file}").err
    assert "leave out --ca-bundle and --url" in printed(kubeconfig, "--url=https://127.0.0.1:1").err
