"""The layouts of NVIDIA's MIG manager: which of them no GPU can have, and which the GPUs of a node cannot have.

Sources: api/spec/v1/spec.go and helpers.go, cmd/nvidia-mig-parted/assert of NVIDIA/mig-parted @ bd7160f4, and
pkg/nvlib/device/mig_profile.go of NVIDIA/go-nvlib; PCI device ids by assets/state-mig-manager/0400_configmap.yaml of
NVIDIA/gpu-operator @ 0b0b6b15.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import paths
from usher.accelerators import boards, mig
from usher.accelerators.mig import Board, Profile

CONFIG_LABEL: Final = "nvidia.com/mig.config"
_COUNT_LABEL: Final = "nvidia.com/gpu.count"
_PROFILE: Final = re.compile(r"(?:\d+c\.)?\d+g\.\d+gb(?:[+-][A-Za-z][A-Za-z0-9.,]*)?")
_DOTTED: Final = re.compile(r"(\d+g\.\d+gb)\.(me|me\.all|gfx)")

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
_BY_ID: Final = {id_: boards.by_name(name) for name, ids in _IDS.items() for id_ in ids.split()}


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
    product = boards.by_product(labels.get(boards.PRODUCT_LABEL, ""))
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
    product = boards.by_product(labels.get(boards.PRODUCT_LABEL, ""))
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
        if not boards.boards_with(profile):
            return f"names {profile}, a profile of no board that usher knows", "write a profile of the board"
    wanted = ", ".join(f"{number} of {profile}" for profile, number in instances.items())
    remedy = "write fewer instances for one GPU"
    full = [board for board in on if not mig.instances_fit(board, instances)]
    if full:
        return f"asks for {wanted} on one GPU, and {full[0].name} does not hold them{_most(instances, full)}", remedy
    if instances and not on and not any(mig.instances_fit(board, instances) for board in boards.BOARDS):
        holders = [board for board in boards.BOARDS if all(map(board.offer, instances))]
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
