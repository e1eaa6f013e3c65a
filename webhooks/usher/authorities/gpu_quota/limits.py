"""The limits of a quota."""

from usher.authorities.gpu_quota.amounts import Amounts
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """An entry of `limits`: the most for pods of these priority classes, or for all pods if `classes` is empty."""

    hard: Amounts
    classes: tuple[str, ...] = ()


Limits = tuple[Limit, ...]
