"""InferenceServices and their runtimes for tests."""

import builders
from builders import JsonValue
from unit.workloads.normalised import readable_workload
from usher import model, paths
from usher.kinds.reading.values import Objects

MODE = "serving.kserve.io/deploymentMode"
SCALER = "serving.kserve.io/autoscalerClass"
STANDARD = {MODE: "Standard"}
Spec = dict[str, JsonValue]


def service(
    predictor: Spec | None = None, *, annotations: dict[str, str] | None = None, **spec: JsonValue
) -> paths.Object:
    """An InferenceService; without a predictor one with a container of its own."""
    value = {"predictor": {"containers": [builders.container()]} if predictor is None else predictor, **spec}
    metadata = builders.Metadata() if annotations is None else builders.Metadata(annotations=annotations)
    return builders.custom("serving.kserve.io/v1beta1", "InferenceService", value, **metadata)


def custom(**fields: JsonValue) -> Spec:
    """A predictor with a container of its own."""
    return {"containers": [builders.container("kserve-container", gpus=1)], **fields}


def served(runtime: str | None = "vllm", *, model_fields: Spec | None = None, **fields: JsonValue) -> Spec:
    """A predictor whose model a runtime serves."""
    named: Spec = {} if runtime is None else {"runtime": runtime}
    return {"model": {"modelFormat": {"name": "huggingface"}, **named, **(model_fields or {})}, **fields}


def runtime(
    *containers: paths.Object, name: str = "vllm", kind: str = "ServingRuntime", **spec: JsonValue
) -> paths.Object:
    """A runtime; without containers one with the container that serves."""
    value = {"containers": list(containers) or [builders.container("kserve-container")], **spec}
    namespace = "ml-research" if kind == "ServingRuntime" else None
    return builders.custom("serving.kserve.io/v1alpha1", kind, value, name=name, namespace=namespace)


def predictor_of(value: paths.Object, *known: paths.Object) -> model.PodSet:
    """The first pod set of an object in which nothing is unknown."""
    return readable_workload(value, objects=Objects(known)).pod_sets[0]


def count(value: paths.Object) -> tuple[int, int | None]:
    found = predictor_of(value).count
    return found.minimum, found.maximum
