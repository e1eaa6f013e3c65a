"""LLMInferenceServices and their configurations for tests."""

import builders
from builders import JsonValue
from unit.workloads.normalised import readable_workload
from usher import model, paths
from usher.kinds.reading.values import Objects


def pod_spec(*, gpus: int | None = None, **fields: JsonValue) -> dict[str, JsonValue]:
    return dict(builders.pod_spec(builders.container("main", gpus=gpus), **fields))


def config(name: str = "base", *, namespace: str = "ml-research", **spec: JsonValue) -> paths.Object:
    return builders.custom(
        "serving.kserve.io/v1alpha2", "LLMInferenceServiceConfig", spec, name=name, namespace=namespace
    )


def first_of(value: paths.Object, *known: paths.Object) -> model.PodSet:
    """The first pod set of an object in which nothing is unknown."""
    return readable_workload(value, objects=Objects(known)).pod_sets[0]
