"""The kustomize component for cert-manager: what it renders, and that cert-manager's CRDs know each field."""

import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import kind_definitions
from shared_files import needs_shared
from usher.server.certs.certificates import AUTHORITY_LIFETIME, LEAF_LIFETIME, service_names

ROOT = Path(__file__).parents[4]
COMPONENT = ROOT / "certs" / "cert-manager"
KUBECTL = ROOT / ".tools" / "bin" / "kubectl"

OBJECTS = list(yaml.safe_load_all((COMPONENT / "certificates.yaml").read_text()))


def named(kind: str, name: str) -> dict[str, Any]:
    (found,) = [one for one in OBJECTS if (one["kind"], one["metadata"]["name"]) == (kind, name)]
    return dict(found["spec"])


def hours(duration: str) -> timedelta:
    return timedelta(hours=int(duration.removesuffix("h")))


def test_the_lifetimes_are_those_that_usher_gives() -> None:
    for name, lifetime in (("gpu-usher-ca", AUTHORITY_LIFETIME), ("gpu-usher-tls", LEAF_LIFETIME)):
        spec = named("Certificate", name)
        assert hours(spec["duration"]) == lifetime
        assert hours(spec["duration"]) - hours(spec["renewBefore"]) == (lifetime * 2 / 3)


def test_the_serving_certificate_answers_to_the_service() -> None:
    spec = named("Certificate", "gpu-usher-tls")
    assert spec["dnsNames"] == service_names("gpu-usher", namespace="gpu-usher")
    assert spec["secretName"] == "gpu-usher-tls"
    assert "server auth" in spec["usages"]


def test_the_issuers_form_a_chain() -> None:
    assert named("Issuer", "gpu-usher-selfsigned") == {"selfSigned": {}}
    assert named("Certificate", "gpu-usher-ca")["issuerRef"]["name"] == "gpu-usher-selfsigned"
    assert named("Issuer", "gpu-usher-ca")["ca"]["secretName"] == named("Certificate", "gpu-usher-ca")["secretName"]
    assert named("Certificate", "gpu-usher-tls")["issuerRef"]["name"] == "gpu-usher-ca"


@pytest.mark.skipif(not KUBECTL.exists(), reason="needs .tools/bin/kubectl (scripts/tools)")
def test_both_webhook_configurations_get_the_ca_injected_and_others_do_not(tmp_path: Path) -> None:
    configurations = [
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": name, "annotations": {"kept": "yes"}},
        }
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
        for name in ("gpu-usher", "another")
    ]
    for path in COMPONENT.iterdir():
        target = tmp_path / "cert-manager" / path.name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(path.read_bytes())
    overlay = tmp_path / "overlay"
    overlay.mkdir()
    (overlay / "webhooks.yaml").write_text(yaml.safe_dump_all(configurations))
    (overlay / "kustomization.yaml").write_text("resources: [webhooks.yaml]\ncomponents: [../cert-manager]\n")

    rendered = subprocess.run([KUBECTL, "kustomize", overlay], capture_output=True, check=True, timeout=60).stdout

    objects = list(yaml.safe_load_all(rendered))
    annotations = {
        (one["kind"], one["metadata"]["name"]): one["metadata"]["annotations"]
        for one in objects
        if one["kind"].endswith("WebhookConfiguration")
    }
    injected = {"kept": "yes", "cert-manager.io/inject-ca-from": "gpu-usher/gpu-usher-tls"}
    assert annotations == {
        ("MutatingWebhookConfiguration", "gpu-usher"): injected,
        ("ValidatingWebhookConfiguration", "gpu-usher"): injected,
        ("MutatingWebhookConfiguration", "another"): {"kept": "yes"},
        ("ValidatingWebhookConfiguration", "another"): {"kept": "yes"},
    }
    assert len(objects) == len(configurations) + len(OBJECTS)


@needs_shared("published definitions")
@pytest.mark.parametrize("manifest", OBJECTS, ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_cert_manager_knows_every_field(manifest: dict[str, Any]) -> None:
    file = kind_definitions.PUBLISHED / "cert-manager.io" / f"{manifest['kind'].lower()}s.yaml"
    crd = yaml.safe_load(file.read_text())
    (schema,) = [version["schema"]["openAPIV3Schema"] for version in crd["spec"]["versions"] if version["name"] == "v1"]
    jsonschema.validate(manifest, schema)
    assert list(unknown_fields(manifest["spec"], schema["properties"]["spec"], "spec")) == []


def unknown_fields(value: object, schema: dict[str, Any], path: str) -> Iterator[str]:
    """Paths of fields that the API server would prune."""
    if isinstance(value, dict):
        for key, child in value.items():
            known = schema.get("properties", {})
            if key in known:
                yield from unknown_fields(child, known[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}"
