"""Texts and numbers whose form the API server checks and whose type says nothing of it: names, amounts, durations.

Sources: pkg/apis/core/validation/validation.go of kubernetes/kubernetes v1.36 and
staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go for names, labels and ports;
pkg/apis/crds/karpenter.sh_nodepools.yaml of kubernetes-sigs/karpenter 2266468.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from usher import errors, model, paths, quantities
from usher.kinds.reading import value_places as places


class _Form(NamedTuple):
    takes: str
    """What the API server takes, for the message."""
    fits: Callable[[Any], object]


def _matches(pattern: str) -> Callable[[Any], object]:
    found = re.compile(pattern)
    return lru_cache(maxsize=4096)(lambda value: not isinstance(value, str) or found.fullmatch(value))


def _is_amount(value: object) -> bool:
    try:
        quantities.parse(value)
    except errors.QuantityError:
        return False
    return True


def _matches_if_plain(pattern: str) -> Callable[[Any], object]:
    """As `_matches`, for names: texts in capitals are placeholders, and others than names have other faults."""
    fits, plain = _matches(pattern), re.compile(r"[\w ./@+=-]+", re.ASCII)
    return lambda value: fits(value) or value.isupper() or not plain.fullmatch(value)


_NAME: Final = _Form(
    "small letters, digits, dashes and dots", _matches_if_plain(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
)
_PART: Final = _Form(
    "at most 63 small letters, digits and dashes", _matches_if_plain(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
)
_LABEL: Final = _Form(
    "at most 63 letters, digits, dashes, dots and underscores",
    _matches_if_plain(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"),
)
_AMOUNT: Final = _Form("an amount, for example 8, 500m or 64Gi", _is_amount)
_PORT: Final = _Form("a port from 1 to 65535", lambda value: not isinstance(value, int) or 0 < value < 65536)
_PORT_OR_0: Final = _Form("a port up to 65535", lambda value: not isinstance(value, int) or 0 <= value < 65536)
_MEDIUM: Final = _Form("Memory, HugePages or nothing", _matches(r"|Memory|HugePages(-.+)?"))
_DURATION: Final = _Form("a duration in h, m and s, for example 720h, or Never", _matches(r"(([0-9]+(s|m|h))+|Never)"))
_LIMITED: Final = _Form(
    "Container, Pod or PersistentVolumeClaim", _matches(r"Container|Pod|PersistentVolumeClaim|.*/.*")
)

_OF_OBJECTS: Final = (("metadata.name", _NAME), ("metadata.namespace", _PART), ("metadata.labels.*", _LABEL))
_OF_POD_SPECS: Final = (
    ("{containers,initContainers}[].name", _PART),
    ("containers[].ports[].containerPort", _PORT),
    ("containers[].ports[].hostPort", _PORT_OR_0),
    ("nodeSelector.*", _LABEL),
    ("volumes[].name", _PART),
    ("volumes[].emptyDir.medium", _MEDIUM),
)
_ROWS: Final[Mapping[str, tuple[tuple[str, _Form], ...]]] = {
    " PersistentVolumeClaim": (("spec.resources.{requests,limits}.*", _AMOUNT),),
    "apps StatefulSet": (("spec.volumeClaimTemplates[].spec.resources.{requests,limits}.*", _AMOUNT),),
    " LimitRange": (
        ("spec.limits[].type", _LIMITED),
        ("spec.limits[].{max,min,default,defaultRequest}.*", _AMOUNT),
    ),
    " Service": (("spec.ports[].{port,targetPort}", _PORT),),
    "karpenter.sh NodePool": (
        ("spec.limits.*", _AMOUNT),
        ("spec.template.spec.{expireAfter,terminationGracePeriod}", _DURATION),
        ("spec.disruption.consolidateAfter", _DURATION),
    ),
}
"""Places, as in `value_places`, with the form of their values. Amounts of pods are read, so they are left out."""


def refused_forms(value: paths.Object, key: tuple[str, str], *, makes_pods: bool) -> Iterator[model.UnreadKey]:
    """The values of an object whose form the API server refuses.

    Args:
        value: the object.
        key: its group and kind.
        makes_pods: whether the object may hold pod specs.
    """
    of_object = () if _are_names(paths.metadata(value)) else _OF_OBJECTS
    for place, form in (*of_object, *_ROWS.get(" ".join(key), ())):
        yield from _refused(value, place, form, "")
    for spec, path, _ in places.pod_specs(value) if makes_pods else ():
        for place, form in () if _is_usual(spec) else _OF_POD_SPECS:
            yield from _refused(spec, place, form, path)


_NAMES: Final = re.compile(r"(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\n)*")
_LABELS: Final = re.compile(r"(?:(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?\n)*")


def _are_names(metadata: Mapping[str, Any]) -> bool:
    """Whether name and labels are right; nearly all objects end here, at a fraction of the cost of rows."""
    name, labels = metadata.get("name", "x"), metadata.get("labels") or {}
    try:
        written = f"{name}\n{metadata.get('namespace', 'x')}\n"
        return bool(_NAMES.fullmatch(written)) and bool(_LABELS.fullmatch("\n".join([*labels.values(), ""])))
    except (AttributeError, TypeError):
        return False


def _is_usual(spec: Mapping[str, Any]) -> bool:
    """As `_are_names`, for a pod spec without ports and disks in memory."""
    try:
        parts = [*spec["containers"], *(spec.get("initContainers") or ()), *(spec.get("volumes") or ())]
        if any("ports" in each or (each.get("emptyDir") or {}).get("medium") for each in parts):
            return False
        selected = (spec.get("nodeSelector") or {}).values()
        names = "\n".join([each["name"] for each in parts] + [""])
        return bool(_NAMES.fullmatch(names)) and bool(_LABELS.fullmatch("\n".join([*selected, ""])))
    except (AttributeError, KeyError, TypeError):
        return False


def _refused(value: Mapping[str, Any], place: str, form: _Form, path: str) -> Iterator[model.UnreadKey]:
    if all(form.fits(each) for each in places.values_at(value, place) if not isinstance(each, (dict, list))):
        return
    for where, each in places.at(value, place, path):
        written = isinstance(each, (str, int, float)) and not isinstance(each, bool)
        if written and not places.is_placeholder(str(each)) and not form.fits(each):
            yield model.UnreadKey(
                path=where,
                text=f"has {str(each)[:80]!r} at {paths.readable(where)}, where the API server takes {form.takes}",
                remedy=f"write {form.takes}",
                important=True,
                refused=True,
            )
