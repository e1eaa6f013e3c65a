"""An installation is removed in an order in which no request ever waits for a server that is gone."""

from pathlib import Path

import pytest
import yaml

from usher.install import installed_objects

MANIFESTS = Path(__file__).parents[4] / "manifests"


def titles(namespace: str = "gpu-usher") -> list[str]:
    return [part.title for part in installed_objects.parts(namespace)]


def test_the_webhook_configurations_go_first_and_the_namespaces_last() -> None:
    order = titles()

    assert order[:2] == ["ValidatingWebhookConfiguration gpu-usher", "MutatingWebhookConfiguration gpu-usher"]
    assert order[-2:] == ["Namespace gpu-usher-quotas", "Namespace gpu-usher"]


def test_definitions_stay() -> None:
    assert not [title for title in titles() if "Definition" in title]
    assert installed_objects.quota_definition_part().path.endswith("/customresourcedefinitions/gpuquotas.gpu-usher.io")


def test_another_namespace_changes_all_places_of_the_server() -> None:
    paths = [part.path for part in installed_objects.parts("policies")]

    assert "/api/v1/namespaces/policies-quotas" in paths
    assert not [path for path in paths if "/namespaces/gpu-usher" in path]


@pytest.mark.parametrize("folder", ["base", "webhooks", "config-maps", "kueue", "monitoring"])
def test_everything_that_the_manifests_make_is_removed(folder: str) -> None:
    """With its namespace, where it has one that is only ours."""
    files = [file for file in sorted((MANIFESTS / folder).glob("*.yaml")) if file.name != "kustomization.yaml"]
    assert files
    for file in files:
        for each in yaml.safe_load_all(file.read_text()):
            namespace = each["metadata"].get("namespace", "gpu-usher" if folder == "monitoring" else "")
            title = f"{each['kind']} {namespace}/{each['metadata']['name']}".replace(" /", " ")
            assert title in titles() or namespace in ("gpu-usher", "gpu-usher-quotas"), title
