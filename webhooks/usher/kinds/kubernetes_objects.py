"""Kubernetes' own kinds without pods: nodes, claims, quotas, priority classes, namespaces, ConfigMaps and others.

Version v1beta1 has the fields of a request in the request itself; later versions have them in `exactly`.

NetworkAttachmentDefinitions of Multus are networks for pods: usher reads only their names.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator

from usher import paths
from usher.accelerators import boards, names, vocabulary
from usher.kinds.kind import Code, keeping
from usher.kinds.reading import known_keys
from usher.kinds.reading.shapes import HostPath, with_place

_LABELS: Final = ("nvidia.com/", "amd.com/", "dcm.amd.com/", "gpu.intel.com/")
"""Prefixes of the labels in which operators describe the accelerators of a node."""


def _accelerator_labels(labels: object) -> object:
    if not isinstance(labels, dict):
        return labels
    return {key: value for key, value in labels.items() if isinstance(key, str) and key.startswith(_LABELS)}


def _accelerators(resources: object) -> object:
    if not isinstance(resources, dict):
        return resources
    return {name: amount for name, amount in resources.items() if isinstance(name, str) and _is_accelerator(name)}


def _is_accelerator(name: str) -> bool:
    meaning = names.meaning_of(name)
    return meaning is not None and meaning.unit in names.GIVING


def _with_layout(metadata: dict[str, Any]) -> dict[str, Any]:
    metadata.pop("layout", None)
    labels = metadata.get("labels", {})
    found = boards.problem_of_name(labels.get(boards.CONFIG_LABEL, ""), labels)
    if found is not None:
        metadata["layout"] = {"text": found[0], "remedy": found[1]}
    return metadata


_KEEP_OFFER: Final = keeping("/spec/taints", "/spec/unschedulable", "/status/allocatable", "/status/capacity")


def _keep_node(value: paths.Object) -> paths.Object:
    """The resources and the taints of a node, and the annotations in which HAMi registers its devices."""
    result = _KEEP_OFFER(value)
    annotations = paths.mapping(paths.metadata(value).get("annotations"))
    if found := {key: text for key, text in annotations.items() if names.HAMI_REGISTER.match(key)}:
        result["metadata"] = {**paths.metadata(result), "annotations": {**found}}
    return result


def _with_accelerator(value: dict[str, Any]) -> dict[str, Any]:
    value.pop("accelerator", None)
    known = vocabulary.meaning_of_class(value.get("deviceClassName", "")).accelerator
    if known is not None:
        value["accelerator"] = known
    return value


def _sharing_by_nvidia(configuration: object) -> list[dict[str, int | str]]:
    """The ways of sharing in opaque parameters, which may be anything."""
    found = list[dict[str, int | str]]()
    for index, entry in enumerate(configuration if isinstance(configuration, list) else ()):
        opaque = paths.mapping(paths.mapping(entry).get("opaque"))
        sharing = paths.mapping(paths.mapping(opaque.get("parameters")).get("sharing"))
        strategy = sharing.get("strategy")
        if opaque.get("driver") == "gpu.nvidia.com" and isinstance(strategy, str):
            found.append({"index": index, "strategy": strategy})
            percentage = paths.mapping(sharing.get("mpsConfig")).get("defaultActiveThreadPercentage")
            if isinstance(percentage, int) and not isinstance(percentage, bool):
                found[-1]["percentage"] = percentage
    return found


def _paths_of_options(options: object) -> object:
    """The paths among the options of a driver. Other values are left out, because they may be secrets."""
    if not isinstance(options, dict):
        return {}
    return {
        key: with_place({"path": value})
        for key, value in options.items()
        if isinstance(key, str) and isinstance(value, str) and value.startswith("/")
    }


DriverOptions = Annotated[dict[str, HostPath], BeforeValidator(_paths_of_options)]
"""The paths that the options of a volume driver name."""


CODE: Final[Mapping[str, Code]] = {
    "Node": {"keep": _keep_node},
}

SHAPE_PARTS: Final[Mapping[str, Any]] = {
    "accelerator_labels": BeforeValidator(_accelerator_labels),
    "Reason": boards.Reason,
    "accelerators": BeforeValidator(_accelerators),
    "with_layout": AfterValidator(_with_layout),
    "with_accelerator": AfterValidator(_with_accelerator),
    "sharing_by_nvidia": BeforeValidator(_sharing_by_nvidia),
    "DriverOptions": DriverOptions,
    "ConfigurationTexts": known_keys.ConfigurationTexts,
}
