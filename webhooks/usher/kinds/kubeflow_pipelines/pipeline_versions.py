"""pipelines.kubeflow.org: compiled pipelines, in files (see `compiled`) and as PipelineVersions.

A run makes one pod for every execution of a task. A driver pod runs before each of them. It requests no accelerators
and ends before the task starts, so usher does not count it.
Source: backend/src/v2/compiler/argocompiler/ of kubeflow/pipelines.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import errors, model, paths, quantities
from usher.kinds.kind import Kind, KueueUnit, Pods, Starts
from usher.kinds.kubeflow_pipelines import compiled, runs
from usher.kinds.kubeflow_pipelines import platforms as kubeflow_pipelines_platforms
from usher.kinds.kubeflow_pipelines.runs import Component, nearest
from usher.reading.templates import NOWHERE, ContainerPlace, Place, Template, Traits
from usher.reading.values import Reading

Object = Mapping[str, paths.Json]

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
    platforms = Place(pipeline.get(compiled.PLATFORMS), f"/{compiled.PLATFORMS}")
    information = reading.mapping(pipeline.get("pipelineInfo"), "/pipelineInfo")
    reading.text(information.get("name"), "/pipelineInfo/name")
    yield from _templates(Place(pipeline, paths.ROOT), platforms, reading)


def _pipeline_version(version: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(version.get("spec"), "/spec")
    platform = reading.mapping(spec.get("platformSpec"), "/spec/platformSpec")
    platforms = Place(platform.get(compiled.PLATFORMS), f"/spec/platformSpec/{compiled.PLATFORMS}")
    yield from _templates(Place(spec.get("pipelineSpec"), "/spec/pipelineSpec"), platforms, reading)


def _templates(place: Place, platforms: Place, reading: Reading) -> Iterator[Template]:
    """One template for each component that has an executor and runs; several components may share an executor."""
    spec, path = reading.mapping(*place), place.path
    settings = kubeflow_pipelines_platforms.executors(platforms, reading)
    executors = _executors(spec, path, reading)
    components = runs.components(spec, path, reading)
    for name, count in runs.counts(components, reading).items():
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
        where = nearest(executor, place.path, "container", "importer")
        reading.unknown(where, "an executor has a container or an importer: its pods are not judged")
    if not (container or importer) or container.get("image") in _WITHOUT_POD:
        return
    yield Template(
        name=name or "root",
        path=component.path,
        spec=Place(None, place.path),
        metadata=kubeflow_pipelines_platforms.metadata(settings, reading),
        count=count,
        traits=_TRAITS,
        containers=(
            *kubeflow_pipelines_platforms.init_containers(settings, reading),
            *([_main(container, path, component, reading)] if container else []),
        ),
        fields=kubeflow_pipelines_platforms.fields(settings, component.passed_on, reading),
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


_TEMPLATE_PATHS: Final = (
    "deploymentSpec.executors.<name>.container",
    "platforms.kubernetes.deploymentSpec.executors.<name>",
)
_COUNTED: Final = (
    "one for each execution of a task in one run, times the items of the loops around it that run at one time; "
    "without bound where a loop takes its items from an input"
)
_SOURCE: Final = "kubeflow/pipelines @ 7b70c7b9:api/v2alpha1/pipeline_spec.proto, backend/src/v2/driver/"

KINDS: list[Kind] = [
    Kind(
        group=compiled.GROUP,
        kind=compiled.KIND,
        versions=(compiled.VERSION,),
        plural="",
        pods=Pods(
            templates=_pipeline,
            template_paths=_TEMPLATE_PATHS,
            counted=_COUNTED,
            source=_SOURCE,
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.BATCH,
            is_template=True,
            changes="nothing: it is a file that is handed to Kubeflow Pipelines, not to the API server",
        ),
    ),
    Kind(
        group=compiled.GROUP,
        kind="PipelineVersion",
        versions=("v2beta1",),
        plural="pipelineversions",
        pods=Pods(
            templates=_pipeline_version,
            template_paths=tuple(
                f"spec.{holder}.{path}"
                for holder, path in zip(("pipelineSpec", "platformSpec"), _TEMPLATE_PATHS, strict=True)
            ),
            counted=_COUNTED,
            source=_SOURCE + ", backend/src/crd/kubernetes/v2beta1/",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.BATCH,
            is_template=True,
            changes="nothing: its fields are not those of a pod",
        ),
    ),
]
