"""The nodes that Karpenter may add: its NodePools, by the machine types that they allow.

Machine types of AWS stand in `machine_types.json` (tools/record_machine_types.py). Requirements hold as in
karpenter.sh/docs/concepts/nodepools: a type has to meet all of them, and labels that usher does not know count as met.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from usher import errors, paths, quantities
from usher.cluster.facts.nodes import Amounts, Taint, scheduler_amount
from usher.model import placement
from usher.model.placement import Requirement

NODE_POOL: Final = ("karpenter.sh", "NodePool")

_FILE: Final = Path(__file__).parents[2] / "accelerators" / "machine_types.json"
_AWS: Final = "karpenter.k8s.aws"
POOL_LABEL: Final = "karpenter.sh/nodepool"
_TYPE_LABEL: Final = "node.kubernetes.io/instance-type"
_ACCELERATED: Final = ("dl", "f", "g", "inf", "p", "trn", "vt")
"""Beginnings of machine types of AWS with accelerators. One that the table does not have is newer than the table."""
_MOST_TYPES: Final = 64


class MachineType(Struct, frozen=True, kw_only=True):
    """A machine type: its labels, and what pods get of one node."""

    name: str
    labels: Mapping[str, str]
    amounts: Amounts


class KarpenterPool(Struct, frozen=True, kw_only=True):
    """A NodePool. `types` are those with accelerators that it allows; None where usher cannot tell which they are."""

    name: str
    labels: Mapping[str, str]
    """The labels that all its nodes have."""
    taints: tuple[Taint, ...]
    types: tuple[MachineType, ...] | None
    consolidates: bool
    """Whether Karpenter removes nodes that are not full, and so stops pods that do not forbid it."""
    limits: Mapping[str, int]
    """How many devices of each name its nodes may have together. Amounts of CPU and memory are left out."""


@cache
def machine_types() -> Mapping[str, MachineType]:
    """The machine types of AWS with accelerators, by name."""
    rows = json.loads(_FILE.read_text(encoding="utf-8"))["types"]
    return {name: _machine_type(name, row["labels"], row["amounts"]) for name, row in rows.items()}


def _machine_type(name: str, labels: Mapping[str, str], amounts: Mapping[str, str]) -> MachineType:
    own = {f"{_AWS}/{key}": value for key, value in labels.items() if key != "arch"}
    return MachineType(
        name=name,
        labels={**own, "kubernetes.io/arch": labels["arch"], "kubernetes.io/os": "linux", _TYPE_LABEL: name},
        amounts={key: scheduler_amount(key, quantities.parse(text)) for key, text in amounts.items()},
    )


def read_pools(objects: Mapping[str, paths.Object]) -> tuple[KarpenterPool, ...]:
    """The NodePools, in order; those that cannot be read are left out."""
    found = (_read_pool(name, value) for name, value in sorted(objects.items()))
    return tuple(pool for pool in found if pool is not None)


def _read_pool(name: str, value: paths.Object) -> KarpenterPool | None:
    pool = value.get("spec")
    template = pool.get("template") if isinstance(pool, dict) else None
    if not isinstance(pool, dict) or not isinstance(template, dict):
        return None
    spec = paths.mapping(template.get("spec"))
    texts = paths.mapping(paths.mapping(template.get("metadata")).get("labels"))
    labels = {key: text for key, text in texts.items() if isinstance(text, str)}
    requirements = list(_requirements(spec.get("requirements")))
    single = {each.key: each.values[0] for each in requirements if each.operator == "In" and len(each.values) == 1}
    return KarpenterPool(
        name=name,
        labels={**labels, **single, POOL_LABEL: name},
        taints=tuple(sorted(_taints(spec.get("taints")))),
        types=_allowed(requirements) if _is_of_aws(spec) else None,
        consolidates=_consolidates(pool.get("disruption")),
        limits={
            key: number
            for key, text in paths.mapping(pool.get("limits")).items()
            if (number := _devices(key, text)) is not None
        },
    )


def _devices(resource: str, text: paths.Json) -> int | None:
    """The number in a limit; None for other resources than devices, and for what is no quantity."""
    if "/" not in resource or not isinstance(text, str | int):
        return None
    try:
        return scheduler_amount(resource, quantities.parse(text))
    except errors.QuantityError:
        return None


def _consolidates(disruption: paths.Json) -> bool:
    """Whether it does; without a policy it does (kubernetes-sigs/karpenter pkg/apis/v1/nodepool.go)."""
    if not isinstance(disruption, dict | None):
        return False
    given = disruption or {}
    budgets, after = given.get("budgets") or [], given.get("consolidateAfter") or ""
    if not isinstance(budgets, list) or not isinstance(after, str):
        return False
    stopped = (paths.mapping(each) for each in budgets)
    always = any(
        each.get("nodes") in _NO_NODE and not each.get("schedule") and not each.get("reasons") for each in stopped
    )
    return given.get("consolidationPolicy", _CONSOLIDATING[0]) in _CONSOLIDATING and after != "Never" and not always


_CONSOLIDATING: Final = ("WhenEmptyOrUnderutilized", "WhenUnderutilized")
"""The policies that move pods; v1beta1 has the second word."""
_NO_NODE: Final = ("0", "0%", 0)


def _is_of_aws(spec: Mapping[str, paths.Json]) -> bool:
    return paths.mapping(spec.get("nodeClassRef")).get("group") == _AWS


def _allowed(requirements: list[Requirement]) -> tuple[MachineType, ...] | None:
    known = machine_types()
    named = [
        value for each in requirements if each.key == _TYPE_LABEL and each.operator == "In" for value in each.values
    ]
    if any(name not in known and name.startswith(_ACCELERATED) for name in named):
        return None
    found = tuple(each for each in known.values() if all(_meets(each, wanted) for wanted in requirements))
    return found if len(found) <= _MOST_TYPES else None


_SURELY_ABSENT: Final = (f"{_AWS}/instance-gpu-", f"{_AWS}/instance-accelerator-")
"""Beginnings of labels that every type has in the table if nodes of the type have them."""


def _meets(machine: MachineType, wanted: Requirement) -> bool:
    known = wanted.key in machine.labels or wanted.key.startswith(_SURELY_ABSENT)
    return not known or placement.labels_match(wanted, machine.labels)


def _requirements(value: paths.Json) -> Iterator[Requirement]:
    for each in value if isinstance(value, list) else ():
        found = placement.read_requirement(each)
        if found is not None and placement.is_for_labels(found):
            yield found


def _taints(value: paths.Json) -> Iterator[Taint]:
    for each in value if isinstance(value, list) else ():
        entry = paths.mapping(each)
        key, effect, text = entry.get("key"), entry.get("effect"), entry.get("value") or ""
        if isinstance(key, str) and effect in placement.GUARDING and isinstance(text, str) and isinstance(effect, str):
            yield Taint(key, text, effect)
