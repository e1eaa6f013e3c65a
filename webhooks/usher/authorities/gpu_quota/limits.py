"""The limits of a quota."""

from dataclasses import dataclass

from usher.authorities.gpu_quota.amounts import Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """An entry of `limits`: the most for pods of these priority classes, or for all pods if `classes` is empty."""

    hard: Amounts
    classes: tuple[str, ...] = ()


Limits = tuple[Limit, ...]
