"""Namespaces. Rules read their name and, as for all objects, some labels."""

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.kept_fields import keeping
from usher.kinds.kind import Facts, Kind
from usher.reading.shapes import STRICT


@with_config(STRICT)
class NamespaceMetadata(TypedDict):
    name: NotRequired[str]


@with_config(STRICT)
class Namespace(TypedDict):
    metadata: NotRequired[NamespaceMetadata]


KINDS = [
    Kind(
        group="",
        kind="Namespace",
        versions=("v1",),
        plural="namespaces",
        cluster_scoped=True,
        own_webhook=True,
        key="namespace",
        shape=Namespace,
        facts=Facts(keep=keeping()),
    ),
]
