"""Names, ports and networks that pods do not get beside a Service, a NetworkPolicy or pods of another object."""

from collections.abc import Mapping

import pytest
import yaml

from unit.workloads.normalised import workload
from usher import paths
from usher.kinds.reading import chosen_boards, value_forms
from usher.kinds.reading.values import Objects


def _texts(*values: paths.Object) -> list[str]:
    """The findings about the first object beside the others."""
    value = values[0]
    key = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    specs = value_forms.pod_specs(value)
    return [each.text for each in chosen_boards.beside_others(value, key, Objects(values), workload(value), specs)]


def _job(more: str = "", command: str = "train", labels: str = "app: train") -> paths.Object:
    container = (
        f"{{name: c, image: 'a:1', command: [sh, -c, '{command}'], resources: {{limits: {{nvidia.com/gpu: 1}}}}}}"
    )
    pods = f"metadata: {{labels: {{{labels}}}}}, spec: {{{more}restartPolicy: Never, containers: [{container}]}}"
    spec = f"completionMode: Indexed, completions: 2, parallelism: 2, template: {{{pods}}}"
    return _read(f"{{apiVersion: batch/v1, kind: Job, metadata: {{name: train, namespace: ml}}, spec: {{{spec}}}}}")


def _read(text: str) -> paths.Object:
    found: paths.Object = yaml.safe_load(text)
    return found


def _service(selector: str, namespace: str = "ml") -> paths.Object:
    spec = f"clusterIP: None, selector: {{{selector}}}"
    return _read(
        f"{{apiVersion: v1, kind: Service, metadata: {{name: train, namespace: {namespace}}}, spec: {{{spec}}}}}"
    )


_NAMELESS = (
    "has its names in the Service train, which selects pods with app: other, and its pods lack this label, so their "
    "names do not exist"
)


@pytest.mark.parametrize(
    ("pods", "service", "found"),
    [
        (_job("subdomain: train, "), _service("app: other"), [_NAMELESS]),
        (_job("subdomain: train, "), _service("app: train"), []),
        (_job("subdomain: train, "), _service("batch.kubernetes.io/job-name: train"), []),
        (_job("subdomain: train, "), _service("job-name: train"), []),
        (_job("subdomain: train, "), _service("batch.kubernetes.io/job-completion-index: '0'"), []),
        (_job("subdomain: train, "), _service("app: other", "other"), []),
        (_job("subdomain: train, "), _service("app: '{{ name }}'"), []),
        (_job(), _service("app: other"), []),
    ],
)
def test_pods_with_names_of_a_service_carry_the_labels_that_it_selects(
    pods: paths.Object, service: paths.Object, found: list[str]
) -> None:
    assert _texts(pods, service) == found


def _policy(spec: str, namespace: str = "ml") -> paths.Object:
    metadata = f"{{name: deny, namespace: {namespace}}}"
    return _read(f"{{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {metadata}, spec: {{{spec}}}}}")


_RANKS = "torchrun --nnodes=2 --rdzv-endpoint=train-0.train:29500 t.py"
_WAIT = "has pods that wait for each other, and NetworkPolicy deny lets "
_IN, _OUT = f"{_WAIT}in nothing that they send each other", f"{_WAIT}out nothing that they send each other"
_TO_PODS = "{to: [{podSelector: {}}]}"
_ONE_PORT = f"{_WAIT}them reach each other on port 22 alone, and NCCL, Gloo and Ray choose others as well"
_NO_NAMES = f"{_WAIT}them reach pods of their namespace alone, not the DNS of the cluster by which they find each other"


@pytest.mark.parametrize(
    ("policy", "found"),
    [
        ("podSelector: {}", [_IN]),
        ("podSelector: {matchLabels: {app: train}}, policyTypes: [Ingress, Egress]", [_IN, _OUT]),
        ("podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: web}}}]}]", [_IN]),
        ("podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: train}}}]}]", []),
        ("podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {operator: adds}}}]}]", []),
        ("podSelector: {}, ingress: [{from: [{namespaceSelector: {}}]}]", []),
        ("podSelector: {}, ingress: [{ports: [{port: 22}]}]", [_ONE_PORT]),
        ("podSelector: {}, policyTypes: [Egress], egress: [{to: [{podSelector: {}}]}]", [_NO_NAMES]),
        (
            f"podSelector: {{}}, policyTypes: [Egress], egress: [{_TO_PODS}, {{to: [{{namespaceSelector: {{}}}}]}}]",
            [],
        ),
        ("podSelector: {}, policyTypes: [Egress], egress: [{to: [{podSelector: {}}]}, {ports: [{port: 53}]}]", []),
        ("podSelector: {matchLabels: {app: web}}", []),
        ("podSelector: {}, ingress: [{from: [{podSelector: {}}], ports: [{port: 22}]}]", [_ONE_PORT]),
        ("podSelector: {}, ingress: [{from: [{podSelector: {}}], ports: [{port: 1024, endPort: 65535}]}]", []),
        ("podSelector: {}, ingress: [{ports: [{port: 1}]}, {from: [{podSelector: {}}]}]", []),
        ("podSelector: {matchExpressions: [{key: app, operator: Exists}]}", []),
    ],
)  # fmt: skip
def test_a_network_policy_lets_pods_that_wait_for_each_other_talk(policy: str, found: list[str]) -> None:
    assert _texts(_job(command=_RANKS), _policy(policy)) == found


def test_policies_add_up_and_those_of_other_namespaces_do_not_count() -> None:
    allows = _policy("podSelector: {}, ingress: [{}]")
    metadata: Mapping[str, paths.Json] = {"name": "allow", "namespace": "ml"}

    assert _texts(_job(command=_RANKS), _policy("podSelector: {}"), {**allows, "metadata": dict(metadata)}) == []
    assert _texts(_job(command=_RANKS), _policy("podSelector: {}", "other")) == []
    assert _texts(_job("hostNetwork: true, ", _RANKS), _policy("podSelector: {}")) == []


@pytest.mark.parametrize("damaged", ["[]", "7", "x", "null", "[null]", "[{from: 7}]", "[{from: [null, 7]}]"])
def test_damaged_rules_of_a_policy_are_passed_over(damaged: str) -> None:
    for spec in (f"podSelector: {{}}, ingress: {damaged}", f"podSelector: {damaged}", f"policyTypes: {damaged}"):
        _texts(_job(command=_RANKS), _policy(spec))


def _server(name: str, node: str, port: int = 8000) -> paths.Object:
    container = f"{{name: c, image: 'a:1', ports: [{{containerPort: 8000, hostPort: {port}}}]}}"
    spec = f"{{nodeSelector: {{kubernetes.io/hostname: {node}}}, containers: [{container}]}}"
    return _read(f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {spec}}}")


@pytest.mark.parametrize(
    ("second", "found"),
    [
        (
            _server("b", "dgx-1"),
            ["wants port 8000 of the node dgx-1, which Pod a has, so one of them stays pending"],
        ),
        (_server("b", "dgx-2"), []),
        (_server("b", "dgx-1", 8001), []),
        (_server("a", "dgx-1"), []),
    ],
)
def test_two_objects_do_not_want_one_port_of_a_node(second: paths.Object, found: list[str]) -> None:
    objects = Objects([_server("a", "dgx-1"), second])

    assert [each.text for each in chosen_boards.beside_others(second, ("", "Pod"), objects)] == found
    assert list(chosen_boards.beside_others(_server("a", "dgx-1"), ("", "Pod"), objects)) == []


_CALLS = "containers: [{name: c, image: 'a:1', args: [--url, 'http://redis:6379']}]"


def test_a_short_name_in_the_network_of_the_node_is_a_service_only_if_there_is_one() -> None:
    pod = _read(f"{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {{hostNetwork: true, {_CALLS}}}}}")
    service = _read("{apiVersion: v1, kind: Service, metadata: {name: redis}, spec: {selector: {app: redis}}}")
    text = "asks for redis in the network of its node, where pods use the DNS of the node, which does not know Services"

    assert [each.text for each in chosen_boards.beside_others(pod, ("", "Pod"), Objects([pod, service]))] == [text]
    assert list(chosen_boards.beside_others(pod, ("", "Pod"), Objects([pod]))) == []


def _attaching(count: int, machine: str = "p5.48xlarge", efa: int = 32) -> paths.Object:
    container = f"{{name: c, image: 'a:1', resources: {{limits: {{nvidia.com/gpu: 8, vpc.amazonaws.com/efa: {efa}}}}}}}"
    metadata = "metadata: {labels: {app: t}, annotations: {k8s.v1.cni.cncf.io/networks: 'n, n'}}"
    selector = f"nodeSelector: {{node.kubernetes.io/instance-type: {machine}}}"
    template = f"template: {{{metadata}, spec: {{{selector}, containers: [{container}]}}}}"
    spec = f"replicas: {count}, serviceName: t, selector: {{matchLabels: {{app: t}}}}, {template}"
    return _read(f"{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: t, namespace: ml}}, spec: {{{spec}}}}}")


def _network(ranges: str, kind: str = "whereabouts") -> paths.Object:
    config = f'{{"type": "macvlan", "ipam": {{"type": "{kind}", {ranges}}}}}'
    metadata = "metadata: {name: n, namespace: ml}"
    kinds = "apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition"
    return _read(f"{{{kinds}, {metadata}, spec: {{config: '{config}'}}}}")


@pytest.mark.parametrize(
    ("pods", "network", "found"),
    [
        (_attaching(4), _network('"range": "10.0.0.0/29"'), ["wants 8 addresses of the network n"]),
        (_attaching(3), _network('"range": "10.0.0.0/29"'), []),
        (_attaching(4), _network('"range": "10.0.0.0/29", "range_start": "10.0.0.2"'), []),
        (_attaching(4), _network('"range": "10.0.0.0/29"', "host-local"), []),
        (_attaching(4), _network('"range": "$RANGE"'), []),
        (_attaching(4), _network('"ipRanges": [{"range": "10.0.0.0/29"}, {"range": "10.1.0.0/29"}]'), []),
        (_attaching(1, "p5en.48xlarge"), _network('"range": "10.0.0.0/24"'), ["asks for 32 EFA devices"]),
        (_attaching(1, "lab.large"), _network('"range": "10.0.0.0/24"'), []),
    ],
)
def test_a_network_and_a_machine_have_room_for_the_interfaces_of_all_pods(
    pods: paths.Object, network: paths.Object, found: list[str]
) -> None:
    said = _texts(pods, network)

    assert len(said) == len(found)
    assert all(part in text for part, text in zip(found, said, strict=True)), said
