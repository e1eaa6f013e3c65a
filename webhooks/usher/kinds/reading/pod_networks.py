"""Ports, networks and names of pods: what pods do not get beside each other, and beside other objects."""

import difflib
import ipaddress
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from usher import memo, model, paths
from usher.accelerators import boards
from usher.kinds.reading import counts, inference_routes, known_keys, refused_values
from usher.kinds.reading.environment import misread
from usher.kinds.reading.value_forms import (
    DOT,
    PodSpec,
    at,
    is_placeholder,
    pod_specs,
    texts_at,
    texts_with_paths,
    values_at,
)
from usher.kinds.reading.values import Absence, Objects, Reference

Found = Iterator[model.UnreadKey]


def beside_others(value: paths.Object, objects: Objects) -> Found:
    """Networks, names and ports of nodes that the pods of an object do not get."""
    yield from _networks_without_their_device(value, objects)
    yield from _unknown_rdma(value, objects)
    yield from _names_of_no_service(value, objects)
    yield from _ports_of_two_objects(value, objects)
    yield from refused_values.damaged_json(value)
    if value.get("kind") == _POLICY[1]:
        yield from _policies_of_one_interface(value, objects)


_POLICY: Final = ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy")


def _policies_of_one_interface(value: paths.Object, objects: Objects) -> Found:
    """Two policies of the same nodes that divide one interface without ranges (sriov-network-operator, validate.go)."""
    spec, name = known_keys.part_at(value, "/spec"), paths.metadata(value).get("name")
    for other_name, other in objects.known(*_POLICY).items():
        theirs = known_keys.part_at(other, "/spec")
        if other_name >= str(name) or theirs.get("nodeSelector") != spec.get("nodeSelector"):
            continue
        taken = {each.partition("#")[0] for each in texts_at(theirs, "nicSelector.pfNames[]")}
        for where, interface in texts_with_paths(spec, "nicSelector.pfNames[]", "/spec"):
            if interface in taken:
                text = f"chooses the whole interface {interface[:40]}, and the SriovNetworkNodePolicy "
                text += f"{other_name[:60]} takes functions of it on the same nodes, so the operator refuses one"
                remedy = f"write ranges in both, for example {interface[:40]}#0-3 and {interface[:40]}#4-7"
                yield misread(where, text, remedy, "controller")
                return


_TYPES: Final = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_SSHD: Final = memo.pattern(r"(?:^|[\s;&|]|/s?bin/)sshd(?=[\s;&|]|$)[^;&|\n]{0,200}")
_PORT_OF_FILE: Final = memo.pattern(r"\bPort\b|sshd_config")
_PORT: Final = memo.pattern(r"\s-(?:p\s*|oPort=)(\d{1,5})\b")
_KEEPS_APART: Final = "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[].topologyKey"


_OF_IMAGE: Final = 0
"""The port of sshd where its image says it: images of the MPI operator have 2222 (kubeflow/mpi-operator#593)."""


def _listened(spec: Mapping[str, Any]) -> set[int]:
    """The ports on which sshd and model servers of a pod listen; those of other programs are unknown."""
    found = counts.ports_of_server(spec)
    for container in values_at(spec, "containers[]"):
        words = " ".join(texts_at(container, "command[] args[]"))
        if (started := _SSHD.search(words)) and not _PORT_OF_FILE.search(words):
            port = _PORT.search(started[0])
            found.add(int(port[1]) if port else _OF_IMAGE)
    return found


def beyond_their_pods(workload: model.Workload, value: paths.Object, specs: Sequence[PodSpec]) -> Found:
    """Starts that wait for more nodes than there are pods, and ports of a node that several pods of a workload want.

    In the network of the host each port of a container is a port of the host (SetDefaults_PodSpec in
    pkg/apis/core/v1/defaults.go of Kubernetes), and the scheduler keeps a second pod off
    (pkg/scheduler/framework/plugins/nodeports/node_ports.go).
    """
    if workload.kind in _ALL_NODES:
        yield from _nodes_and_pods(workload, value)
        yield from _ranks_that_repeat(workload)
        yield from _parts_above_ranks(workload, value)
    pinned = {each.spec_path: each for each in workload.pod_sets if _HOST in each.node_selector}
    for spec, path, _ in specs if pinned else ():
        if path in pinned:
            yield from _ports_of_one_node(spec, pinned[path].count, path)


_OWN_RANK: Final = memo.pattern(r"(?:node|machine)[-_]rank[=\s]+[\"']?\d", re.ASCII)
_OF_PROGRAM: Final = memo.pattern(r"\btrainer\.num_nodes[=\s]+[\"']?(\d{1,9})\b", re.ASCII)
"""The nodes that Lightning and NeMo compare with the ranks of torchrun (torchelastic.py of lightning)."""
_ALL_NODES: Final = frozenset(
    {"PyTorchJob", "TrainJob", "JobSet", "LeaderWorkerSet", "Job", "RoleBasedGroup", "HyperPodPyTorchJob"}
)
"""Kinds whose objects hold all nodes of a training, if torchrun takes no rank of its own."""
_OF_TRAINER: Final = "spec.trainer.{command[],args[]}"
"""The command of a TrainJob, which replaces that of its runtime."""


def _nodes_and_pods(workload: model.Workload, value: paths.Object) -> Found:
    """Starts on another number of nodes than there are pods: torchrun waits for all, and takes no others."""
    sets, most, fewest = workload.pod_sets, 0, 0
    for pod_set in sets:
        if pod_set.count.maximum is None:
            return
        most += pod_set.count.maximum // max(pod_set.groups if workload.kind == "LeaderWorkerSet" else 1, 1)
        fewest += pod_set.count.minimum // max(pod_set.groups, 1)
    fewest *= len(sets) == 1 or workload.kind in ("LeaderWorkerSet", "PyTorchJob")
    for container in (container for pod_set in sets for container in pod_set.containers):
        text = " ".join(container.command)
        start = counts.TORCHRUN.search(text)
        nodes = counts.NODES.search(text, start.end()) if start else None
        found = nodes or (_OF_PROGRAM.search(text, start.end()) if start else None)
        if not start or not found or _OWN_RANK.search(text):
            continue
        number, is_range = int(found[1]), text[found.end() :].startswith(":")
        if number > max(most, 1) or (1 < number < fewest and not is_range):
            pods = most if number > max(most, 1) else fewest
            effect = "it waits until it fails" if number > pods else f"it takes no more than {number} of them"
            program, option = start[0].split()[0].split("-")[0], found[0].split("=")[0].split()[0]
            if nodes is None:
                program, effect = "a training", "it does not match the ranks of torchrun and fails"
            message = f"starts {program} on {number} nodes, but has {pods} pods, so {effect}"
            own = (where for where, each in at(value, _OF_TRAINER) if isinstance(each, str) and option in each)
            path = next(own, container.path) if "/runtimeRef/" in container.path else container.path
            other = "make more pods" if number > pods else "make fewer pods"
            yield misread(path, message, f"set {option} to {pods}, or {other}", "controller")
            return


_PARTS: Final = memo.pattern(
    r"(?:(?:tensor|pipeline)[-_]model|context)[-_]parallel[-_]size[=\s]+[\"']?(\d{1,4})\b", re.ASCII
)
_PROCESSES: Final = memo.pattern(r"--nproc[-_]per[-_]node[=\s]+[\"']?(\d{1,4}|\$)", re.ASCII)


def _parts_above_ranks(workload: model.Workload, value: paths.Object) -> Found:
    """Parts of a model that do not divide the ranks of Megatron (initialize in parallel_state of megatron.core)."""
    counted = [each.count for each in workload.pod_sets]
    pods = sum(each.minimum for each in counted)
    for container in (container for pod_set in workload.pod_sets for container in pod_set.containers):
        text = " ".join(container.command)
        start = counts.TORCHRUN.search(text)
        parts = math.prod(int(each[1]) for each in _PARTS.finditer(text, start.end())) if start else 1
        if start is None or parts <= 1 or any(each.maximum != each.minimum for each in counted):
            continue
        nodes, each_node = counts.NODES.search(text, start.end()), _PROCESSES.search(text, start.end())
        limits = values_at(paths.resolve(value, container.path), "resources.limits.nvidia\u2024com/gpu")
        given = [each_node[1]] if each_node else [str(each) for each in limits]
        one_node = "nnodes" not in text and (pods == 1 or workload.kind == "PyTorchJob")
        if (nodes or one_node) and len(given) == 1 and given[0].isdecimal() and (processes := int(given[0])) > 0:
            ranks = (int(nodes[1]) if nodes else pods) * processes
            if ranks % parts:
                message = f"divides the model into {parts} parts (tensor, pipeline, context), and has {ranks} ranks"
                remedy = f"make the product of the parallel sizes a divisor of {ranks}, or start more ranks"
                yield misread(container.path, f"{message}, which Megatron refuses", remedy, "controller")
                return


_OWN_INDEX: Final = memo.pattern(
    r"node[-_]rank[=\s]+[\"']?\$[{(]?(JOB_COMPLETION_INDEX|V[CK]_TASK_INDEX)\b[})]?[\"']?(?=[\s;&|]|$)"
)
"""A rank that is the index of a pod in its own job of a JobSet, or in its own task of Volcano."""
_FIRST_RANK: Final = memo.pattern(r"node[-_]rank[=\s]+[\"']?0\b")


def _ranks_that_repeat(workload: model.Workload) -> Found:
    """Ranks of torchrun that begin with 0 in each of several jobs or tasks of one training.

    Sources: kubernetes.io, Indexed Job; pkg/controllers/job/plugins/env of volcano-sh/volcano.
    """
    jobs, largest, found = 0, 0, None
    for pod_set in workload.pod_sets:
        for container in pod_set.containers:
            text = " ".join(container.command)
            start = counts.TORCHRUN.search(text)
            index = _OWN_INDEX.search(text, start.end()) if start else None
            jobs += 1 if start and _FIRST_RANK.search(text, start.end()) else 0
            nodes = counts.NODES.search(text, start.end()) if start and index else None
            if index and nodes and pod_set.count.maximum is not None:
                jobs += pod_set.groups
                largest = max(largest, pod_set.count.maximum // max(pod_set.groups, 1))
                found = container.path, index[1], int(nodes[1])
    if found and jobs > 1 and found[2] > largest:
        path, index_name, _ = found
        part, other = (
            ("job", "the annotation jobset.sigs.k8s.io/job-global-index")
            if index_name[0] == "J"
            else ("task", "an offset, for example $((VC_TASK_INDEX + 1)) for the workers")
        )
        text = f"takes its ranks from {index_name}, which begins with 0 in each {part}, so several pods are rank 0"
        yield misread(path, text, f"count across the {part}s by {other}", "controller")


_HOST: Final = "kubernetes.io/hostname"


def _ports_of_one_node(spec: Mapping[str, paths.Json], count: model.Count, path: str) -> Found:
    names = ("hostPort", "containerPort") if spec.get("hostNetwork") is True else ("hostPort",)
    for where, port in at(spec, "containers[].ports[]", path):
        number = next((port[name] for name in names if isinstance(port, dict) and port.get(name)), None)
        if number is None or count.maximum == 1:
            continue
        if count.minimum > 1:
            text = f"has {count.minimum} pods that want port {str(number)[:9]} of one node, so one starts at most"
            remedy = "leave hostNetwork and hostPort out, or let the pods run on several nodes"
        else:
            text = f"makes a second pod in a rollout, and both want port {str(number)[:9]} of one node: it never ends"
            remedy = "use the strategy Recreate, or a maxSurge of 0"
        yield misread(where, text, remedy, "controller")
        return


def of_pods(workload: model.Workload | None, value: paths.Object, specs: Sequence[PodSpec], objects: Objects) -> Found:
    """Ports of nodes and networks that the pods of a workload do not get beside each other and beside other objects."""
    yield from _ports_of_nodes(workload, specs, objects)
    yield from inference_routes.cut_off(workload, value, objects)
    yield from _more_than_the_machine_has(workload, specs)
    yield from _addresses_for_all(workload, value, objects)


_EFA: Final = "vpc.amazonaws.com/efa"


def _more_than_the_machine_has(workload: model.Workload | None, specs: Sequence[PodSpec]) -> Found:
    """More EFA devices for a pod than the machine type has that it selects."""
    of_paths = {} if workload is None else {each.spec_path: each for each in workload.pod_sets}
    for spec, path, _ in specs:
        amounts = [str(each) for each in values_at(spec, f"containers[].resources.limits.{_EFA.replace('.', DOT)}")]
        pod_set = of_paths.get(path)
        names = {pod_set.node_selector[key] for key in _TYPES if key in pod_set.node_selector} if pod_set else set()
        row = boards.machine_rows().get(min(names), {}) if len(names) == 1 and amounts else {}
        asked = sum(known_keys.integer(each) for each in amounts)
        most = known_keys.integer(row.get("amounts", {}).get(_EFA, 0))
        if row.get("of") == "aws" and asked > most:
            text = f"asks for {asked} EFA devices, and {min(names)[:60]} has {most}, so no node takes its pods"
            yield misread(path, text, f"ask for at most {most}", "controller")


_RANGES: Final = "range ipRanges[].range"


def _rooms_of_networks(objects: Objects) -> Mapping[str, int]:
    """The addresses that whereabouts can give on a network, by its name."""
    found = dict[str, int]()
    for key in _MADE_IN:
        for name, each in objects.known(*key).items():
            for ipam in values_at(each, "spec.config.~.{,plugins[].}ipam spec.ipam.~"):
                ranges = texts_at(ipam, _RANGES)
                if paths.mapping(ipam).get("type") == "whereabouts" and len(ranges) == 1 and "range_start" not in ipam:
                    try:
                        found[name] = ipaddress.ip_network(ranges[0], strict=False).num_addresses - 2
                    except ValueError:  # a range of two addresses, or a placeholder
                        continue
    return found


def _addresses_for_all(workload: model.Workload | None, value: paths.Object, objects: Objects) -> Found:
    """Networks whose range has fewer addresses than a workload has interfaces on them."""
    rooms = objects.once("addresses of networks", lambda: _rooms_of_networks(objects)) if workload is not None else {}
    for pod_set in workload.pod_sets if workload is not None and rooms else ():
        where = pod_set.spec_path.removesuffix("/spec") + "/metadata/annotations"
        names = [name for _, name in _attached(known_keys.part_at(value, where).get(refused_values.NETWORKS))]
        for name in dict.fromkeys(names):
            wanted = names.count(name) * pod_set.count.minimum
            if name in rooms and wanted > rooms[name]:
                text = (
                    f"wants {wanted} addresses of the network {name[:60]}, whose range has at most {rooms[name]}, so "
                )
                text += "the others of its pods do not start"
                remedy = "give the network a larger range, or one range for each of several networks"
                yield misread(paths.join(where, refused_values.NETWORKS), text, remedy, "controller")


def _ports_of_nodes(workload: model.Workload | None, specs: Sequence[PodSpec], objects: Objects) -> Found:
    """Ports of a node that several pods want.

    The scheduler counts only ports that a container declares (pkg/scheduler/framework/plugins/nodeports of Kubernetes);
    in the network of the node each of them is a port of the node.
    """
    if workload is None or workload.pods.minimum == workload.pods.maximum == 0 or workload.kind == "DaemonSet":
        return
    of_paths = {each.spec_path: each for each in workload.pod_sets if each.accelerators}
    together = workload.gang.waits or workload.role in (model.Role.SERVICE, model.Role.INFERENCE)
    for spec, path, _ in specs:
        pod_set, declared = of_paths.get(path), _ports_of_host(spec)
        of_daemons = _ports_of_daemons(objects) if declared and pod_set is not None else {}
        for port in sorted(declared & of_daemons.keys()):
            text = f"wants port {port} of its node, which the DaemonSet {of_daemons[port][:60]} has on every node"
            yield misread(path, f"{text}, so no node takes a pod", "use another port", "controller")
        if not declared and spec.get("hostNetwork") is not True:
            continue
        if pod_set is None or pod_set.count.minimum < _SEVERAL or _HOST in pod_set.node_selector:
            continue
        rooms, pods = _rooms(pod_set, objects), pod_set.count.minimum
        nodes, most = sum(map(bool, rooms)), max(rooms, default=0)
        if declared and together and 0 < nodes < pods and objects.known("", "Node"):
            text = f"has {pods} pods that each want port {min(declared)} of their node, but only {nodes} of the known "
            text += "nodes can hold one, so the others stay pending unless nodes are added"
            yield misread(path, text, "leave hostNetwork and hostPort out, or run fewer pods", "controller")
        elif most > 1 and (ports := _open_ports(spec, declared)):
            port = min(ports)
            program = f"a program on port {port}" if port else "sshd"
            text = f"runs {pods} pods in the network of their nodes with {program}, and a node has room for {most} of "
            text += "them: the second one there finds the port in use"
            remedy = f"declare containerPort {port or 'of sshd'}, so that the scheduler keeps the pods apart"
            yield misread(path, text, f"{remedy}, or ask for all devices of a node", "controller")


_SEVERAL: Final = 2


def _ports_of_host(spec: Mapping[str, Any]) -> set[int]:
    """The ports of their node that the containers of a pod declare."""
    fields = "{hostPort,containerPort}" if spec.get("hostNetwork") is True else "hostPort"
    return {each for each in values_at(spec, f"containers[].ports[].{fields}") if isinstance(each, int) and each}


def _open_ports(spec: Mapping[str, Any], declared: set[int]) -> set[int]:
    """The ports of their node on which programs listen and that no container declares, unless the pods keep apart."""
    if spec.get("hostNetwork") is not True or values_at(spec, _KEEPS_APART):
        return set()
    return _listened(spec) - declared - ({_OF_IMAGE} if declared else set())


def _ports_of_daemons(objects: Objects) -> Mapping[int, str]:
    """The ports of nodes that DaemonSets have on all nodes, with the name of the DaemonSet."""
    return objects.once("ports of DaemonSets", lambda: dict(_read_ports_of_daemons(objects)))


def _read_ports_of_daemons(objects: Objects) -> Iterator[tuple[int, str]]:
    for name, value in objects.known("apps", "DaemonSet").items():
        spec = known_keys.part_at(value, "/spec/template/spec")
        tolerated = values_at(spec, "tolerations[]")
        # A toleration without a key is for all taints.
        runs_everywhere = any(isinstance(each, dict) and each.keys() == {"operator"} for each in tolerated)
        if runs_everywhere and not spec.get("nodeSelector") and not spec.get("affinity"):
            yield from ((port, name) for port in _ports_of_host(spec))


def _rooms(pod_set: model.PodSet, objects: Objects) -> list[int]:
    """How many pods the devices of each known node serve that they select, or those of the machine type they name."""
    named = [pod_set.node_selector[key] for key in _TYPES if key in pod_set.node_selector]
    types = [boards.machine_rows()[name]["amounts"] for name in named if name in boards.machine_rows()]
    selected = [
        known_keys.part_at(node, "/status/allocatable")
        for node in objects.known("", "Node").values()
        if pod_set.node_selector.items() <= known_keys.part_at(node, "/metadata/labels").items()
    ]
    wanted = {name: each.value for name, each in pod_set.accelerators.items() if each.value}
    return [
        min(known_keys.integer(amounts.get(name)) // asked for name, asked in wanted.items())
        for amounts in selected or types
        if wanted
    ]


_LONGEST_NAMES: Final = 4096
_OF_NETWORK: Final = "k8s.v1.cni.cncf.io/resourceName"


def _devices_of_networks(objects: Objects) -> Mapping[str, str]:
    """The device of each network, by name. The network operator makes networks of host devices, under their names."""
    host_devices = objects.known("mellanox.com", "HostDeviceNetwork").items()
    found = {name: paths.text(known_keys.part_at(each, "/spec").get("resourceName")) for name, each in host_devices}
    found = {name: each if "/" in each else f"nvidia.com/{each}" for name, each in found.items() if each}
    for name, each in objects.known("k8s.cni.cncf.io", "NetworkAttachmentDefinition").items():
        found[name] = paths.text(known_keys.part_at(each, "/metadata/annotations").get(_OF_NETWORK))
    return found


_MADE_IN: Final = {
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"): "",
    ("sriovnetwork.openshift.io", "SriovNetwork"): "",
    ("sriovnetwork.openshift.io", "SriovIBNetwork"): "",
    **{("mellanox.com", kind): "default" for kind in ("HostDeviceNetwork", "MacvlanNetwork", "IPoIBNetwork")},
}
"""Kinds from which operators make networks; the namespace without networkNamespace, empty for that of the object."""


def _homes_of_networks(objects: Objects) -> Mapping[str, set[str]]:
    """The namespaces of each network, by name; an empty one where the files do not say it."""
    found = defaultdict[str, set[str]](set)
    for key, usual in _MADE_IN.items():
        for namespace, value in objects.in_namespaces(*key):
            made = known_keys.part_at(value, "/spec").get("networkNamespace") or usual
            found[paths.text(paths.metadata(value).get("name"))].add(paths.text(made) or namespace)
    return found


def _attached(written: object) -> list[tuple[str, str]]:
    """The namespace, empty for that of the pod, and the name of each network in an annotation of Multus."""
    if not isinstance(written, str) or len(written) > _LONGEST_NAMES or "deviceID" in written:
        return []
    if written.lstrip().startswith("["):
        listed = map(paths.mapping, values_at(known_keys.parsed(f"listed: {written}"), "listed[]"))
        return [(paths.text(each.get("namespace")), paths.text(each.get("name"))) for each in listed]
    parts = (each.partition("@")[0].strip().rpartition("/") for each in written.split(","))
    return [(namespace, name) for namespace, _, name in parts]


def _networks_without_their_device(value: paths.Object, objects: Objects) -> Found:
    """Pods that attach networks of a device without asking for as many devices.

    Sources: k8snetworkplumbingwg/multus-cni docs/how-to-use.md; k8snetworkplumbingwg/sriov-cni#310.
    """
    networks = objects.once("devices of networks", lambda: _devices_of_networks(objects))
    homes = objects.once("namespaces of networks", lambda: _homes_of_networks(objects))
    home = paths.text(paths.metadata(value).get("namespace"))
    for spec, path, _ in pod_specs(value) if networks or homes else ():
        metadata = path.removesuffix("/spec") + "/metadata"
        where = paths.join(f"{metadata}/annotations", refused_values.NETWORKS)
        needed = defaultdict[str, int](int)
        attached = _attached(known_keys.part_at(value, f"{metadata}/annotations").get(refused_values.NETWORKS))
        are_known = networks.keys() >= {name for _, name in attached}
        for within, name in attached:
            needed[networks.get(name, "")] += 1
            known, text = (
                homes.get(name, set()),
                f"attaches the network {name[:60]} of the namespace {within or home}, ",
            )
            if home and known and "" not in known and (within or home) not in known:
                remedy = f"write {min(known)}/{name}, or make the network in {within or home}"
                yield misread(where, f"{text}and it is in {min(known)}", remedy, "controller")
            elif not known and (like := [each for each in homes if known_keys.is_slip(name[:60], each)]):
                yield misread(where, f"{text}which is not known", f"did you mean {like[0]}?", "controller")
        resources = [paths.mapping(each) for each in values_at(spec, "containers[].resources")]
        asked = [{**paths.mapping(each.get("requests")), **paths.mapping(each.get("limits"))} for each in resources]
        for device, number in needed.items():
            amounts = [str(each[device]) for each in asked if device in each]
            most = sum(int(each[:9]) for each in amounts if each.isdecimal())
            if (
                not device
                or not (most < number or (most > number and are_known))
                or not all(map(str.isdecimal, amounts))
            ):
                continue
            text = f"attaches {number if number > 1 else 'a'} network{'s' * (number > 1)} with the device {device}, "
            text += "and no container asks for it" if not most else f"and its containers ask for {most} of it"
            remedy = f"ask for {device}: {number}, unless the network resources injector of SR-IOV does it"
            if most > number:
                text += ", so pods have no interface for the others"
                remedy = f"name the network once for each in {refused_values.NETWORKS}, or ask for {device}: {number}"
            yield misread(where, text, remedy, "controller")


def _names_of_no_service(value: paths.Object, objects: Objects) -> Found:
    """Pods with a subdomain or a serviceName whose Service selects others, so that their names do not exist.

    Sources: kubernetes.io, DNS for Services and Pods: an A record needs an endpoint of the headless Service.
    """
    home = paths.text(paths.metadata(value).get("namespace"))
    for spec, path, _ in pod_specs(value) if value.get("apiVersion") in _OF_KUBERNETES else ():
        of_set = paths.mapping(value.get("spec")).get("serviceName")
        name = paths.text(of_set) or paths.text(spec.get("subdomain"))
        found = objects.find(Reference(group="", kind="Service", name=name, namespace=home)) if name else None
        selector = {} if found is None or isinstance(found, Absence) else known_keys.part_at(found, "/spec/selector")
        labels = inference_routes.labels_of_pods(value, path)
        wrong = [(key, text) for key, text in selector.items() if labels.get(key) != text]
        if not wrong or any(is_placeholder(f"{key}{text}") for key, text in wrong):
            continue
        key, text = wrong[0]
        if key in inference_routes.JOB_NAMES or "kubernetes.io/" not in key:
            message = (
                f"has its names in the Service {name[:63]}, which selects pods with {key[:100]}: {str(text)[:63]}, "
            )
            message += "and its pods lack this label, so their names do not exist"
            where = "/spec/serviceName" if of_set else f"{path}/subdomain"
            remedy = "add the label to the pod template, or change the selector of the Service"
            yield misread(where, message, remedy, "controller")


_OF_KUBERNETES: Final = ("v1", "apps/v1", "batch/v1")


_Pinned = Mapping[tuple[str, int], Sequence[tuple[str, str]]]
"""The kinds and names of objects with a port of a node, by the node and the port."""


def _ports_of_two_objects(value: paths.Object, objects: Objects) -> Found:
    """Ports of a node that pods of two objects declare which choose this node by its name."""
    pinned = objects.once("ports of named nodes", lambda: _ports_of_named_nodes(objects))
    own = (str(value.get("kind")), paths.text(paths.metadata(value).get("name")))
    for spec, path, _ in pod_specs(value) if pinned else ():
        node = _named_node(spec)
        for port in sorted(_ports_of_host(spec)) if node else ():
            first = next(iter(pinned.get((node, port), ())), own)
            if first != own:
                text = f"wants port {port} of the node {node[:63]}, which {' '.join(first)[:100]} has, "
                text += "so one of them stays pending"
                yield misread(path, text, "use another port, or let one of them run on another node", "controller")


def _named_node(spec: Mapping[str, Any]) -> str:
    return paths.text(spec.get("nodeName")) or paths.text(paths.mapping(spec.get("nodeSelector")).get(_HOST))


def _ports_of_named_nodes(objects: Objects) -> _Pinned:
    found = defaultdict[tuple[str, int], list[tuple[str, str]]](list)
    for _, value in objects.all():
        replicas = paths.mapping(value.get("spec")).get("replicas", 1)
        for spec, _, _ in pod_specs(value) if replicas else ():
            if node := _named_node(spec):
                for port in _ports_of_host(spec):
                    found[node, port].append((str(value.get("kind")), paths.text(paths.metadata(value).get("name"))))
    return found


_FAST: Final = frozenset({"rdma", "openshift.io", "mellanox.com", "intel.com", "nvidia.com"})
"""Prefixes of resources that device plugins of networks offer."""
_OFFERED: Final = (
    ("mellanox.com", "NicClusterPolicy", "spec.rdmaSharedDevicePlugin.config.~.*[]", "rdma"),
    ("mellanox.com", "NicClusterPolicy", "spec.sriovDevicePlugin.config.~.*[]", ""),
    ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy", "spec", ""),
    ("mellanox.com", "HostDeviceNetwork", "spec", ""),
)
"""Kinds that say which resources device plugins of networks offer, the places of their entries, and the usual prefix of
Mellanox/k8s-rdma-shared-dev-plugin."""


def _resources_of_networks(objects: Objects) -> Mapping[str, str]:
    """The names of network devices without a prefix, each with the prefix that is written; empty for a usual one."""
    texts = (text for each in objects.known("", "ConfigMap").values() for text in texts_at(each, "data.*"))
    configured = [known_keys.parsed(text) for text in texts if "resourceName" in text]
    entries = [("", each) for one in configured for each in values_at(one, "resourceList[]")]
    entries += [("rdma", each) for one in configured for each in values_at(one, "configList[]")]
    for group, kind, place, usual in _OFFERED:
        entries += [(usual, each) for value in objects.known(group, kind).values() for each in values_at(value, place)]
    named = [(usual, each) for usual, each in entries if isinstance(paths.mapping(each).get("resourceName"), str)]
    return {paths.text(each["resourceName"]): paths.text(each.get("resourcePrefix")) or usual for usual, each in named}


def _unknown_rdma(value: paths.Object, objects: Objects) -> Found:
    """Names of network devices that are only like those which the device plugins of the files offer."""
    offered = objects.once("devices of network plugins", lambda: _resources_of_networks(objects))
    for spec, path, _ in pod_specs(value) if offered else ():
        for where, asked in at(spec, "containers[].resources.limits^", path):
            prefix, _, name = str(asked).rpartition("/")
            if prefix not in _FAST or (prefix == "nvidia.com" and name.startswith(("gpu", "mig-", "vgpu", "pgpu"))):
                continue
            written = offered.get(name)
            like = [] if written is not None else difflib.get_close_matches(name[:80], offered, n=1, cutoff=0.85)
            if written and written != prefix:
                text = f"asks for {asked[:80]}, and the device plugin of these files has {written[:60]}/{name[:60]}"
                yield misread(where, text, f"write {written[:60]}/{name[:60]}", "controller")
            elif like:
                text = f"asks for {asked[:80]}, which no device plugin of these files offers"
                yield misread(where, text, f"did you mean {offered[like[0]] or prefix}/{like[0][:60]}?", "controller")
