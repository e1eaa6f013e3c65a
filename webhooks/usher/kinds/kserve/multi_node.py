"""An InferenceService whose model is spread over several nodes: a head, and the workers of `spec.predictor.workerSpec`.

KS:pkg/controller/v1beta1/inferenceservice/components/predictor.go (multiNodeProcess) and
KS:pkg/controller/v1beta1/inferenceservice/reconcilers/deployment/deployment_reconciler.go. KServe makes one Deployment
of workers, however many heads there are, and writes the number of accelerators into the containers of both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from usher import model, paths
from usher.kinds.kserve import replicas, runtimes
from usher.kinds.kserve.components import SERVING
from usher.kinds.kserve.layers import Layers, container, first, inside, pod_fields, replaces
from usher.kinds.kserve.replicas import Mode, Nodes, Running
from usher.reading.pod_templates import listed
from usher.reading.templates import ContainerPlace, Place, Template
from usher.reading.values import Reading

_WORKER: Final = "worker-container"
_BACKEND: Final = "multinode/executor-backend"
"""An annotation of the runtime's pods. With `mp`, every node gets as many accelerators as the tensor parallel size."""

_UNSHARED: Final = "KServe writes GPUs into the head and every worker; how many, the runtime decides as well"


class _Sizes(NamedTuple):
    pipeline: int | None
    """None if only the runtime sets it and usher does not know the runtime."""
    tensor: int | None


def several(  # noqa: PLR0913 - all that makes the workers
    head: Template,
    predictor: Layers,
    workers: Layers,
    runtime: Layers,
    how: Running,
    *,
    metadata: Place,
    reading: Reading,
) -> Iterator[Template]:
    """The head and its workers.

    Args:
        head: the template of the predictor, merged with the runtime.
        predictor: the predictor.
        workers: its workerSpec.
        runtime: the spec of the runtime, if it is known.
        how: how the InferenceService is run.
        metadata: labels and annotations of the workers.
        reading: records what KServe would refuse.
    """
    of_runtime = inside(runtime, "workerSpec", reading)
    if runtime and not of_runtime:
        reading.unknown(workers[0].path, "the runtime has no workerSpec: KServe refuses the workers")
        yield head
        return
    worker = _worker((*workers, *of_runtime), metadata, head, reading)
    sizes = _sizes(workers, of_runtime, known=bool(runtime), reading=reading)
    nodes = _nodes(head, worker, sizes, path=workers[0].path, runtime=runtime, reading=reading)
    if nodes is None:
        total = None if None in sizes else (sizes.pipeline or 1) * (sizes.tensor or 1)
        yield _unshared(head, workers[0].path, total)
        most = None if total is None else max(total - 1, 0)
        yield replace(_unshared(worker, workers[0].path, total), count=_count(0, most, predictor, how, reading))
        return
    yield _sharing(head, SERVING, nodes.head, reading)
    number = nodes.number - 1
    yield replace(
        _sharing(worker, _WORKER, nodes.worker, reading), count=_count(number, number, predictor, how, reading)
    )


def _worker(layers: Layers, metadata: Place, head: Template, reading: Reading) -> Template:
    """The pods of the workers: one container, and the init containers."""
    own = tuple(Place(value, path) for path, value in reading.items(*first(layers[:1], "containers")))[:1]
    others = tuple(Place(value, path) for path, value in reading.items(*first(layers[1:], "containers")))
    target = tuple(place for place in others if isinstance(place.value, dict) and place.value.get("name") == _WORKER)
    parts = (*own, *target[:1])
    taken = tuple(Place(runtimes.pod_fields(reading.mapping(*place)), place.path) for place in layers[1:])
    return Template(
        name="worker",
        path=layers[0].path,
        spec=layers[0],
        metadata=metadata,
        traits=head.traits._replace(changeable=head.traits.changeable and not replaces((layers[0], *taken))),
        containers=(
            *listed({"initContainers": first(layers[:1], "initContainers")}, reading),
            *([container(parts, reading, name=_WORKER)] if parts else []),
        ),
        fields=pod_fields((layers[0], *taken), reading) if taken else {},
    )


def _sizes(workers: Layers, of_runtime: Layers, *, known: bool, reading: Reading) -> _Sizes:
    def size(name: str) -> int | None:
        place = first((*workers, *of_runtime), name)
        if place.value is None:
            return 1 if known else None
        return max(reading.count(*place, default=1), 1)

    return _Sizes(pipeline=size("pipelineParallelSize"), tensor=size("tensorParallelSize"))


def _nodes(  # noqa: PLR0913 - as above
    head: Template, worker: Template, sizes: _Sizes, *, path: str, runtime: Layers, reading: Reading
) -> Nodes | None:
    """The nodes with their accelerators. None if the runtime is unknown, or if KServe refuses the request."""
    if not runtime or sizes.pipeline is None or sizes.tensor is None:
        return None
    annotations = inside(runtime, "annotations", reading)
    if first(annotations, _BACKEND).value == "mp":
        return Nodes(number=sizes.pipeline, head=sizes.tensor, worker=sizes.tensor)
    total = reading.count(sizes.pipeline * sizes.tensor, path, default=1)
    asked = {name: _asked(template, name) for template, name in ((head, SERVING), (worker, _WORKER))}
    nodes = replicas.on_ray(total, head=asked[SERVING], worker=asked[_WORKER])
    if nodes is None:
        reading.unknown(path, f"KServe refuses it: it needs {total} GPUs, more than its head and workers ask for")
    return nodes


def _count(lowest: int, highest: int | None, predictor: Layers, how: Running, reading: Reading) -> model.Count:
    """The number of workers. A rollout runs a full second set of them, unless the strategy says otherwise."""
    if how.stopped:
        return replicas.STOPPED
    if how.mode is not Mode.STANDARD:
        return model.Count(minimum=0, maximum=0, reason=f"KServe makes no workers in {how.mode} mode")
    if highest is None:
        reason = "the runtime, which is not known, may set the parallel sizes"
        return model.Count(minimum=lowest, maximum=None, reason=reason)
    surge = highest
    for value, path in inside(predictor[:1], "deploymentStrategy", reading):
        strategy = reading.mapping(value, path)
        if strategy.get("type") != "RollingUpdate":
            surge = replicas.surge(strategy, path, highest, reading)
    reasons = ["the runtime decides how many nodes there are"] if lowest != highest else []
    if surge:
        reasons.append(f"{surge} more during a rollout")
    return model.Count(minimum=lowest, maximum=highest + surge, reason=", ".join(reasons))


def _resources(place: ContainerPlace) -> tuple[Place, Place]:
    """Limits and requests of a container, with their places."""
    path = place.path + "/resources"
    given = place.value.get("resources")
    held: Mapping[str, paths.Json] = given if isinstance(given, dict) else {}
    limits = place.limits or Place(held.get("limits"), path + "/limits")
    return limits, place.requests or Place(held.get("requests"), path + "/requests")


def _asked(template: Template, name: str) -> int:
    """Accelerators that a container requests; KServe ignores its limits (KS:pkg/utils/utils.go)."""
    for place in template.containers or ():
        if place.name == name:
            amounts = Reading().resources(*_resources(place)[1])
            return next((amounts[each].value for each in runtimes.ACCELERATORS if each in amounts), 0)
    return 0


def _sharing(template: Template, name: str, number: int, reading: Reading) -> Template:
    """The template with a number of accelerators written into its container."""
    annotations = _annotations(template)
    containers = []
    for place in template.containers or ():
        limits, requests = _resources(place)
        if place.name == name and all(
            each.value is None or isinstance(each.value, dict) for each in (limits, requests)
        ):
            for each in (limits, requests):
                reading.resources(*each)
            key = runtimes.accelerator((limits, requests), annotations)
            written = [
                Place({**(each.value if isinstance(each.value, dict) else {}), key: number}, each.path)
                for each in (limits, requests)
            ]
            containers.append(place._replace(limits=written[0], requests=written[1]))
        else:
            containers.append(place)
    return replace(template, containers=tuple(containers))


def _annotations(template: Template) -> Mapping[str, str]:
    metadata = template.metadata.value
    return Reading().strings(metadata.get("annotations") if isinstance(metadata, dict) else None, paths.ROOT)


def _unshared(template: Template, path: str, total: int | None) -> Template:
    """The template with an unknown number of accelerators, unless it asks for some itself."""
    for place in template.containers or ():
        if any(
            isinstance(each.value, dict) and each.value.keys() & {*runtimes.ACCELERATORS} for each in _resources(place)
        ):
            return template
    return replace(template, requests=(runtimes.shared_out(path, most=total, reason=_UNSHARED),))
