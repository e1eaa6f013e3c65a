"""Reads the pod templates and pod specs that Kubernetes defines, wherever an object holds them.

Why: docs/domain/principles.md#unknown-kinds.

One value out of several layers, where nearer layers override the defaults below them (Argo, Tekton).

Layers come nearest first. A value of a single layer is taken unchanged. A value merged from several layers holds only
the parts that could be read, because an entry may come from another place than its path suggests.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from usher import errors, memo, model, paths, quantities
from usher.kinds.reading import environment, known_keys, value_forms
from usher.kinds.reading.environment import misread
from usher.kinds.reading.templates import LISTS, NOWHERE, ONE, PLAIN, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Inner, Objects, Reading
from usher.model import placement


def listed_containers(lists: Mapping[str, Place], reading: Reading) -> Iterator[ContainerPlace]:
    """The containers of a pod spec, whose three lists are given by their names."""
    for name, kind in LISTS:
        if name not in lists:
            continue
        for path, value in reading.items(*lists[name]):
            policy = value.get("restartPolicy")
            if policy is not None:
                policy = reading.text(policy, path + "/restartPolicy")
            sidecar = kind is model.ContainerType.INIT and policy == "Always"
            yield ContainerPlace(value=value, path=path, type=model.ContainerType.SIDECAR if sidecar else kind)


def pod_template(
    place: Place, reading: Reading, *, name: str = "", count: model.Count = ONE, traits: Traits = PLAIN
) -> Template:
    """The template of a PodTemplateSpec: an object with `metadata` and `spec`."""
    value, path = reading.mapping(*place), place.path
    return Template(
        name=name,
        path=path,
        spec=Place(value.get("spec"), path + "/spec"),
        metadata=Place(value.get("metadata"), path + "/metadata"),
        count=count,
        traits=traits,
    )


def pod_spec(
    place: Place,
    *,
    name: str = "",
    metadata: Place = NOWHERE,
    count: model.Count = ONE,
    traits: Traits = PLAIN,
) -> Template:
    """The template of a bare PodSpec, or of an object whose fields include those of one (KServe's predictors)."""
    return Template(name=name, path=place.path, spec=place, metadata=metadata, count=count, traits=traits)


def read_embedded(value: Mapping[str, paths.Json], path: str, reading: Reading) -> Inner | None:
    """A whole object at a path, with its templates at their places; None if its kind is unknown.

    Its unreadable parts are recorded with their paths in the outer object.
    """
    found = reading.context.inner(value)
    if found is None or found.templates is None:
        return found
    for unknown in found.unknowns:
        reading.unknown(path + unknown.path, unknown.reason)
    for name_path, reference in found.references.items():
        reading.record_reference(path + name_path, reference)
    return replace(found, templates=tuple(_template_at(template, path) for template in found.templates))


def _template_at(template: Template, path: str) -> Template:
    return replace(
        template,
        path=path + template.path,
        spec=_moved(template.spec, path),
        metadata=_moved(template.metadata, path),
        containers=None
        if template.containers is None
        else tuple(
            each._replace(
                path=path + each.path,
                requests=each.requests and _moved(each.requests, path),
                limits=each.limits and _moved(each.limits, path),
                environment=each.environment and tuple(_moved(place, path) for place in each.environment),
            )
            for each in template.containers
        ),
        fields={name: _moved(place, path) for name, place in template.fields.items()},
        requests=tuple(replace(each, path=path + each.path) for each in template.requests),
        claims=tuple(claim._replace(path=path + claim.path) for claim in template.claims),
    )


def _moved(place: Place, path: str) -> Place:
    return place if place == NOWHERE else Place(place.value, path + place.path)


def template_times(template: Template, count: model.Count) -> Template:
    """The template of an object that exists several times."""
    own = template.count
    maximum = None
    if own.maximum == 0 or count.maximum == 0:
        maximum = 0
    elif own.maximum is not None and count.maximum is not None:
        maximum = own.maximum * count.maximum
    reasons = dict.fromkeys(filter(None, (*own.reason.split("; "), *count.reason.split("; "))))
    return replace(
        template, count=model.Count(minimum=own.minimum * count.minimum, maximum=maximum, reason="; ".join(reasons))
    )


MAX_NODES = 100_000
"""Objects and lists to look at; the largest published CRDs have 25,000."""

_AMOUNTS = ("requests", "limits")

# Where a node is: the place of its holder, and its key there. A pointer is built only for the nodes that are found.
Trail = tuple["Trail", str | int] | None


def find_pod_specs(value: paths.Json) -> list[str] | None:
    """Paths of all objects with a `containers` list, in document order, without nested ones.

    None when the object is too large to be searched to its end.
    """
    return _find_all(value, _is_pod_spec)


def find_resource_requests(value: paths.Json, is_accelerator: Callable[[str], bool]) -> list[str] | None:
    """Paths of all objects whose `requests` or `limits` name an accelerator; None for an object that is too large.

    Kinds whose operators build the pods have these fields outside of containers.
    """
    return _find_all(
        value, lambda node: any(is_accelerator(name) for field in _AMOUNTS for name in paths.mapping(node.get(field)))
    )


def find_objects(value: paths.Json, is_wanted: Callable[[dict[str, paths.Json]], bool]) -> list[str]:
    """Paths of the outermost objects of a kind; no paths for an object that is too large."""
    return _find_all(value, is_wanted) or []


def _find_all(value: paths.Json, is_wanted: Callable[[dict[str, paths.Json]], bool]) -> list[str] | None:
    found: list[str] = []
    stack: list[tuple[Trail, paths.Json]] = [(None, value)]
    for _ in range(MAX_NODES):
        if not stack:
            break
        place, node = stack.pop()
        if isinstance(node, dict) and is_wanted(node):
            found.append(_pointer_of(place))
            continue
        children = reversed(node.items()) if isinstance(node, dict) else reversed(list(enumerate(paths.elements(node))))
        stack.extend(((place, key), child) for key, child in children if isinstance(child, dict | list))
    return None if stack else found


def _is_pod_spec(node: dict[str, paths.Json]) -> bool:
    return any(
        isinstance(container, dict) and "image" in container for container in paths.elements(node.get("containers"))
    )


def _pointer_of(place: Trail) -> str:
    keys: list[str | int] = []
    while place is not None:
        place, key = place
        keys.append(key)
    return paths.join(paths.ROOT, *reversed(keys))


def not_repeated(before: paths.Object, own: Mapping[str, paths.Json]) -> Iterator[str]:
    """The devices and claims of one block of resources that another does not repeat.

    A TrainJob drops claims of its runtime, and up to version 2.2 these devices too (TR:pkg/runtime/).
    """
    theirs, repeated = (
        {name for part in ("requests", "limits") if isinstance(block := each.get(part), dict) for name in block}
        for each in (before, own)
    )
    yield from sorted(name for name in theirs - repeated if "/" in name or name.startswith("hugepages-"))
    claims = before.get("claims")
    named = [each.get("name") for each in claims if isinstance(each, dict)] if isinstance(claims, list) else []
    yield from (f"claim {name}" for name in named if isinstance(name, str))


_TOLERATION: Final = ("key", "operator", "value", "effect")

_SHARED: Final = 500_000
"""Nodes of JSON that usher may read repeatedly, because many pod templates share them."""

Layers = Sequence[Place]


def field(layers: Layers, name: str) -> tuple[Place, ...]:
    """A field of every layer that is an object; other layers are left out."""
    return tuple(
        Place(layer.value.get(name), f"{layer.path}/{name}") for layer in layers if isinstance(layer.value, dict)
    )


def nearest(layers: Layers) -> Place:
    """The nearest layer that is not empty, else the nearest of all; NOWHERE if there are no layers."""
    return next((layer for layer in layers if is_set(layer)), layers[0] if layers else NOWHERE)


def is_set(layer: Place) -> bool:
    """Whether the layer has a value. Empty lists, objects and texts do not count, as in Go."""
    return layer.value is not None and layer.value not in ("", [], {})


def strings(layers: Layers, reading: Reading) -> Place:
    """Objects of strings, merged: labels, annotations, a node selector."""
    found = _set(layers)
    if len(found) < 2:
        return nearest(found or layers)
    merged: dict[str, paths.Json] = {}
    for layer in reversed(found):
        merged.update(reading.strings(*layer))
    return Place(merged, found[0].path)


def resources(layers: Layers, reading: Reading) -> Place:
    """`requests` or `limits`, merged one by one."""
    found = _set(layers)
    if len(found) < 2:
        return nearest(found or layers)
    merged: dict[str, paths.Json] = {}
    for layer in reversed(found):
        merged.update({name: str(quantity) for name, quantity in reading.resources(*layer).items()})
    return Place(merged, found[0].path)


def tolerations(layers: Layers, reading: Reading) -> Place:
    """Lists of tolerations, merged by their keys."""
    found = _set(layers)
    if len(found) < 2:
        return nearest(found or layers)
    merged: dict[str, dict[str, paths.Json]] = {}
    for layer in reversed(found):
        for path, toleration in reading.items(*layer):
            texts = {name: reading.text(toleration.get(name), f"{path}/{name}") for name in _TOLERATION}
            merged.setdefault(texts["key"], {}).update({name: text for name, text in texts.items() if text})
    return Place(list(merged.values()), found[0].path)


def affinity(layers: Layers, reading: Reading) -> Place:
    """Affinities, merged as far as they are read: the required node affinity is taken whole from one of them."""
    found = _set(layers)
    for layer in found:
        path = layer.path + "/nodeAffinity"
        node_affinity = reading.mapping(reading.mapping(*layer).get("nodeAffinity"), path)
        if node_affinity.get(placement.REQUIRED) is not None:
            return layer
    return nearest(found or layers)


def metadata(layers: Layers, reading: Reading) -> paths.Object:
    """Labels and annotations, merged."""
    labels: dict[str, str] = {}
    annotations: dict[str, tuple[str, str]] = {}
    for layer in reversed(layers):
        value = reading.mapping(*layer)
        labels.update(reading.strings(value.get("labels"), layer.path + "/labels"))
        texts = reading.strings(value.get("annotations"), layer.path + "/annotations")
        annotations.update({key: (text, f"{layer.path}/annotations") for key, text in texts.items()})
    inner = Reading()
    environment.of_pod({key: text for key, (text, _) in annotations.items()}, paths.ROOT, inner)
    for unknown in inner.found():
        # An annotation that asks for accelerators and cannot be read is recorded at its own path.
        key = paths.split(unknown.path)[-1]
        reading.unknown(paths.join(annotations.pop(key)[1], key), unknown.reason)
    return {"labels": {**labels}, "annotations": {key: text for key, (text, _) in annotations.items()}}


def _set(layers: Layers) -> list[Place]:
    return [layer for layer in layers if is_set(layer)]


def by_name(layers: Layers, reading: Reading) -> list[tuple[Place, ...]]:
    """Lists of objects, merged by their names: the layers of each object, in the order in which they are found."""
    found: dict[str, list[Place]] = {}
    for layer in layers:
        for path, value in reading.items(*layer):
            name = reading.text(value.get("name"), path + "/name")
            found.setdefault(name or path, []).append(Place(value, path))
    return [tuple(objects) for objects in found.values()]


class Budget:
    """A budget for reading values that several pod templates share: an object costs no more than its size."""

    __slots__ = ("_left", "_sizes")

    def __init__(self) -> None:
        self._left = _SHARED
        self._sizes: dict[int, tuple[object, int]] = {}

    def spend(self, *shared: object, times: int = 1) -> bool:
        """Whether the shared values may be read again, this number of times."""
        self._left -= times * (1 + sum(self._size(value) for value in shared))
        return not self.is_spent

    @property
    def is_spent(self) -> bool:
        return self._left < 0

    def _size(self, value: object) -> int:
        if not isinstance(value, dict | list):
            return 0
        if id(value) not in self._sizes:
            # The value is kept beside its size, so that no other value gets its id.
            self._sizes[id(value)] = (value, _size(value))
        return self._sizes[id(value)][1]


def _size(value: object) -> int:
    """Objects, lists and entries in a value, counted only as far as needed."""
    stack, found = [value], 0
    while stack and found <= _SHARED:
        node = stack.pop()
        children = node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()
        found += len(children)
        stack += [child for child in children if isinstance(child, dict | list)]
    return found


_MERGED_BY: Final[Mapping[str, str]] = {
    **dict.fromkeys(("containers", "initContainers", "ephemeralContainers", "env", "volumes"), "name"),
    **dict.fromkeys(("imagePullSecrets", "resourceClaims", "claims", "schedulingGates"), "name"),
    "ports": "containerPort",
    "volumeMounts": "mountPath",
}
"""Lists of a pod spec whose entries a strategic merge patch merges, by the key of an entry (API:core/v1/types.go)."""


def patched(value: Any, patch: Place, reading: Reading, *, typed: bool = False) -> Any:  # noqa: ANN401 - any JSON
    """A pod template with a strategic merge patch: null removes, entries of lists merge by name, other lists give way.

    Args:
        typed: whether the patch is an object of Go, so that null means nothing. Else directives (`$patch`) are unknown.
    """
    if value is not None and not isinstance(value, dict):
        return dict(reading.mapping(*patch)) if typed else value
    found = dict(value or {})
    for key, each in reading.mapping(*patch).items():
        path = paths.join(patch.path, key)
        if key.startswith("$") and not typed:
            reading.unknown(path, "usher does not apply directives of patches")
        elif each is None and typed:
            found.setdefault(key, None)
        elif each is None:
            found.pop(key, None)
        elif key in _MERGED_BY and not isinstance(each, list):
            reading.unknown(path, "expected a list")
        elif isinstance(found.get(key), dict) and not isinstance(each, dict):
            reading.unknown(path, "expected an object")
        elif isinstance(each, list) and key in _MERGED_BY:
            found[key] = _merged(found.get(key), Place(each, path), _MERGED_BY[key], reading, typed=typed)
        else:
            below = Place(each, path)
            found[key] = patched(found.get(key), below, reading, typed=typed) if isinstance(each, dict) else each
    return found


def _merged(value: paths.Json, patch: Place, key: str, reading: Reading, *, typed: bool) -> paths.Json:
    """A list with the entries of another: those with the key of one change it, others follow."""
    if value is not None and not isinstance(value, list):
        return value
    found = list(value or ())
    named = [(each.get(key) if isinstance(each, dict) else None) for each in found]
    places = {name: index for index, name in enumerate(named) if isinstance(name, str | int)}
    for path, each in reading.items(*patch):
        name = each.get(key)
        if not isinstance(name, str | int | None):
            reading.unknown(f"{path}/{key}", "expected a text or a number")
            continue
        index = None if name is None else places.get(name)
        if index is None:
            found.append(dict(each))
        else:
            found[index] = patched(found[index], Place(each, path), reading, typed=typed)
    return found


_Kubelets = Sequence[tuple[int, str, Mapping[str, Any]]]


def _kubelets(objects: Objects) -> tuple[int, _Kubelets]:
    """The minor version that the API server has at least, and those of kubelets, with the names and labels of nodes."""
    found = []
    for name, node in objects.known("", "Node").items():
        version = re.match(
            r"v1\.(\d{1,3})", paths.text(next(iter(value_forms.values_at(node, _KUBELET)), "")), re.ASCII
        )
        if version:
            found.append((int(version[1]), name, known_keys.part_at(node, "/metadata/labels")))
    found.sort(key=lambda each: each[:2])
    domains = objects.known("resource.nvidia.com", "ComputeDomain").values()
    made = {text for each in domains for text in value_forms.texts_at(each, "spec.channel.resourceClaimTemplate.name")}
    written = (each for _, each in objects.all() if paths.metadata(each).get("name") not in made)
    served = any(each.get("apiVersion") == "resource.k8s.io/v1" for each in written)
    newest = max([34 if served else 0, *(minor for minor, _, _ in found)])
    return newest, [each for each in found if _CONTROL_PLANE not in each[2]]


_KUBELET: Final = "status.nodeInfo.kubeletVersion"
_CONTROL_PLANE: Final = "node-role.kubernetes.io/control-plane"


def older_kubelets(
    workload: model.Workload | None, specs: Sequence[value_forms.PodSpec], objects: Objects
) -> Iterator[model.UnreadKey]:
    """Fields of pods that the kubelets of the nodes that they select do not know, while the API server does."""
    newest, kubelets = objects.once("kubelets", lambda: _kubelets(objects))
    rows = known_keys.rows("kubelets") if any(minor < newest for minor, _, _ in kubelets) else ()
    slices = objects.known("resource.k8s.io", "ResourceSlice").values() if rows and specs else ()
    of_slices = {name for each in slices for name in value_forms.texts_at(each, "spec.nodeName")}
    for spec, path, _ in specs if rows else ():
        pod_set = next((each for each in workload.pod_sets if each.spec_path == path), None) if workload else None
        chosen = (pod_set.node_selector if pod_set else {}).items()
        for row in rows:
            where = next(
                (at for at, each in value_forms.at(spec, row["at"], path) if re.search(row["is"], str(each))), ""
            )
            for minor, name, labels in kubelets if where else ():
                is_likely = chosen <= labels.items() and (name in of_slices or not (row.get("claims") and of_slices))
                if is_likely and minor < row["since"] <= newest:
                    text = f"{row['text']}, and the kubelet of node {name} has version 1.{minor}"
                    yield misread(where, text, row["remedy"], "controller")
                    break


_OPENSHIFT: Final = "openshift.io/sa.scc."
_RANGE: Final = memo.pattern(r"(\d{1,10})([/-])(\d{1,10})", re.ASCII)
_OF_ALL: Final = "{,containers[].,initContainers[].}securityContext"
_CHOSEN: Final = f"{_OF_ALL}.runAsUser"


def users_of_namespace(
    workload: model.Workload | None, specs: Sequence[value_forms.PodSpec], objects: Objects
) -> Iterator[model.UnreadKey]:
    """Users and groups that OpenShift does not give a pod, and homes that its users cannot write; images of root.

    Sources: docs.redhat.com, Managing security context constraints (restricted-v2); llm-d/llm-d#1430; kubernetes.io,
    Configure a Security Context, on runAsNonRoot.
    """
    name = workload.namespace if workload is not None else ""
    home = objects.known("", "Namespace").get(name, {}) if specs else {}
    ranges = known_keys.part_at(home, "/metadata/annotations")
    users = paths.text(ranges.get(f"{_OPENSHIFT}uid-range"))
    groups = paths.text(ranges.get(f"{_OPENSHIFT}supplemental-groups")) or users
    for spec, path, _ in specs:
        if not users:
            yield from _images_of_root(spec, path)
            continue
        wrong = [
            (where, f"{where.rpartition('/')[2]} {each}")
            for places, given in ((_CHOSEN, users), ("securityContext.fsGroup", groups))
            for where, each in value_forms.at(spec, places, path)
            if isinstance(each, int) and not _is_within(each, given)
        ]
        if wrong and _is_restricted(spec, objects):
            text = f"wants {wrong[0][1]}, and the namespace {name} has {users} on OpenShift, so its pods are refused "
            text += "unless their ServiceAccount may use another SCC than restricted-v2"
            remedy = "leave runAsUser and fsGroup out, or give the ServiceAccount the SCC nonroot-v2 or anyuid"
            yield misread(wrong[0][0], text, remedy, "controller")
        elif not wrong:
            yield from _homes_of_nobody(spec, path)


def _is_restricted(spec: Mapping[str, Any], objects: Objects) -> bool:
    """Whether nothing says that the ServiceAccount of a pod may use another SCC than all others."""
    account = paths.text(spec.get("serviceAccountName")) or "default"
    rules = [
        objects.known(*key).values()
        for key in (("rbac.authorization.k8s.io", "RoleBinding"), ("rbac.authorization.k8s.io", "ClusterRoleBinding"))
    ]
    bound = {each for binding in rules for rule in binding for each in value_forms.texts_at(rule, "subjects[].name")}
    is_known = account == "default" or account in objects.names("", "ServiceAccount")
    return (
        is_known and account not in bound and not objects.known("security.openshift.io", "SecurityContextConstraints")
    )


def _is_within(number: int, ranges: str) -> bool:
    found = [(int(low), sign, int(high)) for low, sign, high in _RANGE.findall(ranges)]
    return not found or any(low <= number < (low + high if sign == "/" else high + 1) for low, sign, high in found)


def _containers(spec: Mapping[str, Any], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((where, each) for where, each in value_forms.at(spec, "containers[]", path) if isinstance(each, dict))


def _homes_of_nobody(spec: Mapping[str, Any], path: str) -> Iterator[model.UnreadKey]:
    """Programs that write to their home, as a user whose home is the root of the file system."""
    for where, container in _containers(spec, path):
        image, variables = str(container.get("image")), value_forms.values_at(container, "env[].name")
        mounted = value_forms.texts_at(container, "volumeMounts[].mountPath")
        for row in known_keys.rows("homes") if "HOME" not in variables and "envFrom" not in container else ():
            folders = [f"/{each}" for each in row["folders"].split() if f"/{each}" not in mounted]
            words = " ".join(value_forms.texts_at(container, "command[] args[]"))
            if folders and re.search(row["image"], image) and row["moved"] not in variables and "HOME=" not in words:
                text = f"runs as a user whose home is / on OpenShift, and its program cannot write {', '.join(folders)}"
                yield misread(where, text, "set HOME to a folder of a volume that it can write", "controller")


def _images_of_root(spec: Mapping[str, Any], path: str) -> Iterator[model.UnreadKey]:
    """Images that start as root in pods that must not."""
    if True not in value_forms.values_at(spec, f"{_OF_ALL}.runAsNonRoot"):
        return
    of_pod = paths.mapping(spec.get("securityContext"))
    for where, container in _containers(spec, path):
        own = {**of_pod, **paths.mapping(container.get("securityContext"))}
        image = str(container.get("image"))
        if own.get("runAsNonRoot") is True and own.get("runAsUser") is None and _ROOT.search(image):
            text = (
                f"sets runAsNonRoot, but {image[:120]} runs as root, so the kubelet does not start it unless OpenShift "
            )
            yield misread(where, f"{text}chooses its user", "set runAsUser, and HOME to a volume", "controller")


_ROOT: Final = memo.pattern(
    r"(?:^|/)(?:vllm/vllm-openai|ollama/ollama|lmsysorg/sglang|nvidia/(?:cuda|pytorch|tritonserver)|pytorch/pytorch"
    r"|huggingface/text-(?:generation|embeddings)-inference|tensorflow/tensorflow)(?::|@|$)"
)


def bytes_of(text: object) -> int:
    """The whole number of an amount; 0 if it cannot be read."""
    try:
        return quantities.parse(text).value if isinstance(text, str) and text else 0
    except errors.QuantityError:
        return 0


_NEURON: Final = frozenset(f"aws.amazon.com/neuron{each}" for each in ("", "device", "core"))
_SCHEDULER: Final = memo.pattern(r"schedulerName:\s*[\"']?([\w.-]+)")


def apart_on_a_ring(pod_set: model.PodSet, objects: Objects) -> Iterator[model.UnreadKey]:
    """Several Neuron devices of a node, but not all, by a scheduler that does not know which are neighbours.

    Source: awsdocs-neuron.readthedocs-hosted.com, Neuron scheduler extension.
    """
    for name, asked in pod_set.accelerators.items() if pod_set.scheduler_name in ("", "default-scheduler") else ():
        per_node = max(amounts_of_nodes(pod_set, name, name, objects), default=0) if name in _NEURON else 0
        if 1 < asked.value < per_node and (scheduler := objects.once("scheduler of Neuron", lambda: _neuron(objects))):
            text = f"asks for {asked} of the {per_node} {name} of a node, which have to be neighbours, and only the "
            text += f"scheduler {scheduler} with the extension of Neuron looks at that"
            remedy = f"set schedulerName: {scheduler}, or ask for 1 or for all {per_node}"
            yield misread(pod_set.spec_path, text, remedy, "controller")


def _neuron(objects: Objects) -> str:
    """The name of the scheduler that asks the extension of Neuron, beside the default one; empty without one."""
    for each in objects.known("", "ConfigMap").values():
        for text in value_forms.texts_at(each, "data.*"):
            named = _SCHEDULER.search(text) if "neuron-scheduler" in text else None
            if named and named[1] != "default-scheduler":
                return named[1]
    return ""


def amounts_of_nodes(pod_set: model.PodSet, device: str, resource: str, objects: Objects) -> Iterator[int]:
    """The amounts of a resource on the known nodes with a device that pods select."""
    for node in objects.known("", "Node").values():
        offered = known_keys.part_at(node, "/status/allocatable")
        labels = known_keys.part_at(node, "/metadata/labels")
        if device in offered and pod_set.node_selector.items() <= labels.items():
            yield bytes_of(offered.get(resource))
