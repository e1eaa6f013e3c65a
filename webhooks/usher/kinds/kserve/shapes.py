"""InferenceServices, beside their pods."""

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.reading.pod_shapes import Present
from usher.reading.shapes import STRICT


@with_config(STRICT)
class VariableName(TypedDict):
    """A variable without its value, which may be a secret."""

    name: NotRequired[str]


@with_config(STRICT)
class Framework(TypedDict):
    env: NotRequired[list[VariableName]]


@with_config(STRICT)
class Component(TypedDict):
    minReplicas: NotRequired[int]
    maxReplicas: NotRequired[int]


@with_config(STRICT)
class Predictor(Component):
    model: NotRequired[Framework]
    huggingface: NotRequired[Framework]
    workerSpec: NotRequired[Present]


@with_config(STRICT)
class InferenceServiceSpec(TypedDict):
    predictor: NotRequired[Predictor]
    transformer: NotRequired[Component]
    explainer: NotRequired[Component]


@with_config(STRICT)
class InferenceServiceStatus(TypedDict):
    deploymentMode: NotRequired[str]
    """The mode that KServe has chosen; it counts before the annotation."""


@with_config(STRICT)
class InferenceService(TypedDict):
    spec: NotRequired[InferenceServiceSpec]
    status: NotRequired[InferenceServiceStatus]
