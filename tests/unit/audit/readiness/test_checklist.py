"""The checklist as a whole: its ids and texts, and clusters that it cannot read."""

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import generated_examples
from builders.checklists import checklist
from builders.estates import entry, estate, gpu_node
from usher import paths
from usher.audit import sections
from usher.audit.document import ReadinessItem, Standing
from usher.audit.gather import needed_inputs
from usher.audit.gather.needed_inputs import WANTED
from usher.audit.readiness.checklist import ITEMS, Item

ROOT = Path(__file__).parents[4]
AREAS = ["drivers", "monitoring", "scheduling", "isolation", "capacity", "recovery"]
CONFORMANCE = {
    *("accelerator_metrics", "ai_inference", "ai_service_metrics", "cluster_autoscaling", "dra_support"),
    *("driver_runtime_management", "gang_scheduling", "gpu_sharing", "pod_autoscaling", "robust_controller"),
    *("secure_accelerator_access", "workload_sandboxing"),
}
"""Items of the programme, of releases 1.35 to 1.37, that can be seen in a cluster."""


def test_every_item_has_a_function_and_every_function_an_item() -> None:
    assert set(sections.JUDGES) == {each.id for each in ITEMS}


def test_ids_are_unique_and_areas_come_in_their_order() -> None:
    ids = Counter(each.id for each in ITEMS)

    assert set(ids.values()) == {1}
    assert list(dict.fromkeys(each.area for each in ITEMS)) == AREAS
    assert {each.conformance for each in ITEMS} - {""} == CONFORMANCE


@pytest.mark.parametrize("each", ITEMS, ids=lambda each: each.id)
def test_an_item_has_all_its_texts(each: Item) -> None:
    page, _, anchor = each.reference.partition("#")

    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", each.id)
    assert each.how.endswith(".")
    assert min(map(len, (each.title, each.how, each.remedy))) > 10
    if not page.startswith("https://"):
        text = (ROOT / page).read_text(encoding="utf-8").lower()
        assert not anchor or anchor.replace("-", " ") in text


def test_a_cluster_that_cannot_be_read_passes_nothing() -> None:
    found = checklist(estate(nodes=None, workloads=[entry()]), server="")

    assert {each.id for each in found.values() if each.standing in (Standing.PASS, Standing.FAIL)} == set()


def test_the_kinds_that_may_not_be_listed_pass_nothing_either() -> None:
    keys = {each.key for each in WANTED}
    found = checklist(estate(nodes=[gpu_node()], workloads=[entry()], unknown=keys), server="")

    assert {each.id for each in found.values() if each.standing is Standing.PASS} == {"node-labels", "node-taints"}


def test_a_remedy_stands_only_where_something_is_to_be_done() -> None:
    found = checklist(estate(nodes=[gpu_node()], workloads=[entry()]))

    assert {each.id for each in found.values() if bool(each.remedy) != (each.standing in _OPEN)} == set()


_OPEN = (Standing.FAIL, Standing.NOT_KNOWN)


def test_of_a_service_it_keeps_the_annotations_of_prometheus() -> None:
    keep = needed_inputs.SERVICE.keep
    annotations: paths.Object = {"prometheus.io/scrape": "true", "note": "secret"}
    value: paths.Object = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "annotations": annotations}}

    assert keep({**value, "spec": {"ports": []}}) == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a", "annotations": {"prometheus.io/scrape": "true"}},
    }


KEYS = (
    *("metadata", "name", "namespace", "labels", "annotations", "spec", "status", "conditions", "type", "selector"),
    *("toolkit", "version", "podSelector", "policyTypes", "limits", "template", "containers", "image", "webhooks"),
    *("rules", "clientConfig", "caBundle", "numberReady", "desiredNumberScheduled", "requirements", "key"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=generated_examples.up_to(60), deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6), max_size=8))
def test_objects_of_any_shape_do_no_harm(values: list[paths.Object]) -> None:
    wanted = WANTED
    objects = []
    for index, value in enumerate(values):
        each = wanted[index % len(wanted)]
        version = f"{each.group}/{each.versions[0]}" if each.group else each.versions[0]
        objects.append({**each.keep(value), "apiVersion": version, "kind": each.kind})
    nodes = [gpu_node()]

    forwards = checklist(estate(nodes=nodes, workloads=[entry()], objects=objects))
    backwards = checklist(estate(nodes=nodes, workloads=[entry()], objects=objects[::-1]))
    assert forwards == backwards
    assert all(ReadinessItem.model_validate_json(each.model_dump_json()) == each for each in forwards.values())
