"""Kinds of an API that does not exist, which people write in manifests instead of those of keda.sh."""

from typing import Final, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.kind import Kind
from usher.reading.shapes import STRICT

_GROUP: Final = "autoscaling.keda.sh"
"""Annotations of KEDA begin with it, so people take it for the group of its API."""


@with_config(STRICT)
class Misspelt(TypedDict):
    """An object of an API that does not exist."""

    apiVersion: NotRequired[str]


KINDS = [
    Kind(
        group=_GROUP,
        kind="ScaledObject",
        versions=("v1alpha1", "v1"),
        key="misspeltScaledObject",
        shape=Misspelt,
    ),
    Kind(
        group=_GROUP,
        kind="ScaledJob",
        versions=("v1alpha1", "v1"),
        key="misspeltScaledJob",
        shape=Misspelt,
    ),
    Kind(
        group=_GROUP,
        kind="TriggerAuthentication",
        versions=("v1alpha1", "v1"),
        key="misspeltTriggerAuthentication",
        shape=Misspelt,
    ),
]
