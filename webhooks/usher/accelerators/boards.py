"""The GPUs that MIG can divide: their profiles, the sizes of these, and the product names of each board.

The meaning of a profile depends on the board: `1g.10gb` is a seventh of an A100-80 and fits seven times, yet on an
A100-40 it is the profile with double memory and fits four times. Node labels win over these tables, because the driver
decides, and it has renamed profiles before.

Sources, as of August 2026 unless noted:
  profiles, maxima  MIG user guide, supported-mig-profiles.html (610); NVIDIA/gpu-operator @ a22dbf67
                    assets/state-mig-manager/0400_configmap.yaml, by PCI device id; NVIDIA/mig-parted @ bd7160f4
                    pkg/mig/builder/builder_test.go
  placements        docs/domain/mig.md#placement; A30: NVIDIA/go-nvml pkg/nvml/mock/gpus/a30.go. For RTX PRO, placements
                    are not published: taken from the guide's fractions
  engines           the guide's hardware units. An instance does not share its engines, and `+me.all` has all of
                    the GPU (NVML), so that only `-me` fits beside it
  GB200             first shown with 1g.24gb, 3g.95gb, 7g.189gb (gpu-operator#1303), on production boards with
                    1g.23gb, 3g.93gb, 7g.186gb (mig-parted#227, #228); both are in use, and mixed
  RTX PRO 5000      the guide cut it in four up to driver 580 and in two since; both sets of names are known here
  products          NVIDIA/open-gpu-kernel-modules README.md (595.45.04) by device id, written as
                    gpu-feature-discovery does: NVIDIA/k8s-device-plugin @ 1b826acc internal/lm/resource.go

It also says which layouts of NVIDIA's MIG manager no GPU can have, and which the GPUs of a node cannot have.

Sources: api/spec/v1/spec.go and helpers.go, cmd/nvidia-mig-parted/assert of NVIDIA/mig-parted @ bd7160f4, and
pkg/nvlib/device/mig_profile.go of NVIDIA/go-nvlib; PCI device ids by assets/state-mig-manager/0400_configmap.yaml of
NVIDIA/gpu-operator @ 0b0b6b15.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
import pydantic
from msgspec import Struct
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import memo, paths
from usher.accelerators import mig
from usher.accelerators.mig import Board, Offer, Profile, Shape
from usher.config import pools

PRODUCT_LABEL: Final = "nvidia.com/gpu.product"
"""Node label with the model of its GPUs, written by GPU feature discovery."""


AMD_PARTITION_LABEL: Final = "amd.com/compute-memory-partition"
"""Node label with the partitions of its GPUs, cpx_nps4 for example. By the naming strategy `single`, amd.com/gpu counts
them; with `mixed`, amd.com/cpx_nps4 (ROCm/k8s-device-plugin docs/user-guide/configuration.md).
"""
AMD_WHOLE: Final = "spx"
"""The mode that leaves a GPU of AMD whole."""

_AMD_MODES: Final = {AMD_WHOLE: 1, "dpx": 2, "tpx": 3, "qpx": 4, "cpx": 8}
"""Partitions of a GPU by mode. CPX makes one of each XCD: 8 of an MI300X, MI325X, MI350X or MI355X, 6 of an MI300A
(rocm.docs.amd.com/projects/amdsmi conceptual/partition).
"""


def amd_partitions(resource: str, product: str) -> int:
    """How many partitions of a GPU a resource of AMD counts, `amd.com/cpx_nps4`; 0 for other resources.

    Args:
        product: the value of amd.com/gpu.product-name; empty if unknown.
    """
    domain, _, name = resource.partition("/")
    mode = name.partition("_")[0]
    if domain == "amd.com" and mode == "cpx" and "MI300A" in product:
        return 6
    return _AMD_MODES.get(mode, 0) if domain == "amd.com" else 0


def kind_of_parts(labels: Mapping[str, str]) -> str:
    """`shares` or `slices` for nodes whose labels say that they offer these as whole GPUs; else empty.

    Written by GPU feature discovery, by GKE, and by AMD's node labeller.
    """
    product = labels.get(PRODUCT_LABEL, "")
    strategy = labels.get("nvidia.com/gpu.sharing-strategy") or labels.get("cloud.google.com/gke-gpu-sharing-strategy")
    if product.endswith("-SHARED") or strategy in ("mps", "time-slicing", "time-sharing"):
        return "shares"
    of_amd = labels.get(AMD_PARTITION_LABEL, AMD_WHOLE)
    if "-MIG-" in product or labels.get("cloud.google.com/gke-gpu-partition-size") or not of_amd.startswith(AMD_WHOLE):
        return "slices"
    return ""


class Product(Struct, frozen=True, kw_only=True):
    """The meaning of a value of the label nvidia.com/gpu.product."""

    board: Board
    profile: mig.Profile | None
    """The profile of all GPUs of the node (MIG strategy single); None for whole GPUs."""
    shared: bool
    """True for `-SHARED`: every device is given out several times (time-slicing or MPS)."""
    invalid: bool
    """True for `-MIG-INVALID`: strategy single with GPUs that are divided differently, so that pods can ask for no GPU.
    """


def by_name(name: str) -> Board | None:
    """The board of that name in usher.yaml; None where it is unknown or fits boards of several sizes (`A100`)."""
    return _BY_NAME.get(name)


def named(text: str) -> Board | None:
    """The board of a name of usher.yaml, of a product label, or of another label of nodes; None without MIG."""
    product = by_product(text)
    of_gke = (name for name, values in _GKE_ACCELERATORS.items() if text in values)
    return by_name(text) or (None if product is None else product.board) or by_name(next(of_gke, ""))


def by_product(value: str) -> Product | None:
    """The meaning of a value of nvidia.com/gpu.product; None if the product is unknown, ambiguous or without MIG.

    `NVIDIA-H100` is ambiguous: it does not name the memory, and H100s have several sizes. Old drivers left `NVIDIA-`
    out.
    """
    model, divided, layout = value.removesuffix("-SHARED").partition("-MIG-")
    board = _BY_PRODUCT.get(model.removeprefix("NVIDIA-"))
    profile, invalid = mig.parse_profile(layout), layout == "INVALID"
    if board is None or (divided and profile is None and not invalid):
        return None
    return Product(board=board, profile=profile, shared=value.endswith("-SHARED"), invalid=invalid)


_GKE_ACCELERATORS: Final = {
    "A100-40": frozenset({"nvidia-tesla-a100"}),
    "A100-80": frozenset({"nvidia-a100-80gb"}),
    "H100-80": frozenset({"nvidia-h100-80gb", "nvidia-h100-mega-80gb"}),
    "H200-141": frozenset({"nvidia-h200-141gb"}),
    "B200": frozenset({"nvidia-b200"}),
    "GB200": frozenset({"nvidia-gb200"}),
}


def gke_accelerators(name: str) -> frozenset[str]:
    """The values of cloud.google.com/gke-accelerator for a board; empty where usher does not know them.

    Source: docs.cloud.google.com/kubernetes-engine/docs/concepts/gpus.
    """
    board = by_name(name)
    return frozenset() if board is None else _GKE_ACCELERATORS.get(board.name, frozenset())


def boards_with(profile: mig.Profile) -> tuple[Board, ...]:
    """The boards that have a profile of that name; its size may differ between them."""
    return tuple(board for board in BOARDS if board.offer(profile) is not None)


def _shape(compute: int, memory: int, maximum: int, starts: list[int], engines: list[int]) -> Shape:
    return Shape(compute=compute, memory=memory, maximum=maximum, starts=tuple(starts), engines=tuple(engines))


def _board(row: Mapping[str, Any], table: Mapping[str, Any]) -> Board:
    seven = "profiles" in row
    cut = zip(row["profiles"].split(), table["seven"], strict=True) if seven else table["cuts"][row["cut"]].items()
    offers = tuple(
        Offer(names=tuple(filter(None, map(mig.parse_profile, names.split("/")))), shape=_shape(*shape))
        for names, shape in cut
    )
    compute, memory = (7, 8) if seven else row.get("slices", (4, 4))
    return Board(
        name=row["name"],
        aliases=tuple(row.get("aliases", "").split()),
        compute_slices=compute,
        memory_slices=memory,
        memory=offers[0].names[0].gigabytes,
        engines=offers[0].shape.engines,
        offers=offers,
        products=tuple(row["products"].split()),
    )


@cache
def machine_rows() -> Mapping[str, Mapping[str, Any]]:
    """The cloud (`of`), the labels and the amounts of each machine type with accelerators, by its name.

    tools/record_machine_types.py writes them.
    """
    table: Mapping[str, Mapping[str, Any]] = orjson.loads(Path(__file__).with_name("machine_types.json").read_bytes())
    return table["types"]


_FOR_ARM: Final = memo.pattern(r"(?i)(?:^|-)(?:GH200|GB200|GB300|GB10|T4G)(?:-|$)")


def is_for_arm(name: str) -> bool:
    """Whether a board or a machine type comes with a CPU for arm64 alone."""
    labels = machine_rows().get(name, {}).get("labels", {})
    return labels.get("arch") == "arm64" or name == "g5g" or _FOR_ARM.search(name) is not None


CUDA_OF_DRIVERS: Final = {
    470: (11, 4), 495: (11, 5), 510: (11, 6), 515: (11, 7), 520: (11, 8), 525: (12, 0), 530: (12, 1), 535: (12, 2),
    545: (12, 3), 550: (12, 4), 555: (12, 5), 560: (12, 6), 565: (12, 7), 570: (12, 8), 575: (12, 9),
}  # fmt: skip
"""The CUDA of each branch of NVIDIA's driver (docs.nvidia.com, CUDA toolkit release notes)."""


def _boards() -> Iterator[Board]:
    table = orjson.loads(Path(__file__).with_name("boards.json").read_bytes())
    return (_board(row, table) for row in table["boards"])


BOARDS: Final = tuple(_boards())

_BY_NAME = {name: board for board in BOARDS for name in (board.name, *board.aliases)}
_BY_PRODUCT = {product: board for board in BOARDS for product in board.products}

_SIZES: Final = {
    # Data sheets of NVIDIA, and the clouds' names of boards that MIG cannot divide.
    **dict.fromkeys(("t4", "a2", "a16", "p100", "v100-sxm2-16gb"), 16),
    **dict.fromkeys(("a10", "a10g", "l4", "rtx-3090", "rtx-4090"), 24),
    **dict.fromkeys(("a40", "l40", "l40s", "rtx-6000-ada-generation", "rtx-a6000"), 48),
    "p4": 8,
    "v100-sxm2-32gb": 32,
    **{
        name.lower(): board.memory
        for board in BOARDS
        for name in (f"{board.name}gb", *board.aliases, *board.products, *gke_accelerators(board.name))
    },
}
"""Gigabytes of boards, by their names in lower case."""

_NAMING: Final = (
    PRODUCT_LABEL,
    "cloud.google.com/gke-accelerator",
    "k8s.amazonaws.com/accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
)
"""Labels with the name of a board. NVIDIA's label is more exact than those of clouds."""


def gigabytes(labels: Mapping[str, str]) -> int | None:
    """The memory of the board that labels of nodes name; None for a name that stands for boards of several sizes."""
    value = next((labels[key] for key in _NAMING if labels.get(key)), "").lower()
    bare = value.removeprefix("nvidia-").removeprefix("tesla-").removeprefix("geforce-")
    mebibytes = labels.get("karpenter.k8s.aws/instance-gpu-memory", "")
    known = _SIZES.get(value) or _SIZES.get(bare)
    return known or (int(mebibytes[:9]) // 1024 if mebibytes.isdecimal() else None)


_MOST_TOLD: Final = 10


class SpecProblem(NamedTuple):
    """Why a spec cannot be read."""

    path: str
    """A JSON Pointer into the object."""
    reason: str


def read_quota_spec(spec: object) -> pools.QuotaSpec | tuple[SpecProblem, ...]:
    """The spec, or the first problems that it has."""
    try:
        found = pools.QuotaSpec.model_validate(spec, strict=False, by_name=False, by_alias=True)
    except pydantic.ValidationError as error:
        problems = [
            SpecProblem(_pointer_of_error(each["loc"]), _reason_of_error(each))
            for each in error.errors(include_url=False)
        ]
        return tuple(problems[:_MOST_TOLD])
    if found.assumes is not None and found.assumes.board is not None and by_name(found.assumes.board) is None:
        return (SpecProblem("/spec/assumes/board", f"{found.assumes.board!r:.80} is not a board that gpu-usher knows"),)
    return found


def _pointer_of_error(keys: Sequence[str | int]) -> str:
    """The pointer to an error. For an unknown key, pydantic names the key; the pointer then names its object."""
    return paths.join("/spec", *(keys[:-1] if keys and keys[-1] == "[key]" else keys))


def _reason_of_error(detail: Mapping[str, object]) -> str:
    if detail["type"] == "extra_forbidden":
        return "the field does not exist"
    if detail["type"] == "missing":
        return "the field is missing"
    return str(detail["msg"]).removeprefix("Value error, ")


CONFIG_LABEL: Final = "nvidia.com/mig.config"
_COUNT_LABEL: Final = "nvidia.com/gpu.count"
_PROFILE: Final = memo.pattern(r"(?:\d+c\.)?\d+g\.\d+gb(?:[+-][A-Za-z][A-Za-z0-9.,]*)?")
_DOTTED: Final = memo.pattern(r"(\d+g\.\d+gb)\.(me|me\.all|gfx)")

_IDS: Final = {
    "A100-40": "20B0 20B1 20F1 20F6",
    "A100-80": "20B2 20B5 20F3 20F5",
    "H100-80": "2330 2331 2322 2324",
    "H100-94": "2321 233A",
    "H100-96": "2342 233D 20B6 2329",
    "H200-141": "2335 233B",
    "GH200-144": "2348",
    "B200": "2901",
    "GB200": "2941",
    "RTX-PRO-6000-96": "2BB5",
    "A30-24": "20B7",
}
"""The PCI device ids of boards in device filters."""
_BY_ID: Final = {id_: by_name(name) for name, ids in _IDS.items() for id_ in ids.split()}


class Reason(TypedDict):
    """Why GPUs cannot have a layout; a message goes on with `text` after its name."""

    text: str
    remedy: str


class Problem(Reason):
    layout: str


def problems(configuration: Mapping[str, paths.Json]) -> Iterator[Problem]:
    """The mistakes in the layouts of a configuration: layouts that fit no GPU or that the MIG manager cannot read."""
    for name, entries in paths.mapping(configuration.get("mig-configs")).items():
        if not isinstance(entries, list) or not entries:
            yield _problem(name, "has no entries", "write what to do with the GPUs of the node")
            continue
        for entry in entries:
            found = _problem_of_entry(entry if isinstance(entry, dict) else {}, None)
            if found is not None:
                yield _problem(name, *found)


def problem_on_node(
    configuration: Mapping[str, paths.Json], name: str, labels: Mapping[str, str]
) -> tuple[str, str] | None:
    """Why the GPUs of a node cannot have a layout, and the remedy; None if they can, or if their board is unknown."""
    product = by_product(labels.get(PRODUCT_LABEL, ""))
    entries = paths.mapping(configuration.get("mig-configs")).get(name)
    if product is None or not isinstance(entries, list):
        return None
    number = labels.get(_COUNT_LABEL, "")
    for entry in (each for each in entries if isinstance(each, dict)):
        filtered = _filtered(entry)
        if filtered and product.board not in filtered:
            continue
        found = _problem_of_entry(entry, product.board)
        if found is not None:
            return found
        devices = entry.get("devices")
        beyond = [each for each in devices if isinstance(each, int)] if isinstance(devices, list) else []
        if number.isdecimal() and beyond and max(beyond) >= int(number):
            return (
                f"divides GPU {max(beyond)}, but the node has {number}, counted from 0",
                "name GPUs that the node has",
            )
    return None


def problem_of_name(name: str, labels: Mapping[str, str]) -> tuple[str, str] | None:
    """Why the GPUs of a node cannot have a layout by its name alone: all-1g.10gb is one for all GPUs."""
    product = by_product(labels.get(PRODUCT_LABEL, ""))
    profile = mig.parse_profile(name.removeprefix("all-")) if name.startswith("all-") else None
    if product is None or profile is None or product.board.offer(profile) is not None:
        return None
    return _unknown_to_board(profile, product.board)


def _problem_of_entry(entry: Mapping[str, paths.Json], board: Board | None) -> tuple[str, str] | None:
    """The mistake in an entry and its remedy; with a board, why the GPU cannot have it."""
    missing = next((field for field in ("devices", "mig-enabled") if field not in entry), None)
    if missing is not None:
        return f"has an entry without {missing}, so the MIG manager refuses the whole configuration", f"write {missing}"
    asked = paths.mapping(entry.get("mig-devices"))
    if entry["mig-enabled"] is False and asked:
        remedy = "set mig-enabled to true, or remove mig-devices"
        return "has mig-devices beside mig-enabled: false, so the MIG manager refuses the whole configuration", remedy
    instances = dict[Profile, int]()
    for text, number in asked.items():
        if not _PROFILE.fullmatch(text):
            dotted = _DOTTED.fullmatch(text)
            remedy = f"write {dotted[1]}+{dotted[2]}" if dotted else "write a profile like 1g.10gb"
            return (
                f"names {text[:40]}, which is not a profile, so the MIG manager refuses the whole configuration",
                remedy,
            )
        profile = mig.parse_profile(text)
        if profile is None or not isinstance(number, int) or number > _MOST:
            return None
        instances[profile] = number
    return _problem_of_instances(instances, [board] if board is not None else _filtered(entry))


_MOST: Final = 1000


def _filtered(entry: Mapping[str, paths.Json]) -> list[Board]:
    """The boards that the filter of an entry names; empty without a filter, and if usher does not know all of them."""
    chosen = entry.get("device-filter")
    ids = [chosen] if isinstance(chosen, str) else chosen if isinstance(chosen, list) else []
    found = [_BY_ID.get(each.upper().removeprefix("0X")[:4]) if isinstance(each, str) else None for each in ids]
    known = [each for each in found if each is not None]
    return known if len(known) == len(ids) else []


def _problem_of_instances(instances: Mapping[Profile, int], on: list[Board]) -> tuple[str, str] | None:
    """Why a GPU of some of these boards cannot have the instances; of no board at all, where the list is empty."""
    for profile in instances:
        for board in on:
            if board.offer(profile) is None:
                return _unknown_to_board(profile, board)
        if not boards_with(profile):
            return f"names {profile}, a profile of no board that usher knows", "write a profile of the board"
    wanted = ", ".join(f"{number} of {profile}" for profile, number in instances.items())
    remedy = "write fewer instances for one GPU"
    full = [board for board in on if not mig.instances_fit(board, instances)]
    if full:
        return f"asks for {wanted} on one GPU, and {full[0].name} does not hold them{_most(instances, full)}", remedy
    if instances and not on and not any(mig.instances_fit(board, instances) for board in BOARDS):
        holders = [board for board in BOARDS if all(map(board.offer, instances))]
        return f"asks for {wanted} on one GPU, and no board holds them{_most(instances, holders)}", remedy
    return None


def _most(instances: Mapping[Profile, int], on: list[Board]) -> str:
    offers = [offer for board in on for offer in [board.offer(next(iter(instances)))] if offer is not None]
    return f": at most {max(each.shape.maximum for each in offers)}" if len(instances) == 1 and offers else ""


def _unknown_to_board(profile: Profile, board: Board) -> tuple[str, str]:
    like = [each.names[0] for each in board.offers if each.names[0].slices == profile.slices]
    offered = ", ".join(map(str, like or [each.names[0] for each in board.offers]))
    return f"asks for {profile}, which {board.name} does not have", f"write a profile of the board: {offered}"


def _problem(layout: str, text: str, remedy: str) -> Problem:
    return {"layout": layout, "text": text, "remedy": remedy}
