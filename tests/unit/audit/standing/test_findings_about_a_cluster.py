"""The catalogue of findings about clusters: codes, names, texts and sources."""

import ast
import re
from functools import cache
from pathlib import Path

import document_audit_findings
import pytest

from usher import paths
from usher.audit.document import Severity
from usher.audit.gather import needed_inputs
from usher.audit.standing import situation
from usher.audit.standing.situation import CatalogueEntry
from usher.kinds.kind import Key
from usher.policy.checks import catalogue

ROOT = Path(__file__).parents[4]
MODULES = sorted((ROOT / "webhooks/usher/audit/standing").glob("*.py"))


def test_codes_and_names_are_unique_and_in_order() -> None:
    codes = [each.code for each in situation.ENTRIES]

    assert codes == sorted(set(codes))
    assert len({each.name for each in situation.ENTRIES}) == len(codes)
    assert all(re.fullmatch(r"USA\d{3}", code) for code in codes)


@pytest.mark.parametrize("each", situation.ENTRIES, ids=lambda each: each.code)
def test_an_entry_has_all_its_texts(each: CatalogueEntry) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", each.name)
    assert each.severity in set(Severity)
    assert min(len(each.title), len(each.why), len(each.remedy)) > 10
    assert each.why.endswith(".")
    assert not each.title.endswith(".")


@pytest.mark.parametrize("each", situation.ENTRIES, ids=lambda each: each.code)
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

    assert made == set(situation.BY_CODE)


def test_the_kinds_that_audits_read_are_unique_and_hold_no_secrets() -> None:
    keys: list[Key] = [each.key for each in needed_inputs.WANTED]

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


def printed(node: ast.AST) -> str:
    """A pattern for what a text of the modules becomes."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(printed, node.values))
    return re.escape(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ".*"


@cache
def texts_of_modules() -> list[str]:
    """Patterns for the texts of the modules."""
    modules = [*MODULES, ROOT / "webhooks/usher/install/preflight.py"]
    texts = {printed(node) for module in modules for node in ast.walk(ast.parse(module.read_text("utf-8")))}
    return [text for text in texts if len(re.sub(r"\.\*|\W", "", text)) > 8]


@pytest.mark.parametrize("each", situation.ENTRIES, ids=lambda each: each.code)
def test_an_entry_has_a_page_with_an_example_whose_words_are_in_the_modules(each: CatalogueEntry) -> None:
    message = document_audit_findings.EXAMPLES[each.code]["message"]

    assert any(re.search(text, message) for text in texts_of_modules())
    assert set(document_audit_findings.EXAMPLES) == set(situation.BY_CODE)
    assert (ROOT / f"docs/checks/{each.name}.md").read_text() == "\n".join(document_audit_findings.page(each)) + "\n"


def test_no_finding_about_a_cluster_has_the_name_of_a_check() -> None:
    checks = catalogue.load().catalogue.checks.values()

    assert {each.name for each in situation.ENTRIES}.isdisjoint(check.name for check in checks)
