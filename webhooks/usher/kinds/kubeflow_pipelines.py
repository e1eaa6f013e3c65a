"""pipelines.kubeflow.org: compiled pipelines (IR YAML), in files and as PipelineVersions.

A run makes one pod for every execution of a task. A driver pod runs before each of them. It requests no accelerators
and ends before the task starts, so usher does not count it.
Source: backend/src/v2/compiler/argocompiler/ of kubeflow/pipelines.

Sources: kubernetes_platform/proto/kubernetes_executor_config.proto and extendPodSpecPatch in
backend/src/v2/driver/k8s.go of kubeflow/pipelines.

Components stand beside each other and refer to each other by name, so a small document may describe very many
executions. usher looks at every component once, after all components that call it.

The compiler writes a PipelineSpec, and behind it, where the pipeline has settings for Kubernetes, a PlatformSpec
(kubeflow/pipelines, api/v2alpha1/pipeline_spec.proto and sdk/python/kfp/compiler/pipeline_spec_builder.py). Here
they are one object, in which the settings stand as `platforms`, beside the fields of the PipelineSpec.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import errors, model, paths, quantities
from usher.kinds.kind import Code
from usher.kinds.reading.pod_templates import template_times
from usher.kinds.reading.templates import NOWHERE, ONE, TERMS, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import MAX_PODS, Reading

GROUP: Final = "pipelines.kubeflow.org"
KIND: Final = "PipelineSpec"
VERSION: Final = "2"
"""First number of the schema version that usher reads; other first numbers have another shape."""

PLATFORMS: Final = "platforms"


def is_pipeline(value: paths.Json) -> bool:
    """Whether a document is a pipeline, whatever else is wrong with it."""
    return (
        isinstance(value, dict)
        and _says_no_kind(value)
        and isinstance(value.get("pipelineInfo"), dict)
        and any(isinstance(value.get(field), dict) for field in ("root", "deploymentSpec"))
    )


def is_platforms(value: paths.Json) -> bool:
    """Whether a document is the settings for a pipeline."""
    return isinstance(value, dict) and [*value] == [PLATFORMS] and isinstance(value[PLATFORMS], dict)


def with_platforms(pipeline: paths.Object, settings: paths.Object) -> paths.Object:
    """A pipeline and its settings as one object, which shares their parts."""
    return {**pipeline, PLATFORMS: settings[PLATFORMS]}


def group_version_kind(value: paths.Object) -> tuple[str, str, str]:
    """Group, version and kind of an object, as texts that may be empty. usher recognises a pipeline by its fields."""
    if is_pipeline(value):
        version = str(value.get("schemaVersion") or "").partition(".")[0]
        return GROUP, version if version.isascii() and version.isalnum() else "", KIND
    group, _, version = paths.text(value.get("apiVersion")).rpartition("/")
    return group, version, paths.text(value.get("kind"))


def name(value: paths.Object) -> str:
    """The name of a pipeline; empty for all other objects."""
    information = value.get("pipelineInfo") if is_pipeline(value) else None
    return paths.text(information.get("name")) if isinstance(information, dict) else ""


def _says_no_kind(value: Mapping[str, paths.Json]) -> bool:
    return value.get("apiVersion") is None and value.get("kind") is None


Object = Mapping[str, paths.Json]

_DECIDED: Final = "it is decided when the pipeline runs"


def executor_settings(platforms: Place, reading: Reading) -> dict[str, Place]:
    """The settings of each executor by its label."""
    value, path = reading.mapping(*platforms), platforms.path
    for key in ("kubernetes", "deploymentSpec"):
        path = f"{path}/{key}"
        value = reading.mapping(value.get(key), path)
    found = reading.entries(value.get("executors"), path + "/executors")
    return {name: Place(settings, here) for here, name, settings in found}


def settings_metadata(settings: Place, reading: Reading) -> Place:
    if settings == NOWHERE:
        return NOWHERE
    return Place(reading.mapping(*settings).get("podMetadata"), settings.path + "/podMetadata")


def settings_init_containers(settings: Place, reading: Reading) -> Iterator[ContainerPlace]:
    path = settings.path + "/initContainers"
    for here, container in reading.items(reading.mapping(*settings).get("initContainers"), path):
        always = reading.text(container.get("restartPolicy"), here + "/restartPolicy") == "Always"
        kind = model.ContainerType.SIDECAR if always else model.ContainerType.INIT
        yield ContainerPlace(value=container, path=here, type=kind)


def settings_fields(settings: Place, passed_on: frozenset[str], reading: Reading) -> dict[str, Place]:
    """Fields of the pod spec, without settings for a workload that the pod makes."""
    if settings == NOWHERE:
        return {}
    own, path = reading.mapping(*settings), settings.path
    found = {
        "nodeSelector": _node_selector(own, path, reading),
        "tolerations": _tolerations(own, path, reading),
        TERMS: _terms(own, path, reading),
    }
    names = {
        "KUBERNETES_NODE_SELECTOR": "nodeSelector",
        "KUBERNETES_TOLERATIONS": "tolerations",
        "KUBERNETES_AFFINITY": TERMS,
    }
    left_out = {names.get(each) for each in passed_on}
    return {name: place for name, place in found.items() if place != NOWHERE and name not in left_out}


def _node_selector(own: Object, path: str, reading: Reading) -> Place:
    path += "/nodeSelector"
    selector = reading.mapping(own.get("nodeSelector"), path)
    if selector.get("nodeSelectorJson") is not None:
        reading.unknown(path + "/nodeSelectorJson", _DECIDED)
        return NOWHERE
    return Place(selector.get("labels"), path + "/labels")


def _tolerations(own: Object, path: str, reading: Reading) -> Place:
    path += "/tolerations"
    for here, toleration in reading.items(own.get("tolerations"), path):
        if toleration.get("tolerationJson") is not None:
            reading.unknown(here + "/tolerationJson", _DECIDED)
    return Place(own.get("tolerations"), path)


def _terms(own: Object, path: str, reading: Reading) -> Place:
    """The required terms, which have no weight; each is read where it stands."""
    path += "/nodeAffinity"
    terms: list[paths.Json] = []
    for here, term in reading.items(own.get("nodeAffinity"), path):
        if term.get("nodeAffinityJson") is not None:
            reading.unknown(here + "/nodeAffinityJson", _DECIDED)
            continue
        read: paths.Object = {
            field: [
                _expression(expression, expression_path, reading)
                for expression_path, expression in reading.items(term.get(field), f"{here}/{field}")
            ]
            for field in ("matchExpressions", "matchFields")
        }
        if term.get("weight") is None and any(read.values()):
            terms.append(read)
    return Place(terms, path) if terms else NOWHERE


def _expression(expression: Object, path: str, reading: Reading) -> paths.Object:
    return {
        "key": reading.text(expression.get("key"), path + "/key"),
        "operator": reading.text(expression.get("operator"), path + "/operator"),
        "values": [*reading.texts(expression.get("values"), path + "/values")],
    }


ROOT: Final = ""
"""The name of the component that is the pipeline itself."""

_ALWAYS: Final = "ALL_UPSTREAM_TASKS_COMPLETED"
_CONDITION: Final = model.Count(minimum=0, maximum=1, reason="a condition decides when it runs")
_NOT_COUNTED: Final = "it runs for each of items that are not known before"
_TOO_MANY: Final = "more than any cluster holds"


class _Call(NamedTuple):
    component: str
    executions: model.Count
    path: str
    """Path of the field that names it."""


class Component(Struct, frozen=True, kw_only=True):
    path: str
    executor: str
    """The label of its executor; empty if the component only calls others."""
    passed_on: frozenset[str]
    """Settings that its pod does not get, because it hands them to a workload that it makes."""
    calls: tuple[_Call, ...]


def read_components(spec: Object, path: str, reading: Reading) -> dict[str, Component]:
    """The components of a PipelineSpec by name, with the root. Components that are not objects have no calls."""
    root_path, path = path + "/root", path + "/components"
    given = reading.mapping(spec.get("components"), path)
    found = {
        name: Component(path=paths.join(path, name), executor="", passed_on=frozenset(), calls=()) for name in given
    }
    for component_path, name, component in reading.entries(given, path):
        found[name] = _component(component, component_path, reading)
    root = _component(reading.mapping(spec.get("root"), root_path), root_path, reading)
    if "components" in spec and not isinstance(spec["components"], dict):
        # Then the called components cannot be found. That is recorded once, here.
        if spec["components"] is None and root.calls:
            reading.unknown(path, "the components are missing: their pods are not counted")
        root = replace(root, calls=())
    return {**found, ROOT: root}


def nearest_path(holder: Object, path: str, *keys: str) -> str:
    """The path to report if all of these fields are missing: a field that is null, or else the holder."""
    return next((paths.join(path, key) for key in keys if key in holder), path)


def count_runs(found: Mapping[str, Component], reading: Reading) -> dict[str, model.Count]:
    """How often each component runs; components that never run are left out."""
    order, around = _order(found, reading)
    result = {ROOT: ONE}
    for name in order:
        for call in found[name].calls:
            if call.component in found and (name, call.component) not in around:
                result[call.component] = _sum(result.get(call.component), _product(result[name], call.executions))
    return result


def _order(found: Mapping[str, Component], reading: Reading) -> tuple[list[str], frozenset[tuple[str, str]]]:
    """Components, callers first; and the calls by which a component would call itself, which are recorded."""
    finished: list[str] = []
    calling = {ROOT}
    around = set()
    stack: list[tuple[str, Iterator[_Call]]] = [(ROOT, iter(found[ROOT].calls))]
    seen = {ROOT}
    while stack:
        name, calls = stack[-1]
        call = next(calls, None)
        if call is None:
            finished.append(name)
            calling.discard(name)
            stack.pop()
        elif call.component not in found:
            reading.unknown(call.path, "no component of this name is there: its pods are not counted")
        elif call.component in calling:
            around.add((name, call.component))
            reading.unknown(call.path, "the component calls itself: its pods are not counted")
        elif call.component not in seen:
            seen.add(call.component)
            calling.add(call.component)
            stack.append((call.component, iter(found[call.component].calls)))
    return finished[::-1], frozenset(around)


def _component(component: Object, path: str, reading: Reading) -> Component:
    passed_on = set()
    for each_path, each in reading.items(component.get("taskConfigPassthroughs"), path + "/taskConfigPassthroughs"):
        setting = reading.text(each.get("field"), each_path + "/field")
        if not reading.flag(each.get("applyToTask"), each_path + "/applyToTask"):
            passed_on.add(setting)
    dag = reading.mapping(component.get("dag"), path + "/dag")
    if component and component.get("dag") is None and component.get("executorLabel") is None:
        reading.unknown(
            nearest_path(component, path, "dag", "executorLabel"), "a component has a dag or an executorLabel"
        )
    return Component(
        path=path,
        executor=reading.text(component.get("executorLabel"), path + "/executorLabel"),
        passed_on=frozenset(passed_on),
        calls=tuple(_calls(dag, path + "/dag", reading)),
    )


def _calls(dag: Object, path: str, reading: Reading) -> Iterator[_Call]:
    tasks = {name: (task_path, task) for task_path, name, task in reading.entries(dag.get("tasks"), path + "/tasks")}
    skipped = _skipped(tasks, reading)
    for name, (task_path, task) in tasks.items():
        executions = _iterations(task, task_path, reading)
        reference_path = nearest_path(task, task_path, "componentRef")
        reference = reading.mapping(task.get("componentRef"), reference_path)
        name_path = nearest_path(reference, reference_path, "name")
        component = reading.text(reference.get("name"), name_path)
        if component:
            executions = _product(executions, _CONDITION) if name in skipped else executions
            yield _Call(component=component, executions=executions, path=name_path)
        elif reference.get("name") in (None, "") and isinstance(task.get("componentRef"), dict | None):
            reading.unknown(name_path, "the task names no component: its pods are not counted")


def _skipped(tasks: Mapping[str, tuple[str, Object]], reading: Reading) -> frozenset[str]:
    """Tasks that a run may skip: tasks with a condition, and tasks that need their success."""
    waiting: dict[str, list[str]] = {}
    skipped = []
    for name, (path, task) in tasks.items():
        policy = reading.mapping(task.get("triggerPolicy"), path + "/triggerPolicy")
        if reading.text(policy.get("condition"), path + "/triggerPolicy/condition"):
            skipped.append(name)
        needed = reading.texts(task.get("dependentTasks"), path + "/dependentTasks")
        if reading.text(policy.get("strategy"), path + "/triggerPolicy/strategy") != _ALWAYS:
            for other in needed:
                waiting.setdefault(other, []).append(name)
    found = set(skipped)
    while skipped:
        for name in waiting.get(skipped.pop(), ()):
            if name not in found:
                found.add(name)
                skipped.append(name)
    return frozenset(found)


def _iterations(task: Object, path: str, reading: Reading) -> model.Count:
    """How many executions of a task run at one time: one, or as many as a loop has items and allows at once.

    usher counts a list in the document. The length of an input is known only when the pipeline runs.
    """
    policy = reading.mapping(task.get("iteratorPolicy"), path + "/iteratorPolicy")
    limit = reading.count(
        policy.get("parallelismLimit"), path + "/iteratorPolicy/parallelismLimit", default=0, of="iterations"
    )
    by_artifact = reading.mapping(task.get("artifactIterator"), path + "/artifactIterator")
    by_parameter = reading.mapping(task.get("parameterIterator"), path + "/parameterIterator")
    items_path = path + "/parameterIterator/items"
    items = reading.mapping(by_parameter.get("items"), items_path)
    raw = reading.text(items.get("raw"), items_path + "/raw")
    if not by_artifact and not by_parameter:
        return ONE
    number = _length(raw, items_path + "/raw", reading) if raw else None
    if number is None:
        return model.Count(minimum=0, maximum=limit or None, reason=_NOT_COUNTED)
    at_one_time = min(number, limit or number)
    return model.Count(minimum=at_one_time, maximum=at_one_time)


def _length(text: str, path: str, reading: Reading) -> int | None:
    try:
        items = orjson.loads(text)
    except orjson.JSONDecodeError:
        items = None
    if not isinstance(items, list):
        reading.unknown(path, "expected a list as JSON")
        return None
    return len(items)


_NO_TEMPLATE: Final = Template(name="", path="", spec=NOWHERE)


def _product(one: model.Count, other: model.Count) -> model.Count:
    return _bounded(template_times(replace(_NO_TEMPLATE, count=one), other).count)


def _sum(one: model.Count | None, other: model.Count) -> model.Count:
    if one is None:
        return other
    maximum = None if one.maximum is None or other.maximum is None else one.maximum + other.maximum
    return _bounded(model.Count(minimum=one.minimum + other.minimum, maximum=maximum, reason=_reasons(one, other)))


def _reasons(*counted: model.Count) -> str:
    return "; ".join(dict.fromkeys(reason for count in counted for reason in count.reason.split("; ") if reason))


def _bounded(count: model.Count) -> model.Count:
    """The count with an upper limit, because numbers may double with every component."""
    minimum = min(count.minimum, MAX_PODS)
    if count.maximum is not None and count.maximum > MAX_PODS:
        count = model.Count(minimum=minimum, maximum=None, reason=f"{count.reason}; {_TOO_MANY}")
    return model.Count(minimum=minimum, maximum=count.maximum, reason=_reasons(count))


_MAIN: Final = "main"
_TRAITS: Final = Traits(trains=_MAIN, operator_environment=frozenset({"KFP_*"}), changeable=False)
_WITHOUT_POD: Final = ("argostub/createpvc", "argostub/deletepvc")
_LARGEST: Final = 2**53
_PLACEHOLDER: Final = "{{$"
_AMOUNTS: Final = (
    ("requests", "cpu", "resourceCpuRequest", "cpuRequest", ""),
    ("requests", "memory", "resourceMemoryRequest", "memoryRequest", "G"),
    ("limits", "cpu", "resourceCpuLimit", "cpuLimit", ""),
    ("limits", "memory", "resourceMemoryLimit", "memoryLimit", "G"),
)
"""List, resource, the field with a quantity, the deprecated field with a number and the unit of that."""


def _pipeline(pipeline: Object, reading: Reading) -> Iterator[Template]:
    platforms = Place(pipeline.get(PLATFORMS), f"/{PLATFORMS}")
    information = reading.mapping(pipeline.get("pipelineInfo"), "/pipelineInfo")
    reading.text(information.get("name"), "/pipelineInfo/name")
    yield from _templates(Place(pipeline, paths.ROOT), platforms, reading)


def _pipeline_version(version: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(version.get("spec"), "/spec")
    platform = reading.mapping(spec.get("platformSpec"), "/spec/platformSpec")
    platforms = Place(platform.get(PLATFORMS), f"/spec/platformSpec/{PLATFORMS}")
    yield from _templates(Place(spec.get("pipelineSpec"), "/spec/pipelineSpec"), platforms, reading)


def _templates(place: Place, platforms: Place, reading: Reading) -> Iterator[Template]:
    """One template for each component that has an executor and runs; several components may share an executor."""
    spec, path = reading.mapping(*place), place.path
    settings = executor_settings(platforms, reading)
    executors = _executors(spec, path, reading)
    components = read_components(spec, path, reading)
    for name, count in count_runs(components, reading).items():
        component = components[name]
        if not component.executor:
            continue
        if component.executor not in executors:
            _tell_of_missing(spec, path, component, reading)
            continue
        own = settings.get(component.executor, NOWHERE)
        executor = executors[component.executor]
        yield from _template(name, component, executor, reading, settings=own, count=count)


def _executors(spec: Object, path: str, reading: Reading) -> dict[str, Place]:
    """Executors by label. Entries that are not objects are included, and recorded."""
    path += "/deploymentSpec"
    deployment = reading.mapping(spec.get("deploymentSpec"), path)
    path += "/executors"
    given = reading.mapping(deployment.get("executors"), path)
    found = {name: Place(None, paths.join(path, name)) for name in given}
    return found | {name: Place(executor, here) for here, name, executor in reading.entries(given, path)}


def _tell_of_missing(spec: Object, path: str, component: Component, reading: Reading) -> None:
    """Records missing executors once; entries of a wrong type are recorded where they are read."""
    for key in ("deploymentSpec", "executors"):
        if key not in spec:
            break
        path += f"/{key}"
        holder = spec[key]
        if not isinstance(holder, dict):
            if holder is None:
                reading.unknown(path, "the executors are missing: their pods are not judged")
            return
        spec = holder
    reading.unknown(component.path + "/executorLabel", "there is no executor of this label: its pods are not judged")


def _template(  # noqa: PLR0913 - what a pod is made from
    name: str, component: Component, place: Place, reading: Reading, *, settings: Place, count: model.Count
) -> Iterator[Template]:
    """The pod of a container, or the one that imports an artifact and requests no accelerators.

    Tasks that make volume claims have an image in the manifest, but no pod. Source: initPodSpecPatch,
    extendPodSpecPatch and kubernetesPlatformOps in backend/src/v2/driver/ of kubeflow/pipelines.
    """
    executor = reading.mapping(*place)
    path = place.path + "/container"
    container = reading.mapping(executor.get("container"), path)
    importer = reading.mapping(executor.get("importer"), place.path + "/importer")
    if executor and executor.get("container") is None and executor.get("importer") is None:
        where = nearest_path(executor, place.path, "container", "importer")
        reading.unknown(where, "an executor has a container or an importer: its pods are not judged")
    if not (container or importer) or container.get("image") in _WITHOUT_POD:
        return
    yield Template(
        name=name or "root",
        path=component.path,
        spec=Place(None, place.path),
        metadata=settings_metadata(settings, reading),
        count=count,
        traits=_TRAITS,
        containers=(
            *settings_init_containers(settings, reading),
            *([_main(container, path, component, reading)] if container else []),
        ),
        fields=settings_fields(settings, component.passed_on, reading),
    )


def _main(container: Object, path: str, component: Component, reading: Reading) -> ContainerPlace:
    amounts = _amounts(container.get("resources"), path + "/resources", reading)
    if "RESOURCES" in component.passed_on:
        amounts = {}
    environment = NOWHERE if "ENV" in component.passed_on else Place(container.get("env"), path + "/env")
    return ContainerPlace(
        value={},
        path=path,
        name=_MAIN,
        requests=Place(amounts.get("requests"), path + "/resources"),
        limits=Place(amounts.get("limits"), path + "/resources"),
        environment=(environment,),
    )


def _amounts(value: object, path: str, reading: Reading) -> Mapping[str, paths.Json]:
    """Requests and limits; an accelerator is a limit, whose name is a value."""
    resources = reading.mapping(value, path)
    found: dict[str, dict[str, paths.Json]] = {"requests": {}, "limits": {}}
    for list_name, resource, field, deprecated, unit in _AMOUNTS:
        old = _number(resources, deprecated, path, reading, unit=unit)
        amount = _quantity(_text(resources, field, path, reading), f"{path}/{field}", reading) or old
        if amount:
            found[list_name][resource] = amount
    path += "/accelerator"
    accelerator = reading.mapping(resources.get("accelerator"), path)
    kinds = [_text(accelerator, field, path, reading) for field in ("resourceType", "type")]
    old = _number(accelerator, "count", path, reading)
    amount = _quantity(_text(accelerator, "resourceCount", path, reading), path + "/resourceCount", reading) or old
    kind = kinds[0] or kinds[1]
    if kind and amount:
        found["limits"][kind] = amount
    return {**found}


def _text(holder: Object, field: str, path: str, reading: Reading) -> str:
    """A text that may come from an input of the pipeline, which is not known before it runs."""
    path += f"/{field}"
    text = reading.text(holder.get(field), path)
    if _PLACEHOLDER in text:
        reading.unknown(path, "it is decided when the pipeline runs")
        return ""
    return text


def _number(holder: Object, field: str, path: str, reading: Reading, *, unit: str = "") -> str:
    """A number with a unit, as a quantity; JSON of protocol buffers writes large ones as texts."""
    path += f"/{field}"
    value = holder.get(field)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST:
        value = str(value)
    text = reading.text(value, path)
    return _quantity(text and text + unit, path, reading)


def _quantity(text: str, path: str, reading: Reading) -> str:
    """A quantity; empty if the text is empty or invalid."""
    try:
        quantity = quantities.parse(text) if text else quantities.ZERO
    except errors.QuantityError as error:
        reading.unknown(path, str(error))
        return ""
    if quantity < quantities.ZERO:
        reading.unknown(path, f"{text} is negative; no resource is")
        return ""
    return text if quantity else ""


CODE: Final[Mapping[str, Code]] = {
    "PipelineSpec.pipelines.kubeflow.org": {"templates": _pipeline},
    "PipelineVersion.pipelines.kubeflow.org": {"templates": _pipeline_version},
}
