"""The policies of a site: those that a command names, and the objects of a run judged by Gatekeeper policies.

They are the site's own checks and policies of Gatekeeper, in files or bundles. The kinds of Kubernetes itself come from
its API reference for 1.36. In a listed group, all kinds that are not cluster-scoped are namespaced.
"""

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors, model, paths
from usher.check import batches, findings, sources
from usher.check.batches import Item, Pointer
from usher.cluster.facts.store import Store
from usher.config.models import EXEMPTION_LABEL
from usher.documents import chunks, reader
from usher.extensions.gatekeeper import constraints, evaluation, library, suites
from usher.extensions.gatekeeper.constraint_templates import Written
from usher.extensions.gatekeeper.evaluation import NotJudged, Policies, Violation
from usher.extensions.gatekeeper.library import Compiler, Library
from usher.extensions.own_checks.folders import Compiler as OwnChecksCompiler
from usher.extensions.policy_archive import VerifyKey
from usher.kinds import registry
from usher.kinds.reading.values import Reference
from usher.model.workload import GATEKEEPER
from usher.policy.checks.catalogue import OwnChecks


class Bundle(Struct, frozen=True, kw_only=True):
    """The content of a bundle. With a key, its signature is already verified."""

    source: str
    content: bytes


class Given(Struct, frozen=True, kw_only=True):
    """The arguments of `--policies`, divided."""

    own_folders: tuple[Path, ...] = ()
    own_bundles: tuple[Bundle, ...] = ()
    files: tuple[str, ...] = ()
    """Files and directories with policies of Gatekeeper."""
    bundles: tuple[Bundle, ...] = ()
    """Bundles with policies of Gatekeeper."""

    @property
    def of_gatekeeper(self) -> bool:
        return bool(self.files or self.bundles)


def divided(arguments: Sequence[str], *, key: VerifyKey | None = None) -> Given:
    """The policies by their kind.

    Args:
        key: the owner of this key must have signed all of them, so all must be bundles.

    Raises:
        InputError: a bundle cannot be read, or is not signed by the owner of the key.
    """
    if not arguments:
        return Given()
    from usher.extensions import policy_archive
    from usher.extensions.own_checks import folders as own_check_bundles

    own_folders, own_bundles, files, of_gatekeeper = list[Path](), list[Bundle](), list[str](), list[Bundle]()
    for argument in dict.fromkeys(arguments):
        content = _archive(argument)
        if content is None and key is not None:
            raise errors.InputError(
                f"{argument}: is not a bundle, so it cannot be signed, and a key to verify was given; build a bundle "
                "with `usher policies build --sign-key`"
            )
        if content is None:
            if _is_own(argument):
                own_folders.append(Path(argument))
            else:
                files.append(argument)
            continue
        if key is not None:
            policy_archive.verify(content, key, source=argument)
        found = Bundle(source=argument, content=content)
        (own_bundles if own_check_bundles.is_own_bundle(content, source=argument) else of_gatekeeper).append(found)
    return Given(
        own_folders=tuple(own_folders),
        own_bundles=tuple(own_bundles),
        files=tuple(files),
        bundles=tuple(of_gatekeeper),
    )


def own_checks(given: Given, *, compiler: Callable[[], OwnChecksCompiler]) -> list[OwnChecks]:
    """The own checks among them, compiled. If all are in bundles, it needs no compiler.

    Raises:
        InputError: a check is wrong, or a bundle is damaged or of another version.
        BundleError: METADATA are wrong.
    """
    if not (given.own_folders or given.own_bundles):
        return []
    from usher.extensions.own_checks import folders

    read = [folders.read_folder(folder) for folder in given.own_folders]
    compile_ = compiler().compiled if read else None
    made = [compile_(folder) for folder in read] if compile_ else []
    return [*made, *(folders.read_bundle(each.content, source=each.source) for each in given.own_bundles)]


def _is_own(argument: str) -> bool:
    from usher.extensions.own_checks import folders

    try:
        return folders.is_folder(Path(argument))
    except (OSError, ValueError):
        return False


def _archive(argument: str) -> bytes | None:
    """The content of a bundle; None for other files and unreadable ones, which usher reports elsewhere."""
    from usher.extensions import policy_archive

    file = Path(argument)
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            start = stream.read(4)
            if not policy_archive.is_archive(start):
                return None
            return start + stream.read(policy_archive.LARGEST + 1 - len(start))
    except (OSError, ValueError):
        return None


_CLUSTER_SCOPED: Final = {
    "": {"ComponentStatus", "Namespace", "Node", "PersistentVolume"},
    "admissionregistration.k8s.io": {
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    },
    "apiextensions.k8s.io": {"CustomResourceDefinition"},
    "apiregistration.k8s.io": {"APIService"},
    "apps": set[str](),
    "autoscaling": set[str](),
    "batch": set[str](),
    "certificates.k8s.io": {"CertificateSigningRequest", "ClusterTrustBundle"},
    "coordination.k8s.io": set[str](),
    "discovery.k8s.io": set[str](),
    "events.k8s.io": set[str](),
    "extensions": {"PodSecurityPolicy"},
    "flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
    "networking.k8s.io": {"IPAddress", "IngressClass", "ServiceCIDR"},
    "node.k8s.io": {"RuntimeClass"},
    "policy": {"PodSecurityPolicy"},
    "rbac.authorization.k8s.io": {"ClusterRole", "ClusterRoleBinding"},
    "resource.k8s.io": {"DeviceClass", "DeviceTaintRule", "ResourceSlice"},
    "scheduling.k8s.io": {"PriorityClass"},
    "storage.k8s.io": {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
}
"""Cluster-scoped kinds by group. In other groups usher only knows the kinds of `usher.kinds`."""


def is_kubernetes_group(group: str) -> bool:
    """Whether a group belongs to Kubernetes itself, so that sites cannot add kinds to it."""
    return group in _CLUSTER_SCOPED


def in_namespace(value: paths.Object, *, namespace: str) -> paths.Object:
    """The object in its namespace. An object of a namespaced kind without a namespace gets the given one."""
    metadata = value.get("metadata")
    if not namespace or not isinstance(metadata, dict) or metadata.get("namespace") or not is_namespaced(value):
        return value
    return {**value, "metadata": {**metadata, "namespace": namespace}}


def is_namespaced(value: paths.Object) -> bool:
    """Whether the kind of an object is certainly namespaced."""
    group = paths.text(value.get("apiVersion")).rpartition("/")[0]
    kind = paths.text(value.get("kind"))
    known = registry.BY_KEY.get((group, kind))
    if known is not None:
        return not known.cluster_scoped
    return group in _CLUSTER_SCOPED and kind not in _CLUSTER_SCOPED[group]


CHECK: Final = (constraints.WEBHOOK, constraints.COMMAND)
"""The points of `usher check`: those of the cluster, and actions that only apply to a command line."""

AUDIT: Final = (constraints.AUDIT,)

_ORDER: Final = {outcome: number for number, outcome in enumerate(model.Outcome)}


class Found(Struct, frozen=True, kw_only=True):
    """The findings of policies in one object."""

    violations: tuple[findings.Finding, ...] = ()
    not_judged: tuple[findings.NotJudged, ...] = ()

    def combined(self, result: findings.Result) -> findings.Result:
        """The result of an object with the findings of policies added, the worst finding first."""
        if not (self.violations or self.not_judged):
            return result
        both = sorted((*result.findings, *self.violations), key=lambda each: _ORDER[each.judgement.outcome])
        return replace(result, findings=tuple(both), not_judged=(*result.not_judged, *self.not_judged))

    def result(self, item: Item, source: str, identity: findings.Identity) -> findings.Result | None:
        """The result of an object that is not a workload; None if policies found nothing."""
        if not (self.violations or self.not_judged):
            return None
        return findings.Result(
            source=source,
            line=item.document.line if item.document is not None else 0,
            identity=identity,
            role=model.Role.UNKNOWN,
            pods=model.Count(minimum=0, maximum=0),
            accelerators={},
            findings=self.violations,
            not_judged=self.not_judged,
            makes_pods=False,
        )


class Way(Struct, frozen=True, kw_only=True):
    """How a command uses policies."""

    points: tuple[str, ...]
    """The enforcement points whose constraints count."""
    operation: str = ""
    namespace: str = ""
    """The namespace of objects without one."""
    only_namespace: str = ""
    """Only judge objects of this namespace; empty for all namespaces."""
    too_large: str = ""
    """Why usher does not evaluate policies that compare objects when the objects are too large; empty to raise an
    error.
    """


class SitePolicies:
    """The policies of one run, and the objects with which they compare: all objects of the run."""

    def __init__(
        self,
        policies: Policies,
        items: Iterable[Item],
        *,
        way: Way,
        facts: Store,
        is_exempt: Callable[[str], bool],
    ) -> None:
        """Prepares a run; `is_exempt` is true for namespaces that usher.yaml exempts, which the webhook skips.

        Raises:
            InputError: the policies compare objects, and the objects of the run are too large for that.
            EngineError: they do not fit into the memory of a policy.
        """
        self._policies = policies
        self._way = way
        self._facts = facts
        self._is_exempt = is_exempt
        self._unevaluated = Counter[str]()
        values = [in_namespace(item.value, namespace=way.namespace) for item in items if _is_object(item.value)]
        self._namespaces = {_name(value): value for value in values if constraints.is_namespace(value)}
        try:
            policies.compare_with(lambda: evaluation.inventory_data(values))
        except (errors.EngineError, errors.InputError):
            if not way.too_large:
                raise
            policies.leave_out_inventory(way.too_large)

    def judged(self, item: Item, value: paths.Object) -> Found:
        """The findings of the policies for an object, in the form that the API server sends; findings are
        worst first.
        """
        if not _is_object(value):
            return Found()
        points = self._way.points
        placed = in_namespace(value, namespace=self._way.namespace)
        name = paths.text(paths.metadata(placed).get("namespace"))
        if constraints.is_namespace(placed):
            self._namespaces.setdefault(_name(placed), placed)
        known = self._namespaces.get(name) or (self._known_namespace(name) if name else None)
        if self._is_left_out(placed, name, known):
            return Found()
        review = evaluation.review_of_object(
            placed, operation=self._way.operation, namespace=self._namespaces.get(name)
        )
        review = replace(review, subjects=tuple(replace(each, namespace=known) for each in review.subjects))
        self._unevaluated.update(self._policies.unevaluated(review, points))
        place = Pointer(item).place(paths.ROOT)
        found = list(self._policies.judged(review, points))
        violations = sorted(
            (each for each in found if isinstance(each, Violation)), key=lambda each: _ORDER[each.outcome]
        )
        return Found(
            violations=tuple(_finding(each, place) for each in violations),
            not_judged=tuple(_not_judged(each, place) for each in found if isinstance(each, NotJudged)),
        )

    def not_evaluated(self) -> tuple[findings.NotEvaluated, ...]:
        """The templates that were not evaluated, each with the number of objects that its constraints match."""
        return tuple(
            findings.NotEvaluated(
                check=f"{GATEKEEPER}{kind}",
                code=kind,
                name="",
                reason=self._policies.not_evaluated[kind],
                workloads=number,
                required=True,
            )
            for kind, number in sorted(self._unevaluated.items())
        )

    def _is_left_out(self, value: paths.Object, namespace: str, known: paths.Object | None) -> bool:
        """Whether the API server sends the object to no webhook, or the run covers another namespace."""
        if self._way.only_namespace and namespace != self._way.only_namespace:
            return True
        exempt = known is not None and constraints.text_labels(known).get(EXEMPTION_LABEL) == "true"
        return exempt or self._is_exempt(namespace or (_name(value) if constraints.is_namespace(value) else ""))

    def _known_namespace(self, name: str) -> paths.Object | None:
        """A Namespace from the facts, which know its labels but not its other fields."""
        found = self._facts.find(Reference(group="", kind="Namespace", name=name))
        return found if isinstance(found, dict) else None


def _name(value: paths.Object) -> str:
    return paths.text(paths.metadata(value).get("name"))


def _is_object(value: paths.Object) -> bool:
    return bool(value.get("apiVersion")) and not batches.why_not_object(value)


def _finding(violation: Violation, place: findings.Place | None) -> findings.Finding:
    return findings.Finding(judgement=evaluation.judgement_of_violation(violation), place=place, pod_set=None)


def _not_judged(entry: NotJudged, place: findings.Place | None) -> findings.NotJudged:
    return findings.NotJudged(unknown=evaluation.unknown_of_not_judged(entry), place=place)


def read_objects(arguments: Sequence[str]) -> Iterator[Written]:
    """The objects of files, and of all files below directories.

    Raises:
        InputError: a file cannot be read.
    """
    for batch in sources.read([_path_of_argument(argument) for argument in arguments], stdin=io.BytesIO()):
        for problem in batch.problems:
            raise errors.ManifestError(problem.reason, source=problem.source, line=problem.line, column=problem.column)
        for item in batch.items:
            yield Written(
                value=item.value, source=batch.source, line=item.document.line if item.document is not None else 0
            )


def read_library(given: Given, *, compiler: Callable[[], Compiler]) -> Library:
    """The templates and constraints in files, directories and bundles, compiled.

    Raises:
        InputError: a file cannot be read, an object in it is wrong, or there is no constraint.
    """
    built = [library.read_bundle(each.content, source=each.source) for each in given.bundles]
    found = library.compile_library(read_objects(given.files), compiler=compiler, built=built)
    if not found.constraints:
        names = [*given.files, *(each.source for each in given.bundles)]
        raise errors.InputError(
            f"no constraint found in {', '.join(names)}; a template does nothing without a constraint "
            f"({constraints.GROUP}) of its kind"
        )
    return found


def _path_of_argument(argument: str) -> str:
    """The path of an argument; `DIR/...` is gator's spelling for a directory with everything below it."""
    if argument == sources.STDIN:
        raise errors.InputError("-: policies are not read from standard input; name their files or directories")
    return argument.removesuffix("/...") or "/"


def read_named_objects(suite: str, path: str) -> list[Written]:
    """The objects of a file that a suite names; a List stays one object, as in gator.

    Raises:
        InputError: the file cannot be read.
    """
    file = Path(suite).parent / path
    try:
        with file.open("rb") as stream:
            content = stream.read(chunks.MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise errors.InputError(f"{file}: cannot be read: {reason[:1].lower()}{reason[1:]}") from None
    documents = reader.parse(content, source=str(file))
    return [
        Written(value=each.value, source=str(file), line=each.line)
        for each in documents
        if isinstance(each.value, dict) and not batches.why_not_object(each.value)
    ]


def read_suites(arguments: Sequence[str]) -> list[suites.Suite]:
    """The suites in files, and in all files below directories.

    Raises:
        InputError: a file cannot be read, or a suite is wrong.
    """
    return [suites.read_suite(written) for written in read_objects(arguments) if suites.is_suite(written.value)]
