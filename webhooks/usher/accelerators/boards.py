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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

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


def _shape(compute: int, *, memory: int, maximum: int, starts: Iterable[int], engines: tuple[int, ...]) -> Shape:
    return Shape(compute=compute, memory=memory, maximum=maximum, starts=tuple(starts), engines=engines)


def _even(slices: int, *, of: int, maximum: int, engines: tuple[int, ...]) -> Shape:
    """A shape with as many compute as memory slices, which may start at every multiple of its size."""
    return _shape(slices, memory=slices, maximum=maximum, starts=range(0, of, slices), engines=engines)


def _board(
    name: str,
    shapes: Mapping[str, Shape],
    *,
    products: str,
    aliases: str = "",
    slices: tuple[int, int] = (4, 4),
) -> Board:
    """A board with its compute and memory slices. Names of one profile are separated by `/`, the others by spaces."""
    offers = [
        Offer(names=tuple(filter(None, map(mig.parse_profile, names.split("/")))), shape=shape)
        for names, shape in shapes.items()
    ]
    return Board(
        name=name,
        aliases=tuple(aliases.split()),
        compute_slices=slices[0],
        memory_slices=slices[1],
        memory=offers[0].names[0].gigabytes,
        engines=offers[0].shape.engines,
        offers=tuple(offers),
        products=tuple(products.split()),
    )


def _seven(name: str, names: str, *, products: str, aliases: str = "") -> Board:
    """A board of 7 compute and 8 memory slices; `names` are its profiles, in the order of _SEVEN."""
    shapes = dict(zip(names.split(), _SEVEN, strict=True))
    return _board(name, shapes, products=products, aliases=aliases, slices=(7, 8))


_SEVEN = (
    _shape(7, memory=8, maximum=1, starts=(0,), engines=(1,)),
    _shape(4, memory=4, maximum=1, starts=(0,), engines=(0,)),
    _shape(3, memory=4, maximum=2, starts=(0, 4), engines=(0,)),
    _shape(2, memory=2, maximum=3, starts=(0, 2, 4), engines=(0,)),
    _shape(1, memory=2, maximum=4, starts=(0, 2, 4, 6), engines=(0,)),
    _shape(1, memory=1, maximum=7, starts=range(7), engines=(0,)),
    _shape(1, memory=1, maximum=1, starts=range(7), engines=(1,)),
)

_A30 = {
    "4g.24gb": _even(4, of=4, maximum=1, engines=(1,)),
    "2g.12gb": _even(2, of=4, maximum=2, engines=(0,)),
    "2g.12gb+me": _even(2, of=4, maximum=1, engines=(1,)),
    "1g.6gb": _even(1, of=4, maximum=4, engines=(0,)),
    "1g.6gb+me": _even(1, of=4, maximum=1, engines=(1,)),
}

_RTX_PRO_6000 = {
    "4g.96gb": _even(4, of=4, maximum=1, engines=(4, 4, 1)),
    "4g.96gb+gfx": _even(4, of=4, maximum=1, engines=(4, 4, 1)),
    "2g.48gb": _even(2, of=4, maximum=2, engines=(2, 2, 0)),
    "2g.48gb+gfx": _even(2, of=4, maximum=2, engines=(2, 2, 0)),
    "2g.48gb+me.all": _even(2, of=4, maximum=1, engines=(4, 4, 1)),
    "2g.48gb-me": _even(2, of=4, maximum=2, engines=(0, 0, 0)),
    "1g.24gb": _even(1, of=4, maximum=4, engines=(1, 1, 0)),
    "1g.24gb+me": _even(1, of=4, maximum=1, engines=(1, 1, 1)),
    "1g.24gb+gfx": _even(1, of=4, maximum=4, engines=(1, 1, 0)),
    "1g.24gb+me.all": _even(1, of=4, maximum=1, engines=(4, 4, 1)),
    "1g.24gb-me": _even(1, of=4, maximum=4, engines=(0, 0, 0)),
}

# A 1g of the two-slice cut is as large as a 2g of the four-slice cut; both are counted in quarters.
_RTX_PRO_5000 = {
    "2g.48gb/4g.48gb": _even(4, of=4, maximum=1, engines=(3, 1, 1)),
    "2g.48gb+gfx/4g.48gb+gfx": _even(4, of=4, maximum=1, engines=(3, 1, 1)),
    "1g.24gb": _even(2, of=4, maximum=2, engines=(1, 0, 0)),
    "1g.24gb+me": _even(2, of=4, maximum=1, engines=(1, 1, 1)),
    "1g.24gb+gfx": _even(2, of=4, maximum=2, engines=(1, 0, 0)),
    "1g.24gb+me.all": _even(2, of=4, maximum=1, engines=(3, 1, 1)),
    "1g.24gb-me": _even(2, of=4, maximum=2, engines=(0, 0, 0)),
    "2g.24gb-me": _even(2, of=4, maximum=1, engines=(0, 0, 0)),
    "1g.12gb": _even(1, of=4, maximum=1, engines=(1, 1, 0)),
    "1g.12gb+me": _even(1, of=4, maximum=1, engines=(1, 1, 1)),
    "1g.12gb+gfx": _even(1, of=4, maximum=1, engines=(1, 1, 0)),
    "1g.12gb-me": _even(1, of=4, maximum=3, engines=(0, 0, 0)),
}

_RTX_PRO_4500 = {
    "2g.32gb": _even(2, of=2, maximum=1, engines=(3, 2, 1)),
    "2g.32gb+gfx": _even(2, of=2, maximum=1, engines=(3, 2, 1)),
    "1g.16gb": _even(1, of=2, maximum=2, engines=(1, 1, 0)),
    "1g.16gb+gfx": _even(1, of=2, maximum=2, engines=(1, 1, 0)),
    "1g.16gb+me.all": _even(1, of=2, maximum=1, engines=(3, 2, 1)),
    "1g.16gb-me": _even(1, of=2, maximum=2, engines=(0, 0, 0)),
}

BOARDS = (
    _seven(
        "A100-40",
        "7g.40gb 4g.20gb 3g.20gb 2g.10gb 1g.10gb 1g.5gb 1g.5gb+me",
        aliases="A800-40",
        products="A100-SXM4-40GB A100-PCIE-40GB A800-SXM4-40GB A800-40GB-Active",
    ),
    _seven(
        "A100-80",
        "7g.80gb 4g.40gb 3g.40gb 2g.20gb 1g.20gb 1g.10gb 1g.10gb+me",
        aliases="A800-80",
        products="A100-SXM4-80GB A100-80GB-PCIe A800-SXM4-80GB A800-80GB-PCIe A800-80GB-PCIe-LC",
    ),
    _seven(
        "H100-80",
        "7g.80gb 4g.40gb 3g.40gb 2g.20gb 1g.20gb 1g.10gb 1g.10gb+me",
        aliases="H800-80",
        products="H100-80GB-HBM3 H100-PCIe H800 H800-PCIe",
    ),
    _seven(
        "H100-94",
        "7g.94gb 4g.47gb 3g.47gb 2g.24gb 1g.24gb 1g.12gb 1g.12gb+me",
        aliases="H800-94",
        products="H100-NVL H800-NVL",
    ),
    # The 120 and 480 GB in the names of two GH200 are the memory of its processor.
    _seven(
        "H100-96",
        "7g.96gb 4g.48gb 3g.48gb 2g.24gb 1g.24gb 1g.12gb 1g.12gb+me",
        aliases="GH200-96 H20-96",
        products="GH200-120GB GH200-480GB H20 PG506-232",
    ),
    _seven(
        "GH200-144",
        "7g.144gb 4g.72gb 3g.72gb 2g.36gb 1g.36gb 1g.18gb 1g.18gb+me",
        products="GH200-144G-HBM3e",
    ),
    _seven(
        "H200-141",
        "7g.141gb 4g.71gb 3g.71gb 2g.35gb 1g.35gb 1g.18gb 1g.18gb+me",
        aliases="H200",
        products="H200 H200-NVL",
    ),
    _seven("B200", "7g.180gb 4g.90gb 3g.90gb 2g.45gb 1g.45gb 1g.23gb 1g.23gb+me", aliases="B200-180", products="B200"),
    _seven(
        "GB200",
        "7g.186gb/7g.189gb 4g.93gb/4g.95gb 3g.93gb/3g.95gb 2g.47gb 1g.47gb 1g.23gb/1g.24gb 1g.23gb+me/1g.24gb+me",
        aliases="GB200-186 GB200-189",
        products="GB200",
    ),
    _seven(
        "B300",
        "7g.269gb 4g.135gb 3g.135gb 2g.67gb 1g.67gb 1g.34gb 1g.34gb+me",
        aliases="B300-269",
        products="B300-SXM6-AC",
    ),
    _seven(
        "GB300",
        "7g.278gb 4g.139gb 3g.139gb 2g.70gb 1g.70gb 1g.35gb 1g.35gb+me",
        aliases="GB300-278",
        products="GB300",
    ),
    _board("A30-24", _A30, aliases="A30", products="A30"),
    _board(
        "RTX-PRO-6000-96",
        _RTX_PRO_6000,
        aliases="RTX-PRO-6000",
        products="RTX-PRO-6000-Blackwell-Server-Edition RTX-PRO-6000-Blackwell-Workstation-Edition"
        " RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition",
    ),
    _board("RTX-PRO-5000-48", _RTX_PRO_5000, products="RTX-PRO-5000-Blackwell"),
    _board(
        "RTX-PRO-4500-32",
        _RTX_PRO_4500,
        aliases="RTX-PRO-4500",
        products="RTX-PRO-4500-Blackwell",
        slices=(2, 2),
    ),
)

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
    said = entry.get("device-filter")
    ids = [said] if isinstance(said, str) else said if isinstance(said, list) else []
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
