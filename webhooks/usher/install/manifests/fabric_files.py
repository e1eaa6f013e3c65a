"""The ConfigMaps that fabrics mount, for the namespaces that need them: the webhook makes no objects itself."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from usher import errors, paths
from usher.config import models

LARGEST: Final = 1024 * 1024
"""The most bytes of a ConfigMap; the API server sets this limit."""


def wanted(config: models.Config) -> dict[str, set[str]]:
    """The keys of each ConfigMap that the fabrics of pools mount, by the name of the ConfigMap."""
    found: dict[str, set[str]] = {}
    for fabric in sorted({pool.fabric for pool in config.pools if pool.fabric}):
        profile = config.fabric(fabric)
        for file in (profile.topology, profile.nccl_conf):
            if file is not None:
                found.setdefault(file.config_map, set()).add(file.key)
    return found


def config_maps(config: models.Config, *, files: Mapping[str, Path], namespaces: Sequence[str]) -> list[paths.Object]:
    """One ConfigMap for each name and namespace.

    Args:
        config: usher.yaml, whose pools name the fabrics.
        files: the file of each key.
        namespaces: where pods need them.

    Raises:
        InputError: a key has no file, a file has no key, or it cannot be read as text or is too large.
    """
    maps = wanted(config)
    if not maps:
        raise errors.InputError(
            "no fabric of a pool in usher.yaml mounts a file; set topology or ncclConf of the fabric"
        )
    keys = set().union(*maps.values())
    missing, stray = sorted(keys - files.keys()), sorted(files.keys() - keys)
    if missing:
        raise errors.InputError(f"{missing[0]} has no file; add --fabric-file {missing[0]}=PATH")
    if stray:
        raise errors.InputError(f"no fabric of a pool mounts {stray[0]}; these are mounted: {', '.join(sorted(keys))}")
    texts = {key: _read_text(files[key]) for key in sorted(keys)}
    for name, held in maps.items():
        if sum(len(texts[key].encode()) for key in held) > LARGEST:
            raise errors.InputError(
                f"ConfigMap {name} would have more than {LARGEST} bytes, which the API server refuses"
            )
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": namespace},
            "data": {key: texts[key] for key in sorted(maps[name])},
        }
        for namespace in dict.fromkeys(namespaces)
        for name in sorted(maps)
    ]


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise errors.InputError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise errors.InputError(f"{file}: is not UTF-8 text, which a topology and nccl.conf are") from None
