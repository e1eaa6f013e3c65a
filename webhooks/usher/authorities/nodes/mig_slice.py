"""The MIG part of the Rego input: the meaning of the resources of a pod set, and how many GPUs one pod needs.

Rego does not know boards and profiles. It gets the answers, where a pod set asks for nvidia.com/mig-* or selects nodes
whose GPUs are slices.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, NotRequired

from msgspec import Struct
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model
from usher.accelerators import boards, mig
from usher.accelerators.mig import MIG_RESOURCE_PREFIX, Board, Profile
from usher.authorities.nodes.declared_pools import PoolsInput
from usher.config import models

_DIVIDED: Final = "-MIG-"

_LARGEST: Final = 2048
"""The most characters of resource names in a kept answer; real pods have fewer than a hundred."""


class MigProfileInput(TypedDict):
    """The meaning of a resource nvidia.com/mig-*."""

    name: str
    """The driver's name of the profile: 1g.10gb+me."""
    slices: int
    shared: bool
    """True where each unit is a time slice of an instance that other pods use as well."""
    boards: list[str]
    """The known boards that have the profile."""
    known: bool
    """False where no known board has the profile and usher.yaml does not name the resource."""
    whole: bool
    """Whether the profile is a whole GPU of some board, so that no part of it stays unused."""


class MigBoardInput(TypedDict):
    """A board that has all profiles of a pod, and how many of its GPUs the pod needs."""

    name: str
    gpus: int
    exact: bool
    """False where the pod may need more: it has too many instances of several profiles to search all divisions."""


class MigInput(TypedDict):
    """The MIG resources that a pod set asks for."""

    profiles: dict[str, MigProfileInput]
    """Profiles by resource."""
    misspelt: dict[str, str]
    """Resources that no device plugin offers under this name, with the likely name; empty where usher has no guess."""
    boards: NotRequired[list[MigBoardInput]]
    """Boards on which a pod could find all its instances together; absent where it asks for no instance of its own."""
    selectedBoard: NotRequired[str]
    """The board that the node selector names."""
    selectedProfile: NotRequired[MigProfileInput]
    """The profile of nvidia.com/gpu on the selected nodes, where the MIG strategy `single` makes it a slice."""
    offered: NotRequired[list[str]]
    """The MIG resources that pools of usher.yaml offer; absent where no pool offers any."""


class _Question(Struct, frozen=True):
    """Everything that the answer depends on."""

    amounts: tuple[tuple[str, int], ...]
    selected: str
    pools: tuple[str, ...]
    """Products of the pools on which the pods could run; empty unless each pool declares its product."""


class MigAnswers:
    """Answers for one configuration, kept because most pods of a cluster ask for the same few slices."""

    def __init__(self, config: models.Config) -> None:
        offered = {name for pool in config.pools for name in pool.resources if name.startswith(MIG_RESOURCE_PREFIX)}
        self._offered = sorted(offered)
        self._declared = offered.union(config.accelerators.names, config.accelerators.resources)
        self._kept = lru_cache(maxsize=1024)(self._work_out)

    def of(self, pod_set: model.PodSet, where: PoolsInput) -> MigInput | None:
        """The answer for one pod set; None where it does not use MIG. Callers must not change it."""
        amounts = tuple(
            (name, quantity.value)
            for name, quantity in pod_set.accelerators.items()
            if name.startswith(MIG_RESOURCE_PREFIX)
        )
        product = pod_set.node_selector.get(boards.PRODUCT_LABEL, "")
        if not amounts and _DIVIDED not in product:
            return None
        products = [fit["labels"].get(boards.PRODUCT_LABEL, "") for fit in where["fits"]]
        question = _Question(amounts, product, tuple(products) if all(products) else ())
        if sum(len(name) for name, _ in amounts) + len(product) > _LARGEST:
            return self._work_out(question)
        return self._kept(question)

    def _work_out(self, question: _Question) -> MigInput:
        result: MigInput = {"profiles": {}, "misspelt": {}}
        instances: dict[Profile, int] = {}
        for name, amount in question.amounts:
            advertised = mig.profile_of_resource(name)
            if advertised is None:
                if name not in self._declared:
                    result["misspelt"][name] = _likely_profile_name(name)
                continue
            result["profiles"][name] = self._profile(name, advertised)
            if not advertised.shared:
                instances[advertised.profile] = instances.get(advertised.profile, 0) + amount
        if self._offered:
            result["offered"] = self._offered
        selected = boards.by_product(question.selected)
        if selected is not None:
            result["selectedBoard"] = selected.board.name
            if selected.profile is not None:
                advertised = mig.Advertised(profile=selected.profile, shared=selected.shared)
                result["selectedProfile"] = self._profile("", advertised)
        if instances:
            candidates = _candidates(selected, question.pools)
            result["boards"] = list(_needs(candidates, instances)) or list(_needs(boards.BOARDS, instances))
        return result

    def _profile(self, name: str, advertised: mig.Advertised) -> MigProfileInput:
        profile = advertised.profile
        having = _HAVING.get(profile, ())
        return {
            "name": str(profile),
            "slices": profile.slices,
            "shared": advertised.shared,
            "boards": [board.name for board in having],
            "known": bool(having) or name in self._declared,
            "whole": any(board.offers[0] is board.offer(profile) for board in having),
        }


def _having() -> Mapping[Profile, tuple[Board, ...]]:
    """The boards of every profile, computed once because a manifest may name thousands of profiles."""
    names = {name for board in boards.BOARDS for offer in board.offers for name in offer.names}
    return {name: boards.boards_with(name) for name in names}


_HAVING: Final = _having()


def _likely_profile_name(name: str) -> str:
    """The likely name. It repairs a + for a dot, upper case, and a compute instance for its GPU instance."""
    text = name.removeprefix(MIG_RESOURCE_PREFIX).lower()
    text, dot, shared = text.partition(".shared")
    profile = mig.parse_profile(text)
    if profile is None:
        instance = mig.compute_instance(text)
        profile = None if instance is None else instance.profile
    return "" if profile is None else profile.resource + dot + shared


def _candidates(selected: boards.Product | None, pools: Iterable[str]) -> Iterable[Board]:
    """The boards that the pods could get, by the node selector or else by the pools."""
    if selected is not None:
        return [selected.board]
    products = [boards.by_product(product) for product in pools]
    known = {product.board.name: product.board for product in products if product is not None}
    return known.values() if known and None not in products else boards.BOARDS


def _needs(candidates: Iterable[Board], instances: mig.Instances) -> Iterator[MigBoardInput]:
    for board in candidates:
        needed = mig.gpus_needed(board, instances)
        if needed is not None:
            yield {"name": board.name, "gpus": needed.at_least, "exact": needed.exact}
