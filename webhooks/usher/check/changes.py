"""The changes of a run: objects that differ from an earlier commit of its files, and findings that no baseline has.

A baseline holds the findings that a site already knows, so that only new ones fail. It names checks, objects and places
but not files or lines, so that findings in moved and renamed files stay known. It also has what they measure: the
values in a message, the value at the place, and how many pods and accelerators the object has. A finding with another
value, or about more pods or accelerators, is new.
"""

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import orjson
from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError
from pydantic.alias_generators import to_camel

from usher import errors, model, paths
from usher.check import devices, findings, programs, sources, surroundings
from usher.check.batches import Batch
from usher.check.devices import Amount
from usher.config import models
from usher.documents import chunks
from usher.extensions import installed_programs
from usher.kinds import registry
from usher.policy import excused_findings
from usher.policy.checks.catalogue import About
from usher.workloads.grown_workloads import growth_of


class Changes(Struct, frozen=True, kw_only=True):
    """The changes since an earlier state."""

    since: str
    """The user's name for the earlier state."""
    sources: frozenset[str]
    """Names of the files that changed or are new."""
    known: frozenset[bytes]
    """Digests of all earlier objects in these files, independent of their place."""
    names: frozenset[str]
    """Names of objects that changed or are gone and that others may name, and of the targets of changed autoscalers."""
    selectors: tuple[frozenset[tuple[str, str]], ...]
    """The labels by which changed Services select pods."""

    def concerns(self, value: paths.Object, source: str) -> bool:
        """Whether an object changed, or refers to one that did."""
        if source in self.sources and object_digest(value) not in self.known:
            return True
        return not self.names.isdisjoint(_texts(value)) or self._selects(value)

    def _selects(self, value: paths.Object) -> bool:
        """Whether a changed Service selects the labels of an object or of a template in it."""
        return any(
            selector <= {(key, text) for key, text in each.items() if isinstance(text, str)}
            for each in (_mappings(value) if self.selectors else ())
            for selector in self.selectors
        )


def changes_between(before: Iterable[Batch], now: Iterable[Batch], *, since: str, namespace: str) -> Changes:
    """The changes of some files.

    Args:
        before: the files in their earlier state, including deleted ones.
        now: the files in their present state.
        since: the user's name for the earlier state.
        namespace: the namespace of objects without one.
    """
    after = list(now)
    old = {object_digest(item.value): item.value for batch in before for item in batch.items}
    new = {object_digest(item.value): item.value for batch in after for item in batch.items}
    differing = [value for found, other in ((old, new), (new, old)) for key, value in found.items() if key not in other]
    return Changes(
        since=since,
        sources=frozenset(batch.source for batch in after),
        known=frozenset(old),
        names=frozenset(name for value in differing for name in _names(value, namespace)),
        selectors=tuple(filter(None, map(_selector, differing))),
    )


def object_digest(value: paths.Object) -> bytes:
    """The digest of an object, independent of the order of its fields."""
    try:
        return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).digest()
    except orjson.JSONEncodeError:  # half surrogates and very large integers
        return hashlib.sha256(repr(value).encode(errors="backslashreplace")).digest()


def _names(value: paths.Object, namespace: str) -> Iterator[str]:
    named = surroundings.named(value, namespace)
    if (named.group, named.kind) not in registry.NEVER_NAMED:
        yield from filter(None, [named.name])
    growth = growth_of(value, namespace=namespace)
    if growth is not None:
        yield from filter(None, [growth.target.name])


def _selector(value: paths.Object) -> frozenset[tuple[str, str]]:
    """The labels that a Service selects; empty for any other object."""
    spec = value.get("spec")
    if (value.get("apiVersion"), value.get("kind")) != ("v1", "Service") or not isinstance(spec, dict):
        return frozenset()
    selector = spec.get("selector")
    labels = selector.items() if isinstance(selector, dict) else ()
    return frozenset((key, text) for key, text in labels if isinstance(text, str))


def _texts(value: paths.Json) -> Iterator[str]:
    return (each for each in _parts(value) if isinstance(each, str))


def _mappings(value: paths.Json) -> Iterator[paths.Object]:
    return (each for each in _parts(value) if isinstance(each, dict))


def _parts(value: paths.Json) -> Iterator[paths.Json]:
    pending = [value]
    while pending:
        each = pending.pop()
        yield each
        if isinstance(each, dict):
            pending.extend(each.values())
        elif isinstance(each, list):
            pending.extend(each)


class _Difference(Struct, frozen=True, kw_only=True):
    before: Mapping[str, programs.Blob]
    """Files of the commit that may hold manifests, and that changed or are gone, by their path from the top."""
    same: frozenset[str]
    """Absolute paths of files of the run that did not change."""

    def leaves(self, found: sources.FileOrBatch) -> bool:
        """Whether a file is unchanged. Files outside the commit are new: ignored files, other folders, a stream."""
        return isinstance(found, sources.File) and os.path.realpath(found.path) in self.same


def changed_since(revision: str, found: Sequence[sources.FileOrBatch], *, namespace: str) -> Changes:
    """The changes of a run's files since their branch left a revision, including uncommitted changes.

    Files are compared byte for byte with what git keeps, so no attribute and no flag of the index hides a change.

    Args:
        revision: a commit, a branch or a tag.
        namespace: the namespace of objects without one.

    Raises:
        InputError: git is missing, or does not know the revision.
    """
    repository = repository_for("--changed-since")
    commit = named_commit(repository, revision, option="--changed-since")
    try:
        base = repository.text("merge-base", commit, "HEAD")
    except errors.InputError:  # without a common ancestor
        base = commit
    difference = _difference(repository, base, found)
    now = [sources.load(each) for each in found if not difference.leaves(each)]
    return changes_between(_earlier_batches(repository, difference), now, since=revision, namespace=namespace)


def repository_for(option: str) -> programs.Repository:
    """The repository of the working directory, which an option needs.

    Raises:
        InputError: it has no repository, or git is missing or refuses it.
    """
    if installed_programs.find_program("git") is None:
        raise errors.InputError(f"{option} needs git, which is not installed")
    repository = programs.Repository.around(Path())
    if repository is None:
        raise errors.InputError(
            f"{option} needs a repository of git, but no folder around the working directory is one"
        )
    return repository


def named_commit(repository: programs.Repository, revision: str, *, option: str) -> str:
    """The name of the commit of a revision that an option has.

    Raises:
        InputError: git knows no commit of this name.
    """
    try:
        return repository.commit(revision)
    except errors.InputError as error:
        raise errors.InputError(f"{option} {revision}: {error}") from None


def _difference(repository: programs.Repository, base: str, found: Sequence[sources.FileOrBatch]) -> _Difference:
    """The difference between a commit and the present files."""
    top = os.path.realpath(repository.top)
    named = {os.path.realpath(each.path) for each in found if isinstance(each, sources.File)}
    of_run = {path.removeprefix(f"{top}/") for path in named if path.startswith(f"{top}/")}
    before, same = dict[str, programs.Blob](), set[str]()
    for name, blob in repository.files(base).items():
        may_hold = name.endswith(sources.SUFFIXES)
        if blob.is_link or (not may_hold and name not in of_run):
            continue
        if repository.holds_unchanged(name, blob):
            same.add(f"{top}/{name}")
        elif may_hold:
            before[name] = blob
    return _Difference(before=before, same=frozenset(same))


def _earlier_batches(repository: programs.Repository, difference: _Difference) -> Iterator[Batch]:
    """The files of the commit that changed. One that is too large is left out, so its objects count as new."""
    for name, blob in sorted(difference.before.items()):
        if blob.size <= chunks.MAX_FILE_BYTES:
            yield sources.parse_content(repository.content(blob), source=name, explicit=False)


class RevisionFiles(Struct, frozen=True, kw_only=True):
    """The files of a commit, written into a folder where a run needs them instead of those of the tree."""

    repository: programs.Repository
    revision: str
    """The user's name for the commit."""
    files: Mapping[str, programs.Blob]
    folder: Path

    @classmethod
    def of(cls, revision: str, folder: Path, *, option: str) -> "RevisionFiles":
        """The files of a revision of the repository of the working directory.

        Raises:
            InputError: git is missing, or does not know the revision.
        """
        repository = repository_for(option)
        commit = named_commit(repository, revision, option=option)
        return cls(repository=repository, revision=revision, files=repository.files(commit), folder=folder)

    def written(self, path: str) -> str | None:
        """The path of the written copy of a file or folder; None if the commit lacks it.

        A path outside of the repository stays, because no pull request can change it.

        Raises:
            InputError: it is, or holds, a link; or it cannot be written.
        """
        name = self._name(path)
        if name is None:
            return path
        below = {
            each: blob
            for each, blob in self.files.items()
            if each == name or each.startswith(f"{name}/") or name == os.curdir
        }
        for each, blob in below.items():
            if blob.is_link:
                raise errors.InputError(f"{each} is a link in {self.revision}; name the file that it leads to")
            place = self.folder / each
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(self.repository.content(blob))
        return os.fspath(self.folder / name) if below else None

    def differs(self, path: str) -> bool:
        """Whether a file or folder of the tree is not the one of the commit."""
        name = self._name(path)
        if name is None:
            return False
        here = self.repository.top / name
        found = (
            {name}
            if here.is_file()
            else {
                os.path.relpath(Path(folder) / file, self.repository.top)
                for folder, _, files in os.walk(here)
                for file in files
            }
        )
        known = {each for each in self.files if each == name or each.startswith(f"{name}/")}
        return found != known or not all(self.repository.holds_unchanged(each, self.files[each]) for each in known)

    def _name(self, path: str) -> str | None:
        """The path from the top of the repository; None for one outside, by its words and by its links."""
        lexical = os.path.abspath(path)  # noqa: PTH100 - a link of the tree must not lead out of the commit
        for absolute in (lexical, os.path.realpath(path)):
            if absolute == os.fspath(self.repository.top) or absolute.startswith(f"{self.repository.top}/"):
                return os.path.relpath(absolute, self.repository.top)
        return None


KIND: Final = "Baseline"


class KnownFinding(NamedTuple):
    """A finding without the parts that change while it stays the same."""

    check: str
    """The key of the check: `resources/whole_gpus_only`."""
    api_version: str
    kind: str
    namespace: str
    name: str
    path: str
    message: str
    """Without numbers if facts of the cluster decide the finding, because they change from day to day."""
    value_digest: str
    amounts: tuple[tuple[str, str], ...]
    """The pods, and the accelerators by resource; `80`, or `80+` without an upper bound."""

    @property
    def identity(self) -> tuple[str, ...]:
        """All but the amounts. A finding may have smaller ones."""
        return self[:-1]

    def covers(self, other: "KnownFinding") -> bool:
        """Whether another finding with this identity is about no more pods and accelerators."""
        return excused_findings.are_no_more(_parsed(other.amounts), _parsed(self.amounts))


KnownFindings = Counter[KnownFinding]
"""The number of known occurrences of each finding."""

_STRICT: Final = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel, defer_build=True)


class _Entry(BaseModel):
    model_config = _STRICT

    check: str
    api_version: str
    kind: str
    namespace: str
    name: str
    path: str
    message: str
    value_digest: str
    amounts: dict[str, Annotated[str, Field(pattern=r"^\d{1,40}(?:\.\d{1,40})?\+?$")]]
    count: PositiveInt = 1


class _File(BaseModel):
    model_config = _STRICT

    api_version: Literal["gpu-usher.io/v1alpha1"]
    kind: Literal["Baseline"]
    findings: list[_Entry]


class Compared(Struct, frozen=True, kw_only=True):
    """A report without the findings of a baseline."""

    report: findings.Report
    known: int
    """The number of findings that were left out."""
    remaining: KnownFindings
    """The findings of the baseline that the run still has."""
    gone: int
    """The number of findings that the run no longer has."""


def baseline_of(report: findings.Report) -> KnownFindings:
    """The findings of a report, without those that an exception of usher.yaml covers."""
    return Counter(
        known_finding(report, result, finding)
        for result in report.results
        for finding in result.findings
        if finding.judgement.exception is None
    )


def known_finding(report: findings.Report, result: findings.Result, finding: findings.Finding) -> KnownFinding:
    """A finding of a report as a baseline keeps it."""
    key, found = findings.fingerprint(result, finding), finding.judgement.finding
    rule = report.rules.get(found.check)
    of_facts = rule is not None and rule.about is About.CLUSTER_FACTS
    pods = devices.of_pods(finding.pod_set.pods if finding.pod_set is not None else result.pods)
    amounts = {excused_findings.PODS: pods, **result.accelerators}
    return KnownFinding(
        **{**key._asdict(), "message": key.message if of_facts else found.message},
        value_digest=finding.value_digest,
        amounts=tuple(sorted((name, _text(amount)) for name, amount in amounts.items() if amount)),
    )


def _text(amount: Amount) -> str:
    return f"{Decimal(amount.number):f}{'+' if amount.unbounded else ''}"


def _parsed(amounts: Sequence[tuple[str, str]]) -> excused_findings.Amounts:
    return {name: (text.endswith("+"), Decimal(text.removesuffix("+"))) for name, text in amounts}


def baseline_bytes(known: KnownFindings) -> bytes:
    """The content of a baseline file: in a stable order, one finding on each line, so that a review shows
    the changes.
    """
    entries = [
        {
            **{to_camel(name): value for name, value in key._asdict().items()},
            "amounts": dict(key.amounts),
            **({"count": count} if count > 1 else {}),
        }
        for key, count in sorted(known.items())
        if count > 0
    ]
    baseline = {"apiVersion": models.API_VERSION, "kind": KIND, "findings": entries}
    return orjson.dumps(baseline, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def read_baseline(content: bytes, *, source: str) -> KnownFindings:
    """The findings of a baseline.

    Raises:
        InputError: the file is not a baseline.
    """
    try:
        found = _File.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise errors.InputError(
            f"{source}: not a baseline ({place + ': ' if place else ''}{first['msg']}); make one with --write-baseline"
        ) from None
    known: KnownFindings = Counter()
    for each in found.findings:
        values: dict[str, Any] = each.model_dump(exclude={"count", "amounts"})
        known[KnownFinding(**values, amounts=tuple(sorted(each.amounts.items())))] += each.count
    return known


def compared_with_baseline(report: findings.Report, known: KnownFindings) -> Compared:
    """The report with only the new findings. Among equal findings, the last ones are new."""
    left, results = known.copy(), list[findings.Result]()
    alike = defaultdict[tuple[str, ...], list[KnownFinding]](list)
    for each in sorted(known, key=lambda each: [*_parsed(each.amounts).values()]):
        alike[each.identity].append(each)
    for result in report.results:
        new = tuple(_new_findings(report, result, left, alike))
        results.append(result if len(new) == len(result.findings) else replace(result, findings=new))
    remaining = known - left
    return Compared(
        report=replace(report, results=tuple(results), totals=_totals(report.totals, results)),
        known=remaining.total(),
        remaining=remaining,
        gone=left.total(),
    )


def _new_findings(
    report: findings.Report,
    result: findings.Result,
    left: KnownFindings,
    alike: Mapping[tuple[str, ...], Sequence[KnownFinding]],
) -> Iterator[findings.Finding]:
    """The findings that no entry covers; takes the entries that cover others from `left`."""
    for finding in result.findings:
        key = known_finding(report, result, finding)
        entries = alike.get(key.identity, ())
        covering = next((each for each in entries if left[each] > 0 and each.covers(key)), None)
        if covering is None:
            yield finding
        else:
            left[covering] -= 1


def _totals(totals: findings.Totals, results: list[findings.Result]) -> findings.Totals:
    outcomes = Counter(finding.judgement.outcome for result in results for finding in result.findings)
    return replace(
        totals,
        errors=outcomes[model.Outcome.DENY],
        warnings=outcomes[model.Outcome.WARN],
        notes=outcomes[model.Outcome.AUDIT],
        accelerators_with_errors=devices.added(
            result.accelerators for result in results if not result.is_template and result.worst is model.Outcome.DENY
        ),
    )
