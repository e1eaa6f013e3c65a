"""Namespaces, of which rules read the name and, as of all objects, some labels."""

from typing import NotRequired

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.view import View
from usher.reading.shapes import STRICT


@with_config(STRICT)
class NamespaceMetadata(TypedDict):
    name: NotRequired[str]


@with_config(STRICT)
class Namespace(TypedDict):
    metadata: NotRequired[NamespaceMetadata]


@with_config(STRICT)
class Objects(TypedDict):
    namespace: NotRequired[Namespace]


VIEWS = [
    View(
        group="",
        versions=("v1",),
        kind="Namespace",
        plural="namespaces",
        key="namespace",
        shape=TypeAdapter(Namespace),
        cluster_scoped=True,
    ),
]
