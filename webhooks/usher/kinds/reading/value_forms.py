"""Values at places of an object, its pod specs, and values whose form the API server refuses.

A place is a path with a dot between keys: `[]` is each element, `[0]` the first one, `*` each value, `^` each key,
`**` each text below, `~` what a text of YAML or JSON says, `+` the texts of a list as one line, and `{a,b}` stands for
both. A space separates places.

The form is what a type does not say: of names, amounts, durations. Sources: pkg/apis/core/validation/validation.go of
kubernetes/kubernetes v1.36 and staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go for names, labels and
ports; pkg/apis/crds/karpenter.sh_nodepools.yaml of kubernetes-sigs/karpenter 2266468.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations, product
from typing import Any, Final, NamedTuple

from usher import errors, memo, model, paths, quantities
from usher.kinds.reading import known_keys
from usher.kinds.reading.values import Absence, Lookup, Objects, Reference, amount_in

Steps = tuple[str, ...]

DOT: Final = "\N{ONE DOT LEADER}"
"""Stands for a dot in a key."""


@cache
def _ways(places: str) -> tuple[Steps, ...]:
    """The steps of each place."""
    return tuple(
        tuple(each.replace(DOT, ".") for each in re.split(r"\.|(\[\d?\]|\^|\+)", place) if each)
        for one in places.split() or ("",)
        for place in dict.fromkeys(_without_braces(one))  # inner braces repeat the other alternatives
    )


def _without_braces(place: str) -> Iterator[str]:
    found = re.search(r"\{([^{}]*)\}", place)
    if found is None:
        yield place
        return
    for each in found[1].split(","):
        yield from _without_braces(f"{place[: found.start()]}{each}{place[found.end() :]}")


def _at(value: Any, way: Steps, path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    """The values at a place, each with its path."""
    if not way:
        yield path, value
        return
    step, rest = way[0], way[1:]
    if step == "**":
        yield from _texts(value, path)
    elif step == "~":
        yield from ((path, each) for _, each in _at(known_keys.parsed(value), rest, ""))
    elif step == "+":
        yield from ((path, line) for line in _lines(value))
    elif step == "^":
        yield from ((paths.join(path, key), key) for key in value) if isinstance(value, dict) else ()
    else:
        for key, each in _parts(value, step):
            yield from _at(each, rest, paths.join(path, key))


def _parts(value: Any, step: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    if isinstance(value, list) and step[0] == "[":
        yield from ((str(index), each) for index, each in enumerate(value) if step in ("[]", f"[{index}]"))
    elif isinstance(value, dict):
        for key in value if step == "*" else (step,):
            if (each := value.get(key)) is not None:
                yield key, each


def _lines(value: Any) -> list[str]:  # noqa: ANN401 - any JSON
    """A list of texts as one line, as a command writes an option and its value."""
    return [" ".join(each for each in value if isinstance(each, str))] if isinstance(value, list) else []


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, (dict, list)):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(each, paths.join(path, str(key)))


def _values(value: Any, way: Steps) -> list[Any]:  # noqa: ANN401 - any JSON
    found = [value]
    for step in way:
        if step == "[]":
            found = [each for level in found if isinstance(level, list) for each in level]
        elif step[0] == "[":
            index = int(step[1])
            found = [level[index] for level in found if isinstance(level, list) and index < len(level)]
        elif step == "*":
            found = [each for level in found if isinstance(level, dict) for each in level.values()]
        elif step == "^":
            found = [each for level in found if isinstance(level, dict) for each in level]
        elif step == "**":
            found = [text for level in found for _, text in _texts(level, "")]
        elif step == "+":
            found = [line for level in found for line in _lines(level)]
        elif step == "~":
            found = list(filter(None, map(known_keys.parsed, found)))
        else:
            found = [each for level in found if isinstance(level, dict) and (each := level.get(step)) is not None]
        if not found:
            break
    return found


def at(value: Any, places: str, path: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    """The values at places, each with its path; `path` is that of the value."""
    for way in _ways(places):
        yield from _at(value, way, path)


def values_at(value: Any, places: str) -> list[Any]:  # noqa: ANN401 - any JSON
    """As `at` without paths, at a tenth of its cost."""
    return [each for way in _ways(places) for each in _values(value, way)]


def texts_at(value: Any, places: str) -> list[str]:  # noqa: ANN401 - any JSON
    return [each for each in values_at(value, places) if isinstance(each, str)]


def texts_with_paths(value: Any, places: str, path: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    return ((where, each) for where, each in at(value, places, path) if isinstance(each, str))


ADDED: Final = (
    "mpi-job-config", "ssh-auth", "ray-logs", "ray-token", "log-volume", "shared-mem", "shared-nvidia-driver-toolkit",
)  # fmt: skip
"""Volumes that operators add to pods of their jobs, and that containers may mount."""

PodSpec = tuple[Mapping[str, Any], str, tuple[str, ...]]
"""A pod spec with its path and the names of volumes that the objects around it give."""


def pod_specs(value: paths.Object) -> list[PodSpec]:
    """The pod specs in an object."""
    return list(_pod_specs(value, "", ADDED))


def _pod_specs(value: Mapping[str, Any], path: str, volumes: tuple[str, ...]) -> Iterator[PodSpec]:
    if isinstance(value.get("containers"), list):
        yield value, path, volumes
        return
    if "volumes" in value or "volumeClaimTemplates" in value:
        volumes = (*volumes, *texts_at(value, "volumes[].name volumeClaimTemplates[].metadata.name"))
    for key, each in value.items():
        if isinstance(each, dict):
            if key not in _NO_PODS:
                yield from _pod_specs(each, paths.join(path, key), volumes)
        elif isinstance(each, list) and each and isinstance(each[0], dict):
            for index, one in enumerate(each):
                if isinstance(one, dict):
                    yield from _pod_specs(one, f"{paths.join(path, key)}/{index}", volumes)


_NO_PODS: Final = frozenset({"metadata", "status", "selector", "data"})


_PLACEHOLDERS: Final = ("{{", "$", "<")
_TO_REPLACE: Final = memo.pattern(
    r"(?<![A-Za-z])(?:ACCOUNT|BUCKET|CHANGE(?:_?ME)?|CLUSTER|ENV|ENVIRONMENT|IMAGE|MY|NAME|NAMESPACE|PLACEHOLDER|PROJECT|"
    r"REGION|REGISTRY|REPLACE(?:_?ME)?|TAG|TEAM|TENANT|TODO|USER|USERNAME|VERSION|XXX|YOUR|ZONE)(?![A-Za-z])"
)


def is_placeholder(text: str) -> bool:
    """Whether somebody or a program is to replace a text, or a part of it, before it is applied: `dev-NAMESPACE`."""
    return any(mark in text for mark in _PLACEHOLDERS) or (
        not text.islower() and _TO_REPLACE.search(text[:1000]) is not None
    )


class _Form(NamedTuple):
    takes: str
    """The form that the API server takes, for the message."""
    fits: Callable[[Any], object]


def _matches(pattern: str) -> Callable[[Any], object]:
    found = memo.pattern(pattern)
    return lru_cache(maxsize=4096)(lambda value: not isinstance(value, str) or found.fullmatch(value))


def _is_amount(value: object) -> bool:
    try:
        quantities.parse(value)
    except errors.QuantityError:
        return False
    return True


def _of_pages(size: str) -> _Form:
    def fits(value: object) -> bool:
        return not _is_amount(value) or not quantities.parse(value).nanos % (_PAGES[size] * quantities.NANO)

    return _Form(f"a multiple of {size}, for example {size}", fits)


def _matches_if_plain(pattern: str) -> Callable[[Any], object]:
    """As `_matches`, for names: texts in capitals are placeholders, and others than names have other faults."""
    fits, plain = _matches(pattern), memo.pattern(r"[\w ./@+=-]+", re.ASCII)
    return lambda value: fits(value) or value.isupper() or not plain.fullmatch(value)


_NAME: Final = _Form(
    "small letters, digits, dashes and dots", _matches_if_plain(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
)
_PART: Final = _Form(
    "at most 63 small letters, digits and dashes", _matches_if_plain(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
)
_is_label: Final = _matches_if_plain(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_PRODUCT: Final = memo.pattern(r"[A-Z0-9]+ [A-Z0-9. /-]*\d[A-Z0-9. /-]*")
_LABEL: Final = _Form(
    "at most 63 letters, digits, dashes, dots and underscores",
    lambda value: _is_label(value) and not (isinstance(value, str) and _PRODUCT.fullmatch(value)),
)
"""A product has capitals alone where nvidia-smi writes it, as in NVIDIA H100 80GB HBM3, and placeholders do too."""
_AMOUNT: Final = _Form("an amount, for example 8, 500m or 64Gi", _is_amount)
_PAGES: Final = {"2Mi": 2 << 20, "1Gi": 1 << 30}
_PORTS: Final = 65536
_PORT: Final = _Form("a port from 1 to 65535", lambda value: not isinstance(value, int) or 0 < value < _PORTS)
_PORT_OR_0: Final = _Form("a port up to 65535", lambda value: not isinstance(value, int) or 0 <= value < _PORTS)
_MEDIUM: Final = _Form("Memory, HugePages or nothing", _matches(r"|Memory|HugePages(-.+)?"))
_DURATION: Final = _Form("a duration in h, m and s, for example 720h, or Never", _matches(r"(([0-9]+(s|m|h))+|Never)"))
_LIMITED: Final = _Form(
    "Container, Pod or PersistentVolumeClaim", _matches(r"Container|Pod|PersistentVolumeClaim|.*/.*")
)

_SHARE: Final = _Form("a number or a percentage without a space", _matches(r"[0-9]+%?"))
_WEIGHT: Final = _Form("a weight from 1 to 100", lambda value: not isinstance(value, int) or 0 < value <= 100)
_FIELD: Final = _Form(
    "a field of a pod, for example metadata.name",
    _matches(
        r"metadata\.(name|namespace|uid|labels|annotations)(\[.*)?|spec\.(nodeName|serviceAccountName)"
        r"|status\.(hostIPs?|podIPs?)"
    ),
)
_IMAGE: Final = _Form("an image without spaces", _matches(r"\S*|[^a-z]*"))
_RESOURCE: Final = _Form(
    "cpu, memory, ephemeral-storage, or a name with a domain",
    _matches_if_plain(
        r"cpu|memory|ephemeral-storage|hugepages-.+|.*/.*|(?i:.*gpu.*|.*tpu.*)"
    ),  # a check of its own has gpu
)
_RETRIES: Final = _Form(
    "Always, OnFailure, OnError or OnTransientError", _matches("Always|OnFailure|OnError|OnTransientError")
)
_SERVICE: Final = _Form("ClusterIP, NodePort or LoadBalancer", _matches("|ClusterIP|NodePort|LoadBalancer"))

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_WEIGHTED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_OF_OBJECTS: Final = (("metadata.name", _NAME), ("metadata.namespace", _PART), ("metadata.labels.*", _LABEL))
_OF_POD_SPECS: Final = (
    ("{containers,initContainers}[].name", _PART),
    ("containers[].ports[].containerPort", _PORT),
    ("containers[].ports[].hostPort", _PORT_OR_0),
    ("{containers,initContainers}[].image", _IMAGE),
    ("{containers,initContainers}[].env[].valueFrom.fieldRef.fieldPath", _FIELD),
    ("{containers,initContainers}[].resources.{limits,requests}^", _RESOURCE),
    *(
        ("{containers,initContainers}[].resources.{limits,requests}.hugepages-" + size, _of_pages(size))
        for size in _PAGES
    ),
    ("{runtimeClassName,priorityClassName,serviceAccountName}", _NAME),
    (
        f"affinity.{{nodeAffinity,podAffinity,podAntiAffinity}}.{_WEIGHTED}[].weight",
        _WEIGHT,
    ),
    ("nodeSelector.*", _LABEL),
    (f"affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms[].matchExpressions[].values[]", _LABEL),
    ("volumes[].name", _PART),
    ("volumes[].emptyDir.medium", _MEDIUM),
)
_ARGO: Final = [f"argoproj.io {each}" for each in ("Workflow", "CronWorkflow", "WorkflowTemplate")]
_RAY: Final = [f"ray.io {each}" for each in ("RayCluster", "RayJob", "RayService")]
_ROWS: Final[Mapping[str, tuple[tuple[str, _Form], ...]]] = {
    " PersistentVolumeClaim": (("spec.resources.{requests,limits}.*", _AMOUNT),),
    "apps Deployment": (("spec.strategy.rollingUpdate.{maxUnavailable,maxSurge}", _SHARE),),
    "policy PodDisruptionBudget": (("spec.{minAvailable,maxUnavailable}", _SHARE),),
    **dict.fromkeys(_ARGO, (("spec{,.workflowSpec}{,.templates[]}.retryStrategy.retryPolicy", _RETRIES),)),
    **dict.fromkeys(_RAY, (("spec{,.rayClusterSpec,.rayClusterConfig}.headGroupSpec.serviceType", _SERVICE),)),
    "apps StatefulSet": (("spec.volumeClaimTemplates[].spec.resources.{requests,limits}.*", _AMOUNT),),
    " LimitRange": (
        ("spec.limits[].type", _LIMITED),
        ("spec.limits[].{max,min,default,defaultRequest}.*", _AMOUNT),
    ),
    " Service": (("spec.ports[].{port,targetPort}", _PORT),),
    "karpenter.sh NodePool": (
        ("spec.limits.*", _AMOUNT),
        ("spec.template.spec.{expireAfter,terminationGracePeriod}", _DURATION),
        ("spec.disruption.consolidateAfter", _DURATION),
        ("spec.template.metadata.labels.*", _LABEL),
        ("spec.template.spec.requirements[].values[]", _LABEL),
    ),
    "kueue.x-k8s.io ResourceFlavor": (("spec.nodeLabels.*", _LABEL),),
}
"""Places with the form of their values. Amounts of pods are read, so they are left out."""


@cache
def _removed() -> Mapping[str, tuple[str, str]]:
    """The last release that serves a version of a kind, with its project, and what to write instead."""
    return {
        f"{row['version']} {kind}": (f"{row.get('by', 'Kubernetes')} serves up to {row['last']}", row["now"])
        for row in known_keys.rows("removed")
        for kind in row["kinds"].split()
    }


def is_removed(api_version: str, kind: str) -> bool:
    """Whether Kubernetes, or an operator, served a version of a kind once."""
    return f"{api_version} {kind}" in _removed()


def refused_forms(value: paths.Object, key: tuple[str, str], specs: Sequence[PodSpec]) -> Iterator[model.UnreadKey]:
    """The values of an object whose form the API server refuses.

    Args:
        value: the object.
        key: its group and kind.
        specs: its pod specs; empty for a kind that makes no pods.
    """
    version = paths.text(value.get("apiVersion"))
    if (removed := _removed().get(f"{version} {key[1]}")) is not None:
        last, now = removed
        text = f"has the apiVersion {version}, which {last}"
        yield model.UnreadKey(
            path="/apiVersion", text=text, remedy=f"write {now}", important=False, refused=False, topic="controller"
        )
    of_object = () if _are_names(paths.metadata(value)) else _OF_OBJECTS
    for place, form in (*of_object, *_ROWS.get(" ".join(key), ())):
        yield from _refused(value, place, form, "")
    for spec, path, _ in specs:
        for place, form in () if _is_usual(spec) else _OF_POD_SPECS:
            yield from _refused(spec, place, form, path)


_NAMES: Final = memo.pattern(r"(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\n)*")
_LABELS: Final = memo.pattern(r"(?:(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?\n)*")


def _are_names(metadata: Mapping[str, Any]) -> bool:
    """Whether name and labels are right; nearly all objects end here, at a fraction of the cost of rows."""
    name, labels = metadata.get("name", "x"), metadata.get("labels") or {}
    try:
        written = f"{name}\n{metadata.get('namespace', 'x')}\n"
        return bool(_NAMES.fullmatch(written)) and bool(_LABELS.fullmatch("\n".join([*labels.values(), ""])))
    except (AttributeError, TypeError):
        return False


_NAMED: Final = ("runtimeClassName", "priorityClassName", "serviceAccountName")


def _are_known(resources: Mapping[str, Any]) -> bool:
    """Whether each resource of a container is one of the usual ones, or has a domain."""
    for name in (*(resources.get("limits") or ()), *(resources.get("requests") or ())):
        if name not in {"cpu", "memory"} and "/" not in name:
            return False
    return True


def _is_usual(spec: Mapping[str, Any]) -> bool:
    """As `_are_names`, for a pod spec without weights, ports of its host, and fields of it in variables."""
    try:
        parts = [*spec["containers"], *(spec.get("initContainers") or ()), *(spec.get("volumes") or ())]
        affinity = spec.get("affinity") or {}
        if any(_WEIGHTED in each for each in affinity.values()) or _REQUIRED in (affinity.get("nodeAffinity") or ()):
            return False
        if any((each.get("emptyDir") or {}).get("medium", "Memory") != "Memory" for each in parts):
            return False
        ports = [port for each in parts for port in each.get("ports") or ()]
        if any("hostPort" in each or not 0 < each["containerPort"] < _PORTS for each in ports):
            return False
        if any("fieldRef" in each.get("valueFrom", ()) for part in parts for each in part.get("env") or ()):
            return False
        selected = (spec.get("nodeSelector") or {}).values()
        classes = [spec[each] for each in _NAMED if each in spec]
        if any("resources" in each and not _are_known(each["resources"]) for each in parts):
            return False
        if any(" " in each.get("image", "") for each in parts) or any("." in each for each in classes):
            return False
        names = "\n".join([*(each["name"] for each in parts), *classes, ""])
        return bool(_NAMES.fullmatch(names)) and bool(_LABELS.fullmatch("\n".join([*selected, ""])))
    except (AttributeError, KeyError, TypeError):
        return False


def _refused(value: Mapping[str, Any], place: str, form: _Form, path: str) -> Iterator[model.UnreadKey]:
    if all(form.fits(each) for each in values_at(value, place) if not isinstance(each, (dict, list))):
        return
    for where, each in at(value, place, path):
        written = isinstance(each, (str, int, float)) and not isinstance(each, bool)
        if written and not is_placeholder(str(each)) and not form.fits(each):
            meant = str(each).replace(" ", "-")
            yield model.UnreadKey(
                path=where,
                text=f"has {str(each)[:80]!r} at {paths.readable(where)}, where the API server takes {form.takes}",
                remedy=f"write {meant[:80] if form is _LABEL and form.fits(meant) else form.takes}",
                important=True,
                refused=True,
            )


def refused_parts(value: paths.Object, key: tuple[str, str], beside: Lookup) -> Iterator[model.UnreadKey]:
    """Fields of Kubernetes' own workloads that fit their types but that the API server refuses; misspelt selectors.

    Sources: ValidateDeploymentSpec and its like in pkg/apis/apps/validation/validation.go, validateJobSpec and
    validateCronJobSpec in pkg/apis/batch/validation/validation.go of kubernetes/kubernetes v1.36.

    Args:
        value: the object.
        key: its group and kind.
        beside: the objects of the same files; read only for a Service, a PodDisruptionBudget or a claim of a volume.
    """
    group, kind = key
    if group == "apps":
        yield from _labels_not_selected(value)
        yield from _spreads_others(value)
        yield from _shared_disks(value, "spec.volumeClaimTemplates[].spec", beside)
    elif group == "batch" and kind == "CronJob":
        yield from _schedule_refused(value)
        yield from _restarts_for_ever(value, "/spec/jobTemplate/spec/template/spec")
    elif group == "batch" and kind == "Job":
        yield from _restarts_for_ever(value, "/spec/template/spec")
    elif kind == "PersistentVolumeClaim":
        yield from _shared_disks(value, "spec", beside)
    elif kind == "LimitRange":
        yield from _limits_that_contradict(value)
    elif isinstance(beside, Objects) and (group, kind) == ("", "Service"):
        yield from known_keys.misspelt_selector(value, "/spec/selector", beside)
    elif isinstance(beside, Objects) and (group, kind) == ("policy", "PodDisruptionBudget"):
        yield from known_keys.misspelt_selector(value, "/spec/selector/matchLabels", beside)


DISKS: Final = frozenset({
    "disk.csi.azure.com", "dobs.csi.digitalocean.com", "ebs.csi.aws.com", "ebs.csi.eks.amazonaws.com",
    "kubernetes.io/aws-ebs", "kubernetes.io/azure-disk", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io",
    "cinder.csi.openstack.org", "csi.hetzner.cloud", "linodebs.csi.linode.com", "rancher.io/local-path",
})  # fmt: skip
"""Drivers of disks that several nodes share only as blocks (the documentation of each driver on access modes)."""
_LOCAL: Final = frozenset({
    "topolvm.io", "topolvm.cybozu.com", "local.csi.openebs.io", "openebs.io/local", "zfs.csi.openebs.io",
    "diskplugin.csi.alibabacloud.com", "blockvolume.csi.oraclecloud.com", "com.tencent.cloud.csi.cbs",
})  # fmt: skip
"""As `DISKS`, for drivers whose disks have no zone, or whose zones usher does not know."""

_CLASSES_OF_DISKS: Final = {
    **dict.fromkeys(("gp2", "gp3"), "ebs.csi.aws.com"),
    **dict.fromkeys(("premium-rwo", "standard-rwo"), "pd.csi.storage.gke.io"),
    **dict.fromkeys(("managed-csi", "managed-csi-premium"), "disk.csi.azure.com"),
    "local-path": "rancher.io/local-path",
}
"""The drivers of StorageClasses that clouds make, where the files do not define them."""


def _shared_disks(value: paths.Object, place: str, beside: Lookup) -> Iterator[model.UnreadKey]:
    """Claims of a file system that several nodes write, of disks that only one node mounts."""
    for where, claim in at(value, place):
        spec = paths.mapping(claim)
        name = spec.get("storageClassName")
        if "ReadWriteMany" not in paths.elements(spec.get("accessModes")) or spec.get("volumeMode") == "Block":
            continue
        if not isinstance(name, str) or not name:
            continue
        defined = beside.find(Reference(group="storage.k8s.io", kind="StorageClass", name=name))
        driver = _CLASSES_OF_DISKS.get(name) if isinstance(defined, Absence) else defined.get("provisioner")
        if isinstance(driver, str) and (driver in DISKS or driver in _LOCAL or driver.endswith("rbd.csi.ceph.com")):
            yield model.UnreadKey(
                path=f"{where}/accessModes",
                text=f"asks {name[:60]} for ReadWriteMany, but one node alone mounts a file system of {driver}, so it "
                "never gets a volume",
                remedy="use ReadWriteOnce for one pod, or a StorageClass of a shared file system",
                important=False,
                topic="controller",
            )


def _spreads_others(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Constraints that spread by a label that the own pods have with another value: they spread nothing."""
    labels = known_keys.part_at(value, "/spec/template/metadata/labels")
    for where, chosen in at(value, "spec.template.spec.topologySpreadConstraints[].labelSelector.matchLabels"):
        for key, each in paths.mapping(chosen).items():
            own = labels.get(key)
            if isinstance(own, str) and isinstance(each, str) and own != each and not is_placeholder(own + each):
                yield model.UnreadKey(
                    path=paths.join(where, key),
                    text=f"spreads pods with the label {key}: {each[:60]}, and its own pods have {own[:60]}",
                    remedy=f"write {own[:60]}",
                    important=False,
                    topic="controller",
                )


_ORDER: Final = ("min", "defaultRequest", "default", "max")
"""The amounts of a LimitRange, the smallest one first (ValidateLimitRange of kubernetes/kubernetes)."""


def _limits_that_contradict(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Amounts of a LimitRange above others of the same item."""
    for where, item in at(value, "spec.limits[]"):
        for (lower, upper), resource in product(combinations(_ORDER, 2), ("cpu", "memory", "nvidia.com/gpu")):
            small, large = (known_keys.part_at(item, f"/{each}").get(resource) for each in (lower, upper))
            least, most = (amount_in([] if each is None else [each]) for each in (small, large))
            if least is not None and most is not None and least > most:
                text = f"has the {lower} {small} of {resource} above its {upper} {large}, so the API server refuses it"
                path, remedy = paths.join(f"{where}/{lower}", resource), f"lower {lower}, or raise {upper}"
                yield model.UnreadKey(path=path, text=text, remedy=remedy, important=True, refused=True)


def is_whole(spec: Mapping[str, Any]) -> bool:
    """Whether a pod spec is complete and not a patch: each of its containers has an image."""
    containers = spec.get("containers")
    return isinstance(containers, list) and all(isinstance(each, dict) and "image" in each for each in containers)


def _labels_not_selected(value: paths.Object) -> Iterator[model.UnreadKey]:
    labels = known_keys.part_at(value, "/spec/template/metadata/labels")
    if not labels and not is_whole(known_keys.part_at(value, "/spec/template/spec")):
        return
    for key, each in known_keys.part_at(value, "/spec/selector/matchLabels").items():
        if isinstance(each, str) and "{{" not in each and labels.get(key) != each:
            yield model.UnreadKey(
                path=paths.join("/spec/selector/matchLabels", key),
                text=f"selects pods with the label {key}: {each}, which its own template does not have, so the API "
                "server refuses it",
                remedy="give the selector and the labels of the template the same value",
                important=True,
                refused=True,
            )


def _schedule_refused(value: paths.Object) -> Iterator[model.UnreadKey]:
    schedule = known_keys.part_at(value, "/spec").get("schedule")
    if isinstance(schedule, str) and not schedule.startswith(("@", "{{", "$")) and len(schedule.split()) != 5:
        yield model.UnreadKey(
            path="/spec/schedule",
            text=f"has {len(schedule.split())} fields in schedule {schedule[:60]!r}, where the API server takes 5",
            remedy="write minute, hour, day of the month, month and day of the week",
            important=True,
            refused=True,
        )


def _restarts_for_ever(value: paths.Object, path: str) -> Iterator[model.UnreadKey]:
    spec = known_keys.part_at(value, path)
    if spec.get("restartPolicy", "Always") == "Always" and is_whole(spec):
        written = "restartPolicy" in spec
        yield model.UnreadKey(
            path=f"{path}/restartPolicy" if written else path,
            text="has pods with the restartPolicy Always"
            f"{'' if written else ', the default'}, where the API server takes OnFailure and Never for Jobs",
            remedy="set restartPolicy to Never or OnFailure",
            important=True,
            refused=True,
        )


Pod = tuple[Mapping[str, Any], Mapping[str, Any]]
"""The labels and the spec of the pods of a template."""


def pods_selected(objects: Objects, namespace: str, selector: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The specs of the pods of a namespace that a selector selects; empty for an empty selector."""
    return [spec for _, spec in labelled_pods(objects, namespace, selector)]


def labelled_pods(objects: Objects, namespace: str, selector: Mapping[str, Any]) -> list[Pod]:
    """As `pods_selected`, with their labels."""
    by_label = objects.once("pods by each label", lambda: _pods_by_label(objects))
    first = next(((key, str(text)) for key, text in selector.items()), ("", ""))
    found = by_label.get((namespace, *first), ())
    return [each for each in found if selector.items() <= each[0].items()]


def _pods_by_label(objects: Objects) -> Mapping[tuple[str, str, str], Sequence[Pod]]:
    """The pods of these objects, and Pods of the facts."""
    found = defaultdict[tuple[str, str, str], list[Pod]](list)
    own = objects.cluster_scoped("", "Pod")
    others = [value for name, value in objects.known("", "Pod").items() if name not in own]
    beside = [(paths.text(paths.metadata(value).get("namespace")), value) for value in others]
    for namespace, value in (*objects.all(), *beside):
        for labels, spec in _pods_of(value):
            for key, text in labels.items():
                found[namespace, key, str(text)].append((labels, spec))
    return found


def _pods_of(value: paths.Object) -> Iterator[Pod]:
    """The labels and the spec of the pods of an object of Kubernetes."""
    for way in ("", "/spec/template"):
        if "containers" in (spec := known_keys.part_at(value, f"{way}/spec")):
            yield known_keys.part_at(value, f"{way}/metadata/labels"), spec
