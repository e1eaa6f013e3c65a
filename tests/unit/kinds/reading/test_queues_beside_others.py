"""Queues, flavors, groups of pods and topologies that other objects of the files contradict."""

import pytest
import yaml

from usher.kinds.reading import chosen_boards, inner_names
from usher.kinds.reading.values import Objects
from usher.model import UnreadKey


def _texts(*texts: str) -> list[str]:
    """The findings about all objects."""
    values = [yaml.safe_load(text) for text in texts]
    objects = Objects(values)
    files = inner_names.Files(namespace="a", around=objects, beside=objects, of_facts=None)
    found: list[UnreadKey] = []
    for value in values:
        key = (value["apiVersion"].rpartition("/")[0], str(value["kind"]))
        found += inner_names.names_of_nothing(value, key, [], files)
        found += chosen_boards.beside_others(value, key, objects)
    return [each.text for each in found]


def _object(version: str, kind: str, metadata: str, spec: str) -> str:
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{{metadata}}}, spec: {{{spec}}}}}"


def _pod(name: str, queue: str = "q", count: object = 2) -> str:
    labels = f"kueue.x-k8s.io/queue-name: {queue}, kueue.x-k8s.io/pod-group-name: g"
    annotations = f"kueue.x-k8s.io/pod-group-total-count: {count!r}"
    metadata = f"name: {name}, namespace: a, labels: {{{labels}}}, annotations: {{{annotations}}}"
    return _object("v1", "Pod", metadata, "containers: []")


def _flavor(name: str, labels: str) -> str:
    return _object("kueue.x-k8s.io/v1beta1", "ResourceFlavor", f"name: {name}", f"nodeLabels: {{{labels}}}")


def _group(resource: str, flavor: str) -> str:
    quota = f"{{name: {flavor}, resources: [{{name: {resource}, nominalQuota: 8}}]}}"
    return f"{{coveredResources: [{resource}], flavors: [{quota}]}}"


_APART = _object(
    "kueue.x-k8s.io/v1beta1",
    "ClusterQueue",
    "name: c",
    f"namespaceSelector: {{}}, resourceGroups: [{_group('cpu', 'cpu')}, {_group('nvidia.com/gpu', 'gpu')}]",
)


def _queue(name: str, spec: str, parent: str = "") -> str:
    above = f"parent: {parent}, " if parent else ""
    return _object("scheduling.volcano.sh/v1beta1", "Queue", f"name: {name}", f"{above}{spec}")


def _hyper_node(name: str, tier: int, member: str, type_of: str = "Node", selector: str = "") -> str:
    by = selector or f"exactMatch: {{name: {member}}}"
    members = f"tier: {tier}, members: [{{type: {type_of}, selector: {{{by}}}}}]"
    return _object("topology.volcano.sh/v1alpha1", "HyperNode", f"name: {name}", members)


def _tree(resources: str, below: str = "", rules: str = "[]") -> str:
    child = f"{{name: ml, resources: {{{resources}}}, queues: [{below}]}}"
    partition = f"{{name: default, placementrules: {rules}, queues: [{{name: root, queues: [{child}]}}]}}"
    data = yaml.safe_dump(f"partitions: [{partition}]\n").rstrip()
    return f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: yunikorn-configs}}, data: {{queues.yaml: {data}}}}}"


def _queued(queue: str, key: str = "queue") -> str:
    template = f"{{metadata: {{labels: {{{key}: {queue}}}}}, spec: {{schedulerName: yunikorn, containers: []}}}}"
    return _object("batch/v1", "Job", "name: j, namespace: a", f"template: {template}")


def _pool(labels: str, requirement: str = "key: a, operator: Exists") -> str:
    spec = f"template: {{metadata: {{labels: {{{labels}}}}}, spec: {{requirements: [{{{requirement}}}]}}}}"
    return _object("karpenter.sh/v1", "NodePool", "name: p", spec)


_SPOT = "key: karpenter.sh/capacity-type, operator: In, values: [spot]"


_DESERVED = "deserved: {nvidia.com/gpu: 8}"
_GUARANTEED = "guarantee: {resource: {memory: 64Gi}}"


@pytest.mark.parametrize(
    ("wrong", "right", "words"),
    [
        (
            [_pod("x", count="2"), _pod("y", count="3")],
            [_pod("x", count="2"), _pod("y", count="2")],
            "a number of pods",
        ),
        ([_pod("x", "q", "2"), _pod("y", "r", "2")], [_pod("x", "q", "2")], "the queue r"),
        ([_pod(each, count="2") for each in "xyz"], [_pod(each, count="3") for each in "xyz"], "Kueue deletes"),
        (
            [_APART, _flavor("cpu", "pool: cpu"), _flavor("gpu", "pool: gpu")],
            [_APART, _flavor("cpu", "pool: cpu"), _flavor("gpu", "disk: fast")],
            "pool=gpu and cpu",
        ),
        (
            [_queue("d", _DESERVED), _queue("e", _DESERVED, "d"), _queue("f", _DESERVED, "d")],
            [_queue("d", _DESERVED), _queue("e", _DESERVED, "d")],
            "deserve 16 nvidia.com/gpu together",
        ),
        (
            [_queue("d", "weight: 1"), _queue("e", _GUARANTEED, "d")],
            [_queue("d", _GUARANTEED), _queue("e", _GUARANTEED, "d"), _queue("f", _GUARANTEED, "root")],
            "have a guarantee of 64Gi memory",
        ),
        (
            [_queue("d", "capability: {cpu: 8}"), _queue("e", "capability: {cpu: 9500m}", "d")],
            [_queue("d", "capability: {cpu: 8}"), _queue("e", "capability: {cpu: 7500m, memory: 1Gi}", "d")],
            "may have 9500m cpu, and its parent has 8",
        ),
        (
            [_hyper_node("s", 1, "l", "HyperNode"), _hyper_node("l", 1, "n")],
            [_hyper_node("s", 2, "l", "HyperNode"), _hyper_node("l", 1, "n")],
            "the tier 1 and the member l of the tier 1",
        ),
        (
            [_hyper_node("l", 2, "n", "HyperNode"), _hyper_node("m", 2, "n", "HyperNode")],
            [_hyper_node("l", 1, "n"), _hyper_node("m", 1, "n")],
            "which is in l too",
        ),
        (
            [_hyper_node("l", 1, "", "Node", "regexMatch: {pattern: 'n-[0-9'}")],
            [_hyper_node("l", 1, "", "Node", r"regexMatch: {pattern: 'n-(?:[0-9(]|x)+'}")],
            "a bracket stays open",
        ),
        (
            [_flavor("h", "pool: h100"), _pool("pool: a100"), _pool("pool: l40s").replace("name: p", "name: o")],
            [_flavor("h", "pool: h100"), _pool("pool: h100"), _flavor("i", "team: a")],
            "make them with a100, l40s alone",
        ),
        (
            [_flavor("h", "karpenter.sh/capacity-type: on-demand"), _pool("", _SPOT)],
            [_flavor("h", "karpenter.sh/capacity-type: on-demand"), _pool("", _SPOT.replace("In,", "NotIn,"))],
            "make them with spot alone",
        ),
        (
            [_tree("max: {nvidia.com/gpu: 4}, guaranteed: {nvidia.com/gpu: 8}")],
            [_tree("max: {nvidia.com/gpu: 8}, guaranteed: {nvidia.com/gpu: 8}")],
            "guarantees the queue root.ml 8 nvidia.com/gpu, above the 4",
        ),
        (
            [_tree("max: {memory: 64Gi}", "{name: x, resources: {max: {memory: 128G}}}")],
            [_tree("max: {memory: 64Gi}", "{name: x, resources: {max: {memory: 64G}}}")],
            "gives the queue root.ml.x 119.3Gi memory at most",
        ),
        (
            [
                _tree(
                    "max: {vcore: 8}",
                    "{name: x, resources: {guaranteed: {vcore: 6}}}, {name: y, resources: {guaranteed: {vcore: 4}}}",
                )
            ],
            [_tree("max: {vcore: 8}", "{name: x, resources: {guaranteed: {vcore: 6}}}")],
            "guarantees the queues below root.ml 10 vcore",
        ),
        (
            [_tree("max: {vcore: 8}"), _queued("root.mll")],
            [_tree("max: {vcore: 8}"), _queued("root.ml"), _queued("other", "example.com/queue")],
            "names the queue root.mll of YuniKorn",
        ),
        (
            [_tree("max: {vcore: 8}", "{name: x}"), _queued("root.ml", "yunikorn.apache.org/queue")],
            [_tree("max: {vcore: 8}", "{name: x}", "[{name: provided, create: true}]"), _queued("root.new")],
            "which holds other queues",
        ),
    ],
)
def test_what_other_objects_contradict_is_found(wrong: list[str], right: list[str], words: str) -> None:
    found = _texts(*wrong)

    assert len(found) == 1
    assert words in found[0]
    assert _texts(*right) == []
