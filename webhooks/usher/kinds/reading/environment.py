"""The environment variables of a container that rules read."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from usher import model, paths
from usher.kinds.reading.values import Reading, Reference

READ_VARIABLES: Final = (
    "AMD_VISIBLE_DEVICES",
    "AWS_NEURON_VISIBLE_DEVICES",
    "CUDA_",
    "FI_",
    "HABANA_VISIBLE_DEVICES",
    "NCCL_",
    "NPROC_PER_NODE",
    "NVIDIA_",
    "PET_NPROC_PER_NODE",
    "RDMAV_",
    "UCX_",
)
"""The families of variables that rules read. Others stay in the manifest: their values may be secrets."""

_INITIALS: Final = frozenset(family[0] for family in READ_VARIABLES)


def variables(value: object, path: str, reading: Reading) -> Iterator[model.EnvironmentVariable]:
    """The entries of `env` that belong to these families."""
    if value is None:
        return
    for index, entry in enumerate(reading.sequence(value, path)):
        # A pod may have hundreds of variables; rules do not read most of them.
        if isinstance(entry, dict):
            name, text = entry.get("name"), entry.get("value")
            if name and text and isinstance(name, str) and isinstance(text, str):
                if name[0] in _INITIALS and name.startswith(READ_VARIABLES):
                    yield _variable(name, text, f"{path}/{index}")
                continue
        yield from _odd_variable(entry, f"{path}/{index}", reading)


def sources(value: object, path: str, reading: Reading) -> Iterator[model.EnvironmentSource]:
    """The entries of `envFrom`, each with the variables of these families that it brings.

    usher reads only ConfigMaps of the same files: of a cluster it keeps only their names, and it reads no Secret.
    """
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        # Shapes record entries of wrong types.
        source = entry if isinstance(entry, dict) else {}
        prefix = source.get("prefix")
        prefix = prefix if isinstance(prefix, str) else ""
        data = _data(source.get("configMapRef"), reading)
        brought = None
        if data is not None:
            named = ((prefix + key, text) for key, text in data.items())
            brought = {name: text for name, text in named if name.startswith(READ_VARIABLES) and isinstance(text, str)}
        yield model.EnvironmentSource(path=f"{path}/{index}", prefix=prefix, variables=brought)


def _data(reference: object, reading: Reading) -> Mapping[str, paths.Json] | None:
    """The texts of a ConfigMap; None if they are unknown."""
    name = reference.get("name") if isinstance(reference, dict) else None
    if not isinstance(name, str):
        return None
    wanted = Reference(group="", kind="ConfigMap", name=name, namespace=reading.context.namespace)
    found = reading.context.find(wanted)
    data = None if found is None else found.get("data")
    return data if isinstance(data, dict) else None


def of_operator(value: object, path: str, names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Name and path of the entries that set variables of the kind's operator; values stay in the manifest.

    Wrong lists and entries are not reported here: `variables` records them.

    Args:
        value: a list of variables.
        path: its path.
        names: the variables of the operator; names ending in * are prefixes.
    """
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and is_operators(name, names):
            yield name, f"{path}/{index}"


def is_operators(name: str, names: frozenset[str]) -> bool:
    """Whether the kind's operator sets a variable; names ending in * are prefixes."""
    whole, prefixes = _whole_and_prefixes(names)
    return name in whole or name.startswith(prefixes)


@lru_cache(maxsize=64)
def _whole_and_prefixes(names: frozenset[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    prefixes = tuple(sorted(name[:-1] for name in names if name.endswith("*")))
    return frozenset(name for name in names if not name.endswith("*")), prefixes


def _odd_variable(value: object, path: str, reading: Reading) -> Iterator[model.EnvironmentVariable]:
    """An entry whose value comes from another object, or an entry that cannot be read."""
    if not isinstance(value, dict):
        reading.not_an_object(value, path)
        return
    name = reading.text(value.get("name"), path + "/name")
    known = _variable_value(value, path, reading) if name else None
    if value.get("name") in (None, ""):
        reading.unknown(path, "this entry has no name")
    elif name.startswith(READ_VARIABLES):
        found = _variable(name, known, path)
        yield found if known is not None else replace(found, config_map=_config_map(value))


def _config_map(entry: Mapping[str, paths.Json]) -> tuple[str, str] | None:
    source = entry.get("valueFrom")
    reference = source.get("configMapKeyRef") if isinstance(source, dict) else None
    if not isinstance(reference, dict):
        return None
    name, key = reference.get("name"), reference.get("key")
    return (name, key) if isinstance(name, str) and isinstance(key, str) else None


def _variable(name: str, value: str | None, path: str) -> model.EnvironmentVariable:
    """A variable. Its value is unknown with `$(NAME)`, which the kubelet replaces by variables from any source."""
    known = None if value is not None and "$(" in value else value
    return model.EnvironmentVariable(name=name, value=known, path=path)


def _variable_value(entry: Mapping[str, paths.Json], path: str, reading: Reading) -> str | None:
    """The value of an entry; the kubelet reads `valueFrom` only if `value` is empty."""
    value = entry.get("value")
    if value is not None and not isinstance(value, str):
        reading.text(value, path + "/value")
        return None
    if value or entry.get("valueFrom") is None:
        return value or ""
    reading.mapping(entry.get("valueFrom"), path + "/valueFrom")
    return None
