"""The catalogue of findings about clusters: codes, names, texts and sources."""

import ast
import re
from pathlib import Path

import pytest

from usher import paths
from usher.audit.document import Severity
from usher.audit.gather import needed_inputs
from usher.audit.standing import finding_catalogue
from usher.audit.standing.finding_catalogue import CatalogueEntry
from usher.kinds.kind import Key

ROOT = Path(__file__).parents[4]
MODULES = sorted((ROOT / "webhooks/usher/audit/standing").glob("*.py"))


def test_codes_and_names_are_unique_and_in_order() -> None:
    codes = [each.code for each in finding_catalogue.ENTRIES]

    assert codes == sorted(set(codes))
    assert len({each.name for each in finding_catalogue.ENTRIES}) == len(codes)
    assert all(re.fullmatch(r"USA\d{3}", code) for code in codes)


@pytest.mark.parametrize("each", finding_catalogue.ENTRIES, ids=lambda each: each.code)
def test_an_entry_has_all_its_texts(each: CatalogueEntry) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", each.name)
    assert each.severity in set(Severity)
    assert min(len(each.title), len(each.why), len(each.remedy)) > 10
    assert each.why.endswith(".")
    assert not each.title.endswith(".")


@pytest.mark.parametrize("each", finding_catalogue.ENTRIES, ids=lambda each: each.code)
def test_the_source_of_an_entry_is_a_heading_of_ours_or_a_page_of_its_project(each: CatalogueEntry) -> None:
    page, _, anchor = each.source.partition("#")
    if page.startswith("https://"):
        return
    headings = re.findall(r"^#+ (.+)$", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert not anchor or anchor in anchors


def test_every_entry_is_made_by_some_module_and_every_code_is_in_the_catalogue() -> None:
    texts = [node.value for module in MODULES for node in ast.walk(ast.parse(module.read_text("utf-8")))
             if isinstance(node, ast.Constant) and isinstance(node.value, str)]  # fmt: skip
    made = {text for text in texts if re.fullmatch(r"USA\d{3}", text)}

    assert made == set(finding_catalogue.BY_CODE)


def test_the_kinds_that_findings_read_are_unique_and_hold_no_secrets() -> None:
    keys: list[Key] = [each.key for each in needed_inputs.kinds_of(needed_inputs.Section.STANDING)]

    assert len(set(keys)) == len(keys)
    assert ("", "Secret") not in keys
    assert ("", "ConfigMap") not in keys


def test_of_a_daemon_set_it_keeps_images_and_no_variables() -> None:
    container: paths.Object = {"name": "main", "image": "plugin:1", "env": [{"name": "TOKEN", "value": "secret"}]}
    value: paths.Object = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "plugin", "annotations": {"last-applied": "secret"}},
        "spec": {
            "template": {
                "metadata": {"annotations": {"prometheus.io/scrape": "true", "token": "secret"}},
                "spec": {"containers": [container], "tolerations": [{"operator": "Exists"}]},
            }
        },
        "status": {"numberReady": 3, "desiredNumberScheduled": 4, "other": 1},
    }
    keep = needed_inputs.DAEMON_SET.keep

    assert keep(value) == {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "plugin"},
        "spec": {
            "template": {
                "metadata": {"annotations": {"prometheus.io/scrape": "true"}},
                "spec": {
                    "containers": [{"name": "main", "image": "plugin:1"}],
                    "tolerations": [{"operator": "Exists"}],
                },
            }
        },
        "status": {"numberReady": 3, "desiredNumberScheduled": 4},
    }


def test_of_a_node_it_keeps_one_condition() -> None:
    value: paths.Object = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a"},
        "spec": {"unschedulable": True, "providerID": "x"},
        "status": {"conditions": [{"type": "Ready"}, {"type": "DiskPressure"}], "images": [{}]},
    }
    keep = needed_inputs.NODE.keep

    assert keep(value) == {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a"},
        "spec": {"unschedulable": True},
        "status": {"conditions": [{"type": "Ready"}]},
    }
