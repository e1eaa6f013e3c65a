"""A request to decide about an object, and the identities of usher.yaml that its user has.

Users and groups are known only from the API server, not from files.
"""

from collections.abc import Callable
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache

from usher import model, paths
from usher.authorities import beside
from usher.authorities.authority import Case, QuotaRefusal
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.config import fields, models, sections
from usher.dataclass import dataclass
from usher.kinds.reading import values
from usher.kinds.reading.counts import Growth
from usher.policy.input.document import Review
from usher.workloads import grown_workloads


class Operation(StrEnum):
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """The user of a request, as the API server names it."""

    name: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An object, and the operation that it comes from."""

    value: paths.Object
    operation: Operation = Operation.CREATE
    namespace: str = ""
    """The namespace to assume for an object that does not name one."""
    old_value: paths.Object | None = None
    objects: values.Lookup = values.NO_OBJECTS
    """Finds objects that this one names, before the facts."""
    around: values.Lookup = values.NO_OBJECTS
    """Finds objects of any file that are applied together with this one; `objects` does not include them."""
    growths: tuple[Growth, ...] = ()
    """How far autoscalers of the same files let the object grow. No mutation reads them: the webhook has no files."""
    facts: Store | None = None
    """Facts to use instead of those of the evaluator."""
    place: fields.Place = "admission"
    sub_resource: str = ""
    refusal: QuotaRefusal | None = None
    """Why a GPUQuota refused the charge; None if no GPUQuota did."""
    user: User | None = None
    """None without a user, as in CI."""

    def exemption(self, *, deleting: bool) -> str:
        """Why rules do not judge this operation; empty if they do."""
        if self.operation in (Operation.DELETE, Operation.CONNECT):
            return f"{self.operation} is not judged"
        # On CREATE the API server drops a deletionTimestamp; one in a file must not exempt the object.
        if deleting and self.operation is Operation.UPDATE:
            return "the object is being deleted"
        return ""

    def grown(self, read: Callable[[paths.Object], model.Workload | None]) -> model.Workload | None:
        """The object, normalised by `read`, with the pods to which autoscalers may scale it."""
        if not self.growths:
            return read(self.value)
        return grown_workloads.with_room(self.value, self.growths, normalise=read, namespace=self.namespace)

    def case(self, workload: model.Workload, known: Knowledge) -> Case:
        """The normalised object as authorities judge it, with the facts from other objects of its files."""
        around = self.objects if self.around is values.NO_OBJECTS else self.around
        others = beside.NOTHING if around is values.NO_OBJECTS else beside.of(workload, around, known)
        return Case(workload=workload, refusal=self.refusal, beside=others)


class Identities:
    """The identities of users, remembered because a few controllers make most pods."""

    def __init__(self, config: models.Config) -> None:
        self._known = {**sections.DEFAULT_IDENTITIES, **config.identities}
        self._kept = lru_cache(maxsize=1024)(self._of)

    def of(self, user: User | None) -> tuple[str, ...] | None:
        """Names of the user's identities, sorted; None without a user, as in CI."""
        return None if user is None else self._kept(user)

    def review(self, request: Request) -> Review | None:
        """The user and the operation of a request, as rules see them; None without a user, as in CI."""
        by = self.of(request.user)
        if by is None:
            return None
        return {"operation": request.operation.value, "subResource": request.sub_resource, "by": list(by)}

    def _of(self, user: User) -> tuple[str, ...]:
        return tuple(sorted(name for name, identity in self._known.items() if _has(identity, user)))


def _has(identity: sections.Identity, user: User) -> bool:
    return any(fnmatchcase(user.name, pattern) for pattern in identity.users) or any(
        fnmatchcase(group, pattern) for pattern in identity.groups for group in user.groups
    )
