"""LLMInferenceServiceConfigs that an LLMInferenceService names in `spec.baseRefs`."""

from typing import Final

from usher.reading.lookup import Reference
from usher.reading.templates import Place
from usher.reading.values import Reading
from usher.workloads.adapters.kserve_layers import Layers, first
from usher.workloads.adapters.kserve_runtimes import GROUP

KIND: Final = "LLMInferenceServiceConfig"

SYSTEM_NAMESPACE: Final = "kserve"
"""Where KServe is installed, unless it is told otherwise; configurations for all namespaces stand there."""

_MAX_CONFIGS: Final = 16


def named_by(own: Layers, reading: Reading) -> tuple[Layers, bool]:
    """The configurations that a service names, the last one first, for it wins; and whether all of them are known.

    One of its namespace comes before one of KServe's own (KS:pkg/controller/v1alpha2/llmisvc/config_merge.go). Those
    that a configuration names are not followed.
    """
    found: dict[str, Place] = {}
    complete = True
    refs = first(own, "baseRefs")
    for index, (path, ref) in enumerate(reading.items(*refs)):
        if index == _MAX_CONFIGS:
            reading.unknown(refs.path, f"more than {_MAX_CONFIGS} configurations: the others are not judged")
            return tuple(reversed(found.values())), False
        name = reading.text(ref.get("name"), path + "/name")
        config = _named(name, path + "/name", reading) if name else None
        complete = complete and config is not None
        if config is not None:
            # What is named again counts where it is named last.
            found.pop(name, None)
            found[name] = config
    return tuple(reversed(found.values())), complete


def _named(name: str, path: str, reading: Reading) -> Place | None:
    for namespace in (reading.namespace, SYSTEM_NAMESPACE):
        reference = Reference(group=GROUP, kind=KIND, name=name, namespace=namespace)
        found = reading.inside().referenced(reference, path, for_want="")
        if found is not None:
            reading.stands_for(path, reference)
            return Place(reading.mapping(found.get("spec"), path + "/spec"), path + "/spec")
    where = " nor in ".join(dict.fromkeys(filter(None, (reading.namespace, SYSTEM_NAMESPACE))))
    reading.unknown(path, f"{KIND} {name} is not known here, neither in {where}: what it adds is not judged")
    return None
