"""Finds problems of the quotas in usher.yaml: unknown boards, and two quotas for one namespace."""

from collections.abc import Iterator, Sequence

from usher.accelerators import boards
from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota.definitions import Requirement
from usher.config import quotas as config_quotas
from usher.config import selection

Problem = tuple[str, str]
"""A JSON Pointer into usher.yaml, and the problem there."""


def problems(quotas: Sequence[config_quotas.Quota]) -> Iterator[Problem]:
    """Errors: quotas that select the same namespaces by name, and unknown boards."""
    for index, number in _pairs(quotas):
        if not _look_at_labels(quotas[number], quotas[index]):
            name = quotas[number].name
            text = f"quota {name} (entry {number}) can select the same namespace, but only one quota may hold for it"
            yield f"/quotas/{index}", text
    for index, quota in enumerate(quotas):
        board = None if quota.assumes is None else quota.assumes.board
        if board is not None and boards.by_name(board) is None:
            known = ", ".join(each.name for each in boards.BOARDS)
            yield f"/quotas/{index}/assumes/board", f"{board} is not a board that gpu-usher knows; it knows {known}"


def warnings(quotas: Sequence[config_quotas.Quota]) -> Iterator[Problem]:
    """Warnings: quotas that may select the same namespace by labels. usher.yaml does not contain these labels."""
    for index, number in _pairs(quotas):
        if _look_at_labels(quotas[number], quotas[index]):
            name = quotas[number].name
            text = f"quota {name} (entry {number}) may select the same namespace; then neither is enforced there"
            yield f"/quotas/{index}", text


def _pairs(quotas: Sequence[config_quotas.Quota]) -> Iterator[tuple[int, int]]:
    """Indexes of two quotas that may select the same namespace; the later quota comes first."""
    read = [definitions.of_entry(quota).requirements or () for quota in quotas]
    for index, quota in enumerate(quotas):
        for number, before in enumerate(quotas[:index]):
            by_name = selection.patterns_meet(quota.namespaces or ["*"], before.namespaces or ["*"])
            if by_name and not any(_contradict(one, other) for one in read[number] for other in read[index]):
                yield index, number


def _look_at_labels(first: config_quotas.Quota, second: config_quotas.Quota) -> bool:
    return first.namespace_selector is not None or second.namespace_selector is not None


def _contradict(first: Requirement, second: Requirement) -> bool:
    """Whether no namespace can have labels that meet both; only requirements on one label are compared."""
    if first.key != second.key:
        return False
    operators = {first.operator, second.operator}
    if operators == {"In"}:
        return first.values.isdisjoint(second.values)
    if operators == {"In", "NotIn"}:
        wanted, refused = (first, second) if first.operator == "In" else (second, first)
        return wanted.values <= refused.values
    return operators in ({"In", "DoesNotExist"}, {"Exists", "DoesNotExist"})
