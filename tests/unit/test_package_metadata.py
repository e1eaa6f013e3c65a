"""Metadata of the package, the chart and the plugin: where they lead, and that they agree.

Sources: artifacthub.io/docs/topics/annotations/helm, artifacthub-repo.yml of artifacthub/hub, and what krew refuses
(internal/index/validation/validate.go of kubernetes-sigs/krew).
"""

import hashlib
import re
import tomllib
from pathlib import Path
from typing import Any, Final

import krew_manifest
import pytest
import yaml
from trove_classifiers import classifiers

import usher
from helm import CHART, ROOT, needs_helm, run

PROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HOME: Final[str] = PROJECT["urls"]["Homepage"]
METADATA: Final[dict[str, Any]] = yaml.safe_load((CHART / "Chart.yaml").read_text())


def test_the_package_has_known_classifiers_and_the_pythons_that_it_supports() -> None:
    assert set(PROJECT["classifiers"]) <= classifiers
    assert PROJECT["requires-python"] == ">=3.11"
    assert f"Programming Language :: Python :: {PROJECT['requires-python'][2:]}" in PROJECT["classifiers"]


def links() -> list[str]:
    """All addresses in the metadata of the package and the chart."""
    return sorted({*PROJECT["urls"].values(), *re.findall(r"https://[^\s\"]+", (CHART / "Chart.yaml").read_text())})


@pytest.mark.parametrize("link", links())
def test_each_link_leads_to_a_file_of_this_repository(link: str) -> None:
    path = re.sub(r"^/?((blob|raw)/main/)?", "", link.removeprefix(HOME))

    assert link.startswith(HOME)
    assert path == "issues" or (ROOT / path).exists()


def test_the_chart_says_where_it_comes_from_and_who_maintains_it() -> None:
    annotations = METADATA["annotations"]
    definition = yaml.safe_load((CHART / "crds" / "gpu-quota-crd.yaml").read_text())
    (crd,) = yaml.safe_load(annotations["artifacthub.io/crds"])

    assert (METADATA["home"], METADATA["sources"]) == (HOME, [HOME])
    assert [each["name"] for each in METADATA["maintainers"]] == [each["name"] for each in PROJECT["maintainers"]]
    assert METADATA["version"] == METADATA["appVersion"] == usher.__version__
    assert annotations["artifacthub.io/license"] == PROJECT["license"]
    assert {annotations[f"artifacthub.io/{name}"] for name in ("operator", "prerelease")} <= {"true", "false"}
    assert crd["name"] == definition["metadata"]["name"]
    assert (crd["kind"], crd["version"]) == (
        definition["spec"]["names"]["kind"],
        definition["spec"]["versions"][0]["name"],
    )
    assert set(yaml.safe_load((CHART.parent / "artifacthub-repo.yml").read_text())) <= {
        "repositoryID",
        "owners",
        "ignore",
    }


@needs_helm
def test_helm_finds_nothing_to_recommend(tmp_path: Path) -> None:
    assert "[" not in run(["lint", CHART], home=tmp_path)


def test_krew_takes_the_manifest_of_the_plugin(tmp_path: Path) -> None:
    archive = tmp_path / "kubectl-usher-linux-amd64.tar.gz"
    archive.write_bytes(b"an archive")

    found = krew_manifest.manifest(archive, "https://downloads.example.com/v1")

    spec = found["spec"]
    assert found["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2"
    assert found["kind"] == "Plugin"
    assert re.fullmatch(r"[\w-]+", found["metadata"]["name"])
    assert re.fullmatch(r"v\d+\.\d+\.\d+", spec["version"])
    assert spec["homepage"] == HOME
    assert 0 < len(spec["shortDescription"]) <= 50
    assert "\n" not in spec["shortDescription"]
    (platform,) = spec["platforms"]
    assert platform["selector"] == {"matchLabels": {"os": "linux", "arch": "amd64"}}
    assert platform["uri"] == f"https://downloads.example.com/v1/{archive.name}"
    assert platform["sha256"] == hashlib.sha256(b"an archive").hexdigest()
    assert platform["bin"] == "kubectl-usher"


UNPUBLISHED: Final = re.compile(
    r"pip install '?gpu-usher(?!\[)|helm repo add|oci://ghcr|docker pull|krew install usher"
)
"""Commands that work only after gpu-usher is published there."""


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name
)
def test_pages_name_only_published_packages(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert not UNPUBLISHED.search(text) or "**No public package index has gpu-usher" in text
