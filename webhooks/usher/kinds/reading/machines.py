"""Machines of pods: images for other machines, taints and limits of NodePools, channels, and budgets of evictions."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from usher import errors, memo, model, paths, quantities
from usher.accelerators import boards
from usher.kinds.reading import known_keys, shares
from usher.kinds.reading.environment import misread
from usher.kinds.reading.value_forms import (
    at,
    is_placeholder,
    pod_specs,
    texts_at,
    texts_with_paths,
    values_at,
)
from usher.kinds.reading.values import Objects, claim_template_of_domain
from usher.model import placement

Found = Iterator[model.UnreadKey]
_ASKED: Final = "containers[].resources.limits^"
_ARCHITECTURE: Final = "kubernetes.io/arch"
_PRODUCT: Final = "nvidia.com/gpu.product"


def beside_others(value: paths.Object, devices: Mapping[str, Sequence[Mapping[str, Any]]], objects: Objects) -> Found:
    """Machines and channels of other objects that the pods of an object cannot use.

    Args:
        devices: the labels of the nodes that offer a device, by its name.
    """
    yield from shares.beside_others(value, devices, objects)
    if objects.names(*_DOMAINS):
        yield from _channels_of_domains(value, objects)
    nodes = objects.once("labels of each node", lambda: _labels_of_nodes(objects))
    yield from _images_for_other_machines(value, nodes, devices, objects)
    yield from _of_cuda(value, devices)
    yield from _of_taints(value, objects)
    if waiting := objects.once("devices of nodes that take no pods", lambda: _without_pods(objects)):
        yield from _of_waiting_devices(value, waiting)
    if value.get("kind") == _NODE_POOL[1]:
        yield from _limits_below_a_machine(value)
    if value.get("kind") == "DaemonSet":
        yield from _by_features_in_another_form(value, nodes)
    elif value.get("kind") == "HyperNode":
        yield from _members_of_hyper_node(value, objects)
    elif value.get("kind") == "ResourceFlavor":
        yield from _flavor_of_no_pool(value, objects)


_CHOOSE_MACHINES: Final = (
    "nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", "node.kubernetes.io/instance-type",
    "karpenter.k8s.aws/instance-family", "karpenter.k8s.aws/instance-gpu-name",
)  # fmt: skip
"""Labels of boards and machines that say their architecture."""


def _images_for_other_machines(
    value: paths.Object,
    nodes: Sequence[Mapping[str, Any]],
    devices: Mapping[str, Sequence[Mapping[str, Any]]],
    objects: Objects,
) -> Found:
    """Images for one architecture whose pods select nodes of another one; `nodes` are the labels of nodes."""
    for spec, path, _ in pod_specs(value):
        for where, image in texts_with_paths(spec, "{initContainers,containers}[].image", path):
            if (made := _made_for(image)) and (found := _other_machines(spec, made, nodes, devices, objects)):
                other, reason = found
                text = f"runs {image[:100]}, which is for {made} alone, and {reason}"
                remedy = f"take an image for {other}, or select nodes with {_ARCHITECTURE}: {made}"
                topic = "agent" if value.get("kind") == "DaemonSet" else "controller"
                yield misread(where, text, remedy, topic)
                break


def _made_for(image: str) -> str:
    """The only architecture of an image, by the rows of known_keys.yaml; empty for others."""
    rows, plain = known_keys.rows("architectures"), image.removeprefix("docker.io/")
    return next((row["for"] for row in rows if re.search(row["image"], plain)), "")


def _other_machines(
    spec: Mapping[str, Any],
    made: str,
    nodes: Sequence[Mapping[str, Any]],
    devices: Mapping[str, Sequence[Mapping[str, Any]]],
    objects: Objects,
) -> tuple[str, str] | None:
    """Another architecture that all machines for a pod have, and who says so; None if one may be `made`."""
    chosen = paths.mapping(spec.get("nodeSelector"))
    written = str(chosen.get(_ARCHITECTURE) or chosen.get(f"beta.{_ARCHITECTURE}") or "")
    if written:
        return None if written == made or is_placeholder(written) else (written, f"it selects nodes with {written}")
    for key in _CHOOSE_MACHINES:
        if (text := str(chosen.get(key, ""))) and made == "amd64" and boards.is_for_arm(text):
            return "arm64", f"it selects {text[:60]}, whose CPU is arm64"
    asked = [device for device in texts_at(spec, _ASKED) if device in devices]
    offering = devices[asked[0]] if asked else nodes if chosen else ()
    found = {str(each.get(_ARCHITECTURE, made)) for each in offering if chosen.items() <= each.items()}
    if found and made not in found:
        return min(found)[:20], f"the nodes that it selects are {min(found)[:20]}"
    if not found and any("/" in each for each in texts_at(spec, _ASKED)):
        pools = objects.once("architectures of NodePools", lambda: _architectures_of_pools(objects))
        if pools and made not in pools and "" not in pools:
            return min(pools), f"the NodePools of these files make nodes with {min(pools)} alone"
    return None


def _architectures_of_pools(objects: Objects) -> frozenset[str]:
    """The architectures of the nodes that NodePools make; an empty text for a NodePool that does not say it."""
    return frozenset(
        architecture
        for pool in objects.known("karpenter.sh", "NodePool").values()
        for architecture in _architectures_of_pool(pool)
    )


def _architectures_of_pool(pool: paths.Object) -> Collection[str]:
    for each in map(paths.mapping, values_at(pool, "spec.template.spec.requirements[]")):
        values, key = texts_at(each, "values[]"), each.get("key")
        if each.get("operator") == "In" and key == _ARCHITECTURE:
            return values
        if each.get("operator") == "In" and key in _CHOOSE_MACHINES and values and all(map(boards.is_for_arm, values)):
            return ("arm64",)
    return ("",)


def taints_of(node: Mapping[str, object]) -> list[placement.NodeTaint]:
    """The taints of a node, or of the template of a NodePool."""
    given = (paths.mapping(each) for each in values_at(node, "spec.taints[]"))
    return [
        placement.NodeTaint(*(paths.text(each.get(part)) for part in placement.NodeTaint._fields)) for each in given
    ]


def _taints_of_pools(pools: Mapping[str, paths.Object]) -> Mapping[str, tuple[placement.NodeTaint, ...]]:
    return {name: tuple(taints_of(known_keys.part_at(each, "/spec/template"))) for name, each in pools.items()}


def _of_taints(value: paths.Object, objects: Objects) -> Found:
    """Tolerations with another value than the taint of the NodePools on which the pods are to run."""
    pools = objects.cluster_scoped(*_NODE_POOL)
    taints = objects.once("taints of NodePools", lambda: _taints_of_pools(pools)) if pools else {}
    for spec, path, _ in pod_specs(value) if pools else ():
        tolerations = [each for each in values_at(spec, "tolerations[]") if isinstance(each, dict)]
        keys = {each.get("key") for each in tolerations}
        name = str(paths.mapping(spec.get("nodeSelector")).get(_POOL_LABEL))
        is_free = (
            "nodeSelector" not in spec
            and "affinity" not in spec
            and any("/" in each for each in texts_at(spec, _ASKED))
        )
        chosen = [taints[name]] if name in taints else []
        if name not in taints and is_free and not objects.known("", "Node"):
            # Pods without a selector run in any pool whose taint they tolerate, and on nodes that are there.
            chosen = [
                each for each in dict.fromkeys(taints.values()) if not keys.isdisjoint(taint.key for taint in each)
            ]
        kept_off = [placement.untolerated(tolerations, each) for each in chosen]
        for taint in kept_off[0] if kept_off and all(kept_off) else ():
            if taint.key in keys:
                text = f"tolerates the taint {taint.key} with another value or effect than its NodePool has"
                remedy = f"tolerate {taint.key}={taint.value}:{taint.effect}, or use the operator Exists"
                yield misread(f"{path}/tolerations", text, remedy, "controller")


def devices_of_pool(pool: paths.Object) -> frozenset[str]:
    """The extended resources of the machines that a NodePool names; empty where it may add machines without devices."""
    rows = _machines_of_pool(pool)
    return frozenset(key for _, row in rows for key in row["amounts"] if "/" in key)


def _machines_of_pool(pool: paths.Object) -> list[tuple[str, Mapping[str, Any]]]:
    """The machine types that a NodePool allows; empty where it names no type, or an unknown one."""
    found = list(boards.machine_rows().items())
    names: list[tuple[str, list[str]]] = []
    for each in map(paths.mapping, values_at(pool, "spec.template.spec.requirements[]")):
        key = paths.text(each.get("key")).rpartition("/")[2]
        if each.get("operator") == "In" and key in _OF_MACHINES:
            names.append((_OF_MACHINES[key], texts_at(each, "values[]")))
    for key, values in names:
        known = {row["labels"].get(key) if key else name for name, row in found}
        if not known.issuperset(values):
            return []
        found = [(name, row) for name, row in found if (row["labels"].get(key) if key else name) in values]
    return found if any(key != _SIZE for key, _ in names) else []


_SIZE: Final = "instance-size"
_OF_MACHINES: Final = {
    "instance-type": "",
    "instance-family": "instance-family",
    "instance-gpu-name": "instance-gpu-name",
    _SIZE: _SIZE,
    "sku-name": "",
}
"""Ends of labels by which NodePools choose machines, with the label of the table; an empty one is the name."""
_NODE_POOL: Final = ("karpenter.sh", "NodePool")
_POOL_LABEL: Final = "karpenter.sh/nodepool"
_CPUS: Final = ("instance-cpu", "sku-cpu")


def _limits_below_a_machine(pool: paths.Object) -> Found:
    """Limits that not even one machine of a NodePool fits.

    Karpenter compares all that a machine has, and adds no machine that exceeds a limit (filterByRemainingResources in
    pkg/controllers/provisioning/scheduling of kubernetes-sigs/karpenter).
    """
    machines = _machines_of_pool(pool)
    for resource, limit in known_keys.part_at(pool, "/spec/limits").items():
        sizes = [(_size(row, resource), name) for name, row in machines]
        try:
            most = quantities.parse(limit)
        except errors.QuantityError:
            continue
        if sizes and all(size is not None for size, _ in sizes):
            least, name = min((size, name) for size, name in sizes if size is not None)
            # Karpenter leaves 7.5 percent of the memory to the hypervisor by default.
            if 0 < most.value < (least * 9 // 10 if resource == "memory" else least):
                shown = f"{least} of {resource}" if resource != "memory" else f"{least >> 20} MiB of memory"
                text = f"has a limit of {limit} for {resource}, and the smallest machine that it allows ({name}) has "
                text += shown
                remedy = f"raise the limit to a multiple of what a machine has, or leave {resource} out"
                yield misread(
                    paths.join("/spec/limits", resource), f"{text}, so Karpenter adds no node", remedy, "controller"
                )


def _size(row: Mapping[str, Any], resource: str) -> int | None:
    """All that a machine has of a resource; None where the table does not say it."""
    if resource in ("cpu", "memory"):
        keys = _CPUS if resource == "cpu" else tuple(key.replace("cpu", "memory") for key in _CPUS)
        text = next((row["labels"][key] for key in keys if key in row["labels"]), "")
        return (int(text) << (0 if resource == "cpu" else 20)) if text.isdecimal() else None
    return (known_keys.integer(row["amounts"].get(resource)) or None) if "/" in resource else None


def _labels_of_nodes(objects: Objects) -> list[Mapping[str, Any]]:
    return [known_keys.part_at(each, "/metadata/labels") for each in objects.known("", "Node").values()]


_MOST_NAMES: Final = 3


def _without_pods(objects: Objects) -> Mapping[str, str]:
    """Why no pod gets a device now, by the name of the device: all known nodes that have it are cordoned or offer 0."""
    states: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for name, node in objects.known("", "Node").items():
        offers, has = (known_keys.part_at(node, f"/status/{each}") for each in ("allocatable", "capacity"))
        cordoned = known_keys.part_at(node, "/spec").get("unschedulable") is True
        for device in offers if "status" in node else ():
            if "/" in device and known_keys.integer(has.get(device, offers[device])):
                state = "offer 0 of it" if str(offers[device]) == "0" else "are cordoned" if cordoned else ""
                states[device].append((state, name))
    found: dict[str, str] = {}
    for device, each in states.items():
        if all(state for state, _ in each):
            names = ", ".join(sorted(name for _, name in each)[:_MOST_NAMES])
            found[device] = (
                f"the known nodes that have it ({names}) {' or '.join(sorted({state for state, _ in each}))}"
            )
    return found


def _of_waiting_devices(value: paths.Object, waiting: Mapping[str, str]) -> Found:
    for spec, path, _ in pod_specs(value):
        for where, device in at(spec, _ASKED, path):
            if device in waiting:
                text = f"asks for {device}, and {waiting[device]}, so it waits unless an autoscaler adds a node"
                remedy = (
                    "uncordon a node" if "cordoned" in waiting[device] else "look why the device plugin offers nothing"
                )
                yield misread(where, text, f"{remedy}, or wait for the end of its maintenance", "controller")
                return


_CUDA: Final = memo.pattern(r"(?:/cuda:|cuda-?|[-_:]cu)(1[12])\.?(\d)(?!\d)")
_DRIVER_LABELS: Final = ("nvidia.com/cuda.driver-version.major", "nvidia.com/cuda.driver.major")
_OF_CONSUMERS: Final = memo.pattern(r"GeForce|TITAN")
"""Boards on which a newer CUDA does not run with an older driver by its compatibility package."""


def _of_cuda(value: paths.Object, devices: Mapping[str, Sequence[Mapping[str, Any]]]) -> Found:
    """Images with a newer CUDA than the driver of GeForce boards, which nvidia/cuda refuses by NVIDIA_REQUIRE_CUDA."""
    for spec, path, _ in pod_specs(value) if devices else ():
        chosen = paths.mapping(spec.get("nodeSelector"))
        given = devices.get("nvidia.com/gpu", ()) if "nvidia.com/gpu" in texts_at(spec, _ASKED) else ()
        nodes = [each for each in given if chosen.items() <= each.items()]
        drivers = [_consumer_driver(each) for each in nodes]
        newest = max(drivers, default=0)
        if not all(drivers) or newest not in boards.CUDA_OF_DRIVERS:
            continue
        of_driver = boards.CUDA_OF_DRIVERS[newest]
        for where, image in texts_with_paths(spec, "containers[].image", path):
            needs = (int(found[1]), int(found[2])) if (found := _CUDA.search(image)) else (0, 0)
            if needs[0] == of_driver[0] and needs > of_driver:
                text = (
                    f"runs an image with CUDA {needs[0]}.{needs[1]}, and known nodes have GeForce boards with drivers"
                )
                text += (
                    f" up to {newest}, for CUDA {of_driver[0]}.{of_driver[1]}, where images of nvidia/cuda do not start"
                )
                least = min(branch for branch, cuda in boards.CUDA_OF_DRIVERS.items() if cuda >= needs)
                remedy = f"update the driver to {least} or later, or use an image with an older CUDA"
                yield misread(where, text, remedy, "controller")


def _consumer_driver(labels: Mapping[str, Any]) -> int:
    """The branch of the driver of a node with GeForce boards; 0 for other nodes and unknown drivers."""
    written = next((str(labels[each]) for each in _DRIVER_LABELS if each in labels), "")
    known = re.fullmatch(r"\d{3}", written, re.ASCII) and _OF_CONSUMERS.search(str(labels.get(_PRODUCT, "")))
    return int(written) if known else 0


_DOMAINS: Final = ("resource.nvidia.com", "ComputeDomain")
_CHANNELS: Final = "spec.channel.resourceClaimTemplate.name"


def _channels_of_domains(value: paths.Object, objects: Objects) -> Found:
    """Templates of channels that a ComputeDomain cannot make, and claims by them that get no channel.

    Its controller makes the template in its own namespace (compute-domain-controller of dra-driver-nvidia-gpu).
    """
    name, namespace = paths.text(paths.metadata(value).get("name")), paths.text(paths.metadata(value).get("namespace"))
    if value.get("kind") == _DOMAINS[1]:
        for where, template in texts_with_paths(value, _CHANNELS):
            others = [each for each in objects.of_kind(*_DOMAINS, namespace) if template in texts_at(each, _CHANNELS)]
            other = next((each for each in map(_name, others) if each < name), "")
            templates = objects.of_kind("resource.k8s.io", "ResourceClaimTemplate", namespace)
            made = [each for each in templates if each != claim_template_of_domain(value)]
            if other or template in map(_name, made):
                who = f"ComputeDomain {other[:80]} makes too" if other else "these files have too"
                text = f"makes the template {template[:80]}, which {who}, so its controller fails to make it"
                remedy = "name another template" if other else "remove the template, because the controller makes it"
                yield misread(where, text, remedy, "controller")
        return
    homes = objects.once("namespaces of channels", lambda: _homes_of_channels(objects))
    for spec, path, _ in pod_specs(value):
        used = texts_at(spec, "{containers,initContainers}[].resources.claims[].name")
        for where, claim in at(spec, "resourceClaims[]", path):
            named = paths.mapping(claim)
            template, own = paths.text(named.get("resourceClaimTemplateName")), paths.text(named.get("name"))
            known = homes.get(template, set())
            if namespace and known and "" not in known and namespace not in known:
                text = f"claims a channel by {template[:80]}, which a ComputeDomain makes in {min(known)[:80]}"
                remedy = f"make a ComputeDomain in {namespace[:80]}"
                yield misread(f"{where}/resourceClaimTemplateName", text, remedy, "controller")
            elif known and own not in used:
                text = f"claims a channel of NVLink between nodes as {own[:80]}, and no container uses it or gets it"
                yield misread(where, text, "name the claim in resources.claims of the container", "controller")


def _name(value: paths.Object) -> str:
    return paths.text(paths.metadata(value).get("name"))


def _homes_of_channels(objects: Objects) -> Mapping[str, set[str]]:
    """The namespaces of the templates that ComputeDomains make; an empty one where the files do not say it."""
    found = defaultdict[str, set[str]](set)
    for namespace, each in objects.in_namespaces(*_DOMAINS):
        for template in texts_at(each, _CHANNELS):
            found[template].add(namespace)
    return found


_FEATURE: Final = memo.pattern(r"feature\.node\.kubernetes\.io/pci-(?:[0-9a-f]{4}_)?([0-9a-f]{4})\.present")
_TERMS: Final = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[]"


def _by_features_in_another_form(value: paths.Object, nodes: Sequence[Mapping[str, Any]]) -> Found:
    """Agents for a vendor whose nodes Node Feature Discovery labels by class and vendor, or by vendor alone.

    `deviceLabelFields` of its worker decides on the form (kubernetes-sigs/dra-driver-nvidia-gpu#1084).
    """
    for spec, path, _ in pod_specs(value):
        terms = [placement.parse_term(each) for each in values_at(spec, _TERMS) if isinstance(each, dict)]
        listed = [each.on_labels for each in terms if each is not None and not each.on_fields]
        wanted = {one.key: found[1] for each in listed for one in each if (found := _FEATURE.fullmatch(one.key))}
        have = {key: found[1] for labels in nodes for key in labels if (found := _FEATURE.fullmatch(key))}
        vendor = next((each for each in wanted.values() if each in have.values()), "")
        if not vendor or any(
            all(placement.labels_match(one, labels) for one in each) for labels in nodes for each in listed
        ):
            continue
        asked = next(key for key, each in wanted.items() if each == vendor)
        known = next(key for key, each in have.items() if each == vendor)
        others = sorted({each[0].key for each in listed if len(each) == 1} - wanted.keys())
        text = f"selects nodes by {asked}, and the known nodes with devices of this vendor have {known}, so they "
        text += "do not match"
        remedy = f"label the nodes {others[-1][:80]}, or select {known}" if others else f"select {known}"
        yield misread(f"{path}/affinity", text, remedy, "controller")


_JOBS: Final = (("batch", "Job"), ("batch", "CronJob"), ("jobset.x-k8s.io", "JobSet"))
_IN_JOBS: Final = "spec{,.jobTemplate.spec,.replicatedJobs[].template.spec}.template.metadata.labels"


def budgets(value: paths.Object, objects: Objects) -> Found:
    """A PodDisruptionBudget by which no pod of an object can be evicted."""
    if value.get("kind") == _BUDGET[1]:
        yield from _budgets_of_jobs(value, objects)
        yield from _second_budget(value, objects)


def _budgets_of_jobs(value: paths.Object, objects: Objects) -> Found:
    """A PodDisruptionBudget that needs the scale of a Job, which has no scale: then its pods cannot be evicted.

    Source: getExpectedScale and failSafe in pkg/controller/disruption/disruption.go of kubernetes/kubernetes v1.36.
    """
    spec = paths.mapping(value.get("spec"))
    field = "maxUnavailable" if "maxUnavailable" in spec else "minAvailable"
    wanted = paths.mapping(paths.mapping(spec.get("selector")).get("matchLabels"))
    needs_scale = field == "maxUnavailable" or "%" in str(spec.get(field))
    if not wanted or not needs_scale:
        return
    namespace = paths.text(paths.metadata(value).get("namespace"))
    for each in (each for key in _JOBS for each in objects.of_kind(*key, namespace)):
        if any(isinstance(labels, dict) and wanted.items() <= labels.items() for labels in values_at(each, _IN_JOBS)):
            name = f"{each.get('kind')} {paths.text(paths.metadata(each).get('name'))[:100]}"
            text = (
                f"counts pods of {name} by {field}, but a Job has no scale, so its pods cannot be evicted for a drain"
            )
            remedy = "set minAvailable to a number of pods, or remove the budget"
            yield misread(f"/spec/{field}", text, remedy, "controller")
            return


_BUDGET: Final = ("policy", "PodDisruptionBudget")
_OF_TEMPLATES: Final = (
    "spec{.template,.jobTemplate.spec.template,.leaderWorkerTemplate{.leaderTemplate,.workerTemplate}}.metadata.labels"
)


def _second_budget(value: paths.Object, objects: Objects) -> Found:
    """A budget of pods that another one counts too.

    The API server evicts no pod with two (pkg/registry/core/pod/storage/eviction.go of kubernetes/kubernetes).
    """
    namespace = paths.text(paths.metadata(value).get("namespace"))
    other, of_pods = objects.once("second budgets", lambda: _second_budgets(objects)).get(
        (namespace, _name(value)), ("", "")
    )
    if other:
        text = f"counts the pods of {of_pods}, as PodDisruptionBudget {other[:100]} does, and the API"
        text += " server evicts no pod with two budgets, so nodes with these pods cannot be drained"
        yield misread("/spec/selector", text, "keep one budget for these pods", "controller")


def _second_budgets(objects: Objects) -> Mapping[tuple[str, str], tuple[str, str]]:
    """By the namespace and name of a budget, another one with the same pods, and the object that makes these."""
    by_label = defaultdict[tuple[str, str, str], list[tuple[str, Mapping[str, str]]]](list)
    for home, budget in objects.in_namespaces(*_BUDGET):
        if wanted := _plain_selector(budget):
            by_label[home, *min(wanted.items())].append((_name(budget), wanted))
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for home, each in objects.all() if by_label else ():
        places = "metadata.labels" if each.get("kind") == "Pod" else _OF_TEMPLATES
        for labels in values_at(each, places):
            keys = ((home, key, str(text)) for key, text in paths.mapping(labels).items())
            names = sorted(
                name for key in keys for name, wanted in by_label.get(key, ()) if wanted.items() <= labels.items()
            )
            for name in names[1:]:
                found.setdefault((home, name), (names[0], f"{each.get('kind')} {_name(each)[:100]}"))
    return found


def _plain_selector(budget: paths.Object) -> Mapping[str, str]:
    """The labels of the pods of a budget; empty for another selector."""
    selector = known_keys.part_at(budget, "/spec/selector")
    labels = paths.mapping(selector.get("matchLabels"))
    texts = {key: each for key, each in labels.items() if isinstance(each, str)}
    return {} if selector.get("matchExpressions") else texts


def _flavor_of_no_pool(value: paths.Object, objects: Objects) -> Found:
    """Labels of a flavor of Kueue with another value than NodePools give their nodes, and that no known node has."""
    pools = list(objects.known("karpenter.sh", "NodePool").values())
    nodes = [known_keys.part_at(each, "/metadata/labels") for each in objects.known("", "Node").values()]
    for key, wanted in known_keys.part_at(value, "/spec/nodeLabels").items() if pools else ():
        made = [_values_of_pool(each, key) for each in pools]
        given = sorted({text for each in made if each is not None for text in each})
        if not isinstance(wanted, str) or None in made or not given or wanted in given or is_placeholder(wanted):
            continue
        if not any(labels.get(key) == wanted for labels in nodes):
            text = f"wants nodes with {key[:80]}={wanted[:63]}, and the NodePools of these files make them with "
            text += f"{', '.join(given[:4])[:120]} alone, so its pods stay pending unless other nodes have the label"
            remedy = "write the label of a NodePool, or make a NodePool with this one"
            yield misread(paths.join("/spec/nodeLabels", key), text, remedy, "controller")


_OF_CLOUDS: Final = (
    "kubernetes.io",
    "k8s.io",
    "karpenter.sh",
    "k8s.aws",
    "azure.com",
    "google.com",
    "nvidia.com",
    "amd.com",
)


def _values_of_pool(pool: paths.Object, key: str) -> Collection[str] | None:
    """The values that a NodePool gives a label of its nodes; None where they are unknown."""
    label = known_keys.part_at(pool, "/spec/template/metadata/labels").get(key)
    if label is not None:
        return (str(label),)
    for each in map(paths.mapping, values_at(pool, "spec.template.spec.requirements[]")):
        if each.get("key") == key:
            return texts_at(each, "values[]") if each.get("operator") == "In" else None
    return None if key.partition("/")[0].endswith(_OF_CLOUDS) else ()


_TOPOLOGIES: Final = "topology.volcano.sh"


def _members_of_hyper_node(value: paths.Object, objects: Objects) -> Found:
    """Patterns that Go cannot read, members that are not below their HyperNode, and members with two parents.

    Sources: validateHyperNodeRegexPattern in pkg/webhooks/admission/hypernodes and hyper_node_info.go of Volcano.
    """
    for where, pattern in texts_with_paths(value, "spec.members[].selector.regexMatch.pattern"):
        if _OPEN.sub("", pattern).count("[") or _OPEN.sub("", pattern).count("(") != _OPEN.sub("", pattern).count(")"):
            text = f"has the pattern {pattern[:80]}, in which a bracket stays open, so Volcano refuses it"
            yield misread(where, text, "close the bracket", "controller")
    tier = known_keys.part_at(value, "/spec").get("tier")
    known, own = objects.known(_TOPOLOGIES, "HyperNode"), paths.text(paths.metadata(value).get("name"))
    parents = objects.once("parents of HyperNodes", lambda: _parents_of_hyper_nodes(known))
    for where, member in at(value, "spec.members[]"):
        name = "".join(texts_at(member, "selector.exactMatch.name")[:1])
        if not isinstance(member, dict) or not name:
            continue
        child = known_keys.part_at(known.get(name, {}), "/spec").get("tier")
        place = f"{where}/selector/exactMatch/name"
        if member.get("type") == "HyperNode" and isinstance(tier, int) and isinstance(child, int) and child >= tier:
            text = f"has the tier {tier} and the member {name[:63]} of the tier {child}, which has to be lower"
            yield misread(place, text, f"set tier to {child + 1} or more", "controller")
        first = parents.get((paths.text(member.get("type")), name), own)
        if member.get("type") == "HyperNode" and first != own:
            text = (
                f"has the member {name[:63]}, which is in {first[:63]} too, and Volcano takes one HyperNode above each"
            )
            yield misread(place, text, "leave it out of one of them", "controller")


_OPEN: Final = memo.pattern(r"\\.|\[\^?\]?[^\]]*\]")


def _parents_of_hyper_nodes(known: Mapping[str, paths.Object]) -> Mapping[tuple[str, str], str]:
    """The first HyperNode that names a member, by its type and name."""
    found: dict[tuple[str, str], str] = {}
    for name, each in known.items():
        for member in map(paths.mapping, values_at(each, "spec.members[]")):
            for text in texts_at(member, "selector.exactMatch.name"):
                found.setdefault((paths.text(member.get("type")), text), name)
    return found
