"""Finds the device claims (DRA) of a pod and, if usher can look them up, their requests (docs/domain/device-claims.md).

A claim reserves its devices even if no container names it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.dataclass import dataclass
from usher.reading.lookup import Reference
from usher.reading.templates import Place
from usher.reading.values import Reading
from usher.workloads import claim_specs
from usher.workloads.claim_specs import GROUP, Claim, Entry

POD_GROUPS: Final = "scheduling.k8s.io"

# maxItems of spec.resourceClaims of PodGroup in k8s.io/api scheduling/v1beta1/types.go.
MAX_CLAIMS_OF_GROUP: Final = 4

_KINDS: Final = {"resourceClaimName": "ResourceClaim", "resourceClaimTemplateName": "ResourceClaimTemplate"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    requests: tuple[model.AcceleratorRequest, ...] = ()
    giving: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The `resources.claims` by which a container gets accelerators: `name`, and `request` or the empty text."""
    unclear: tuple[model.UnclearDevices, ...] = ()


NOTHING: Final = Claimed()

Claims = dict[Reference, Claim]
"""The requests of the device claims read so far. Many templates of one object may name the same claim."""


def of_pod(  # noqa: PLR0913 - the claims and their readers
    entries: Sequence[Entry],
    *,
    group: str,
    group_path: str,
    reading: Reading,
    vocabulary: Vocabulary,
    known: Claims,
) -> Claimed:
    """The requests of the entries of `spec.resourceClaims`.

    Args:
        entries: the entries with their paths.
        group: the in-tree PodGroup of the pods, which may own claims that they all share.
        group_path: the path where the object names it.
        reading: looks the claims up, and records unknown ones.
        vocabulary: which device classes are accelerators.
        known: the claims of other pods of the object; the claims of this pod are added.
    """
    named = [found for path, entry in entries if (found := _named(path, entry, reading)) is not None]
    shared = _claims_of_group(group, group_path, named, reading) if group else frozenset()
    requests: list[model.AcceleratorRequest] = []
    giving: dict[str, frozenset[str]] = {}
    counted: set[str] = set()
    unclear: dict[model.UnclearDevices, None] = {}
    for entry in named:
        claim = _claim(entry, reading, vocabulary, known)
        unclear.update(dict.fromkeys(claim.unclear))
        giving[entry.name] = claim.giving
        shared_by = ""
        if entry.reference.kind == "ResourceClaim":
            shared_by = str(entry.reference)
        elif (entry.name, entry.reference.name) in shared:
            shared_by = f"claim {entry.name} of PodGroup {reading.context.namespace}/{group}"
        if not shared_by or shared_by not in counted:
            requests += claim_specs.requests(claim, path=entry.path, shared_by=shared_by)
            counted.add(shared_by)
    return Claimed(requests=tuple(requests), giving=giving, unclear=tuple(unclear))


class _Named(NamedTuple):
    """A parsed entry of `spec.resourceClaims`."""

    name: str
    reference: Reference
    path: str
    name_path: str
    """The path where the entry names the claim or its template."""


def _named(path: str, entry: Mapping[str, paths.Json], reading: Reading) -> _Named | None:
    """A parsed entry; None, with a record, if it names no claim or two. Up to Kubernetes 1.30 the names were in
    `source`.
    """
    name = reading.text(entry.get("name"), path + "/name")
    holder, holder_path = entry, path
    if entry.get("source") is not None and all(entry.get(field) is None for field in _KINDS):
        holder_path = path + "/source"
        holder = reading.mapping(entry["source"], holder_path)
    texts = {field: reading.text(holder.get(field), f"{holder_path}/{field}") for field in _KINDS}
    given = [field for field, text in texts.items() if text]
    if len(given) == 1:
        (field,) = given
        reference = Reference(group=GROUP, kind=_KINDS[field], name=texts[field], namespace=reading.context.namespace)
        return _Named(name=name, reference=reference, path=path, name_path=f"{holder_path}/{field}")
    # A name of a wrong type is already recorded.
    if given or all(holder.get(field) in (None, "") for field in _KINDS):
        reading.unknown(path, "it has to name either a resourceClaimName or a resourceClaimTemplateName")
    return None


def _claims_of_group(group: str, path: str, named: Sequence[_Named], reading: Reading) -> frozenset[tuple[str, str]]:
    """Name and template of the claims that the PodGroup has once for all its pods.

    All pods must name them in the same way. Only claims from templates can belong to the group: pods always share
    claims with a name. A PodGroup holds claims only with the feature gate DRAWorkloadResourceClaims, because the API
    server drops them without it.
    """
    if all(claim.reference.kind == "ResourceClaim" for claim in named):
        return frozenset()
    reference = Reference(group=POD_GROUPS, kind="PodGroup", name=group, namespace=reading.context.namespace)
    found = reading.look_up(reference, path, consequence="whether its pods share their device claims is not known")
    if found is None:
        return frozenset()
    inner = Reading()
    spec = inner.mapping(found.get("spec"), "/spec")
    of_group = frozenset(
        (
            inner.text(entry.get("name"), entry_path + "/name"),
            inner.text(entry.get("resourceClaimTemplateName"), entry_path + "/resourceClaimTemplateName"),
        )
        for entry_path, entry in claim_specs.at_most(
            MAX_CLAIMS_OF_GROUP, spec.get("resourceClaims"), "/spec/resourceClaims", inner
        )
    )
    _tell(inner, reference, path, reading)
    return of_group


def _claim(entry: _Named, reading: Reading, vocabulary: Vocabulary, known: Claims) -> Claim:
    """The requests of a claim. Several entries may name it; its faults are recorded at the first."""
    reference, path = entry.reference, entry.name_path
    if reference in known:
        return known[reference]
    before = len(reading.unknowns)
    found = reading.look_up(reference, path, consequence="which devices the pod gets is not known")
    if found is None:
        return Claim(unclear=claim_specs.unclear_since(before, reading))
    inner = Reading()
    spec = Place(found.get("spec"), "/spec")
    if reference.kind == "ResourceClaimTemplate":
        spec = Place(inner.mapping(*spec).get("spec"), "/spec/spec")
    claim = claim_specs.read(spec, inner, reading=reading, vocabulary=vocabulary, path=path)
    _tell(inner, reference, path, reading)
    known[reference] = claim._replace(unclear=claim_specs.unclear_since(before, reading))
    return known[reference]


def _tell(inner: Reading, reference: Reference, path: str, reading: Reading) -> None:
    """Records the faults of another object at the path that names the object."""
    for unknown in inner.found():
        reading.unknown(path, f"{reference}, {paths.readable(unknown.path)}: {unknown.reason}")
