"""Tasks of Tekton and their steps, for tests."""

import builders
from usher import paths

Fields = builders.JsonValue

V1, V1BETA1 = "tekton.dev/v1", "tekton.dev/v1beta1"


def step(name: str = "train", *, gpus: int | str | None = None, old: bool = False, **fields: Fields) -> Fields:
    resources = {} if gpus is None else {"resources" if old else "computeResources": {"limits": {builders.GPU: gpus}}}
    return {"name": name, "image": "registry.example.com/image:1", **resources, **fields}


def task(*steps: Fields, name: str = "train", version: str = V1, **fields: Fields) -> paths.Object:
    return builders.custom(version, "Task", {"steps": list(steps), **fields}, name=name)
