"""ConfigMaps: the configuration of NVIDIA's device plugin, which is YAML in a text below any name.

These ConfigMaps have no label, and others may hold anything. So usher reads only texts that look like a configuration,
and keeps only the fields below.
Source: NVIDIA/k8s-device-plugin @ 1b826acc api/config/v1 (config.go, flags.go, sharing.go, replicas.go).
"""

import re
from functools import cache
from typing import Annotated, Final, NotRequired

import pydantic
from pydantic import AfterValidator, PlainValidator, TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import errors
from usher.documents import reader
from usher.kinds.kind import Facts, Kind, keep_kueue_configuration
from usher.kinds.reading.shapes import STRICT, without_nulls

_MOST: Final = 64 * 1024
"""Characters of a configuration that usher reads; real ones have a few hundred."""

_SHARES: Final = re.compile(r"""^["']?sharing["']?\s*:|\A\s*\{.*"sharing"\s*:""", re.MULTILINE | re.DOTALL)


@with_config(STRICT)
class SharedResource(TypedDict):
    name: NotRequired[str]
    replicas: NotRequired[int]


@with_config(STRICT)
class Shares(TypedDict):
    """How one way of sharing divides devices."""

    renameByDefault: NotRequired[bool]
    failRequestsGreaterThanOne: NotRequired[bool]
    resources: NotRequired[list[SharedResource]]
    replicas: NotRequired[int]
    """This field does not exist in the API, but people write the number there."""


@with_config(STRICT)
class Sharing(TypedDict):
    timeSlicing: NotRequired[Shares]
    mps: NotRequired[Shares]


@with_config(STRICT)
class Flags(TypedDict):
    migStrategy: NotRequired[str]


@with_config(STRICT)
class Configuration(TypedDict):
    flags: NotRequired[Flags]
    sharing: NotRequired[Sharing]


@cache
def _configurations() -> TypeAdapter[Configuration]:
    return TypeAdapter(Configuration)


def _read(value: object) -> Configuration:
    """The configuration in a text; empty where the text is not a configuration, or does not share devices."""
    if not isinstance(value, str) or not _SHARES.search(value):
        return {}
    if len(value) > _MOST:
        raise ValueError(f"longer than {_MOST} characters, so it is not read as a configuration of the device plugin")
    try:
        found = reader.parse(value, source="text")
    except errors.ManifestError as error:
        raise ValueError(
            f"looks like a configuration of the device plugin, but cannot be read: {error.reason}"
        ) from None
    # The plugin reads the first document of several.
    first = without_nulls(found[0].value) if found else {}
    if not isinstance(first, dict) or "sharing" not in first:
        return {}
    try:
        return _configurations().validate_python(first)
    except pydantic.ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, detail["loc"]))
        raise ValueError(f"in its {place}: {detail['msg']}") from None


def _that_share(configurations: dict[str, Configuration]) -> dict[str, Configuration]:
    return {key: configuration for key, configuration in configurations.items() if "sharing" in configuration}


Configurations = Annotated[
    dict[str, Annotated[Configuration, PlainValidator(_read, json_schema_input_type=Configuration)]],
    AfterValidator(_that_share),
]
"""`data` of a ConfigMap: the configurations among its texts that share devices, and nothing of the others."""


@with_config(STRICT)
class ConfigMap(TypedDict):
    data: NotRequired[Configurations]


KINDS = [
    Kind(
        group="",
        kind="ConfigMap",
        versions=("v1",),
        plural="configmaps",
        # usher is not called for every ConfigMap and does not list them: both would cost more than they find.
        listed=False,
        key="configMap",
        shape=ConfigMap,
        facts=Facts(keep=keep_kueue_configuration, presence_only=True, by_choice=True),
    ),
]
