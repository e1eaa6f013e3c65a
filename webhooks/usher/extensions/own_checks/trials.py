"""Tries own checks: their tests by `opa test`, their examples by the engine that judges objects, and their coverage."""

import contextlib
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import errors, model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import beside
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.config import load, models
from usher.documents import chunks, reader
from usher.extensions.own_checks import folders
from usher.extensions.own_checks.folders import LIBRARY, Check, Compiler, Folder
from usher.kinds.reading import values
from usher.kinds.reading.values import Absence
from usher.policy import config_problems, decision
from usher.policy.checks import catalogue as checks_catalogue
from usher.policy.checks.catalogue import Catalogue, OwnChecks
from usher.policy.decision import Identities, Operation, Request, User
from usher.policy.engines.engine import Entrypoint
from usher.policy.engines.wasm import WasmEngine
from usher.policy.input import document as input_document
from usher.workloads.normalise import normalise
from usher.workloads.roles import Roles
from usher.workloads.unread_keys import with_unread_keys


def input_of_example(
    value: Any,  # noqa: ANN401 - a manifest is arbitrary YAML
    others: values.Lookup,
    *,
    config: models.Config,
    keys: Mapping[str, str],
    cluster: Store,
) -> bytes:
    """The input document for a manifest, or for an AdmissionReview with a user or an old object, as JSON.

    Args:
        others: the other objects of its file, which `usher check` knows and a review does not.
        keys: keys of checks by the words that usher.yaml may use.
        cluster: the facts that the examples are for.

    Raises:
        InputError: usher does not judge the object, or cannot read a part of it.
    """
    request = value["request"] if value["kind"] == "AdmissionReview" else {"object": value}
    vocabulary = Vocabulary(config.accelerators)
    namespace = request.get("namespace", "")
    asked, identities = _request(request), Identities(config)
    read = partial(
        normalise,
        vocabulary=vocabulary,
        namespace=namespace,
        roles=Roles(config),
        believes_owner=identities.believe_owner(asked),
    )
    workload = read(request["object"], objects=cluster)
    if value["kind"] != "AdmissionReview":
        workload = with_unread_keys(workload, value, beside=others)
    if workload is None:
        raise errors.InputError("usher judges no objects of this kind")
    # The webhooks do not know the objects that an example refers to, either.
    misread = [each for each in workload.unknowns if Absence.NOT_KNOWN.value not in each.reason]
    if misread and not workload.unread_keys:
        raise errors.InputError(f"usher cannot read {misread[0].path}: {misread[0].reason}")
    known = Knowledge(facts=cluster, config=config, vocabulary=vocabulary)
    case = Case(workload=workload, beside=beside.of(workload, others, known))
    return input_document.Documents(known, keys=keys).build(
        workload,
        old=None if asked.old_value is None else read(asked.old_value),
        review=identities.review(asked),
        cluster=input_document.cluster_input(case, known),
        beside=case.beside,
    )


def _request(request: Mapping[str, Any]) -> Request:
    user = request.get("userInfo")
    return Request(
        value=request["object"],
        operation=Operation(request.get("operation", Operation.CREATE)),
        old_value=request.get("oldObject"),
        sub_resource=request.get("subResource", ""),
        user=None if user is None else User(name=user["username"], groups=tuple(user.get("groups", ()))),
    )


EXAMPLE_KINDS: Final = ("bad", "good", "unknown")
"""Starts of example names: the check finds something, finds nothing, or cannot decide."""
_BESIDE: Final = ("cluster.yaml", "usher.yaml")
"""Files beside the examples: facts of the cluster, and the configuration."""


class Example(Struct, frozen=True, kw_only=True):
    """One example of a check."""

    file: Path
    kind: str
    """One of KINDS."""
    document: bytes
    """JSON."""


def read_examples(check: Check, catalogue: Catalogue) -> list[Example]:
    """The examples of a check, by name.

    Args:
        catalogue: usher's checks and all own checks, which `usher.yaml` may name.

    Raises:
        InputError: an example cannot be read, is not an object that usher judges, or its name does not say its kind.
    """
    folder = check.examples
    files = [file for file in sorted(folder.glob("*")) if file.suffix in (".yaml", ".yml", ".json")]
    config = _configuration(folder / "usher.yaml", catalogue)
    facts = folder / "cluster.yaml"
    cluster = Store.of(_objects(facts)) if facts.exists() else Store()
    return [_example(file, config, catalogue.keys_of_checks, cluster) for file in files if file.name not in _BESIDE]


def _configuration(file: Path, catalogue: Catalogue) -> models.Config:
    if not file.exists():
        return models.Config()
    found = load.load(file, check=lambda config: config_problems.problems(config, catalogue))
    if problems := config_problems.problems(found, catalogue):
        raise load.config_error(file, problems)
    return found


def _example(file: Path, config: models.Config, keys: Mapping[str, str], cluster: Store) -> Example:
    kind = file.name.partition("_")[0]
    if kind not in EXAMPLE_KINDS:
        raise errors.InputError(
            f"{file}: begin the name with bad_, good_ or unknown_, so that it says what the check finds"
        )
    objects = _objects(file)
    if not objects:
        raise errors.InputError(f"{file}: holds no object")
    first, *others = objects
    request = first.get("request")
    if first.get("kind") == "AdmissionReview" and not (isinstance(request, dict) and request.get("object")):
        raise errors.InputError(f"{file}: the AdmissionReview has no request.object")
    around = values.Objects(objects) if others else values.NO_OBJECTS
    try:
        document = input_of_example(first, around, config=config, keys=keys, cluster=cluster)
    except errors.InputError as error:
        raise errors.InputError(f"{file}: {error}") from None
    except (KeyError, TypeError, AttributeError):
        raise errors.InputError(f"{file}: is not a Kubernetes object or an AdmissionReview that usher reads") from None
    return Example(file=file, kind=kind, document=document)


def _objects(file: Path) -> list[paths.Object]:
    try:
        with file.open("rb") as stream:
            content = stream.read(chunks.MAX_FILE_BYTES + 1)
    except OSError as error:
        raise errors.InputError(f"{file}: cannot be read: {error.strerror}") from None
    return [each.value for each in reader.parse(content, source=str(file)) if isinstance(each.value, dict)]


class Judged(Struct, frozen=True, kw_only=True):
    """A check, with its findings in each of its examples."""

    check: Check
    examples: tuple[tuple[Example, tuple[model.Finding, ...]], ...]


def engine_of_own_checks(compiled: OwnChecks) -> WasmEngine:
    """An engine with own checks alone; the caller closes it."""
    return WasmEngine(compiled.module, entrypoints=(Entrypoint.FINDINGS,), blames_object=False)


def judge_example(example: Example, key: str, asked: WasmEngine) -> tuple[list[model.Finding], list[model.Unknown]]:
    """The findings of one check in an example, and the parts that it cannot judge.

    Raises:
        EngineError: the check failed.
    """
    result = asked.evaluate(Entrypoint.FINDINGS, example.document)
    found = [finding for finding in decision.read_findings(result) if finding.check == key]
    return found, [part for part in decision.read_unknowns(result) if part.check == key]


def judged_checks(folder: Folder, compiler: Compiler) -> Iterator[Judged]:
    """Each check of a directory with its examples.

    Raises:
        InputError: a file cannot be read, or OPA refuses the Rego.
        EngineError: a check failed.
    """
    compiled = compiler.compiled(folder)
    catalogue = checks_catalogue.join_catalogues(checks_catalogue.load().catalogue, [compiled])
    with contextlib.closing(engine_of_own_checks(compiled)) as asked:
        for check in folder.checks:
            known = read_examples(check, catalogue)
            yield Judged(
                check=check,
                examples=tuple((each, tuple(judge_example(each, check.entry.key, asked)[0])) for each in known),
            )


_FAILED: Final = 2
"""The exit code of `opa test` where a test fails."""
_MOST_LINES: Final = 20
"""Lines of the values that a failed test shows."""


class Failure(Struct, frozen=True, kw_only=True):
    """One mistake in a check, and its place."""

    place: str
    """File, or file and line."""
    reason: str
    detail: str = ""
    """Lines with the values of the expression that failed."""


class Trial(Struct, frozen=True, kw_only=True):
    """The results of one check's tests and examples; without a code for files that several checks share."""

    code: str
    name: str
    tests: int
    examples: int
    failures: tuple[Failure, ...]
    coverage: float | None
    """Percent of the lines of the rule; None where a test failed, because then opa measures nothing."""
    uncovered: tuple[str, ...]
    """Places that no test reaches: a file with a line, or with the first and the last of several."""

    @property
    def passed(self) -> bool:
        return not self.failures


def run_trials(folder: Folder, compiler: Compiler, *, coverage: float = 0) -> list[Trial]:
    """The trial of each check, and of the libraries of the site if it has any.

    Args:
        folder: the checks.
        compiler: of this machine's opa.
        coverage: the least percentage of each rule's lines that its tests must reach.

    Raises:
        InputError: a file cannot be read, or OPA refuses the Rego.
    """
    compiled = compiler.compiled(folder)
    catalogue = checks_catalogue.join_catalogues(checks_catalogue.load().catalogue, [compiled])
    known = {check.entry.key: read_examples(check, catalogue) for check in folder.checks}
    with tempfile.TemporaryDirectory(prefix="usher-checks-") as name:
        place = Path(name)
        folders.write_sources(place, folders.rego_sources(folder, tests=True))
        (place / "examples.json").write_bytes(_tree(known))
        measured = _measured(folder, compiler, place)
    with contextlib.closing(engine_of_own_checks(compiled)) as engine:
        trials = [_of_check(check, known[check.entry.key], engine, measured) for check in folder.checks]
    if folder.libraries:
        trials.append(_of_libraries(folder, measured))
    return [_with_threshold(each, coverage) for each in trials]


class _Measured(Struct, frozen=True, kw_only=True):
    """The results of `opa test` for all tests."""

    folder: Folder
    tests: Sequence[Mapping[str, Any]]
    details: Mapping[str, str]
    """The values of failed tests, by package and name."""
    covered: Mapping[str, Mapping[str, Any]]
    """The covered lines by file; empty if a test failed."""

    def of(self, package: re.Pattern[str]) -> list[Mapping[str, Any]]:
        return [each for each in self.tests if package.fullmatch(each["package"])]

    def failures(self, tests: Sequence[Mapping[str, Any]]) -> Iterator[Failure]:
        for test in tests:
            if not (test.get("fail") or test.get("error")):
                continue
            at = test["location"]
            reason = test.get("error", {}).get("message", "")
            yield Failure(
                place=f"{folders.with_site_files(at['file'], self.folder)}:{at['row']}",
                reason=f"{test['name']} fails{f': {reason}' if reason else ''}",
                detail=folders.with_site_files(self.details.get(f"{test['package']}.{test['name']}", ""), self.folder),
            )

    def coverage(self, files: Sequence[Path]) -> tuple[float | None, tuple[str, ...]]:
        """Percent of the lines of some files, and the places that no test reaches."""
        if not self.covered:
            return None, ()
        hit = missed = 0
        places = []
        for file in files:
            found = self.covered.get(f"{folders.OWN}/{file.relative_to(self.folder.directory).as_posix()}", {})
            hit += sum(_lines(each) for each in found.get("covered", []))
            for each in found.get("not_covered", []):
                missed += _lines(each)
                first, last = each["start"]["row"], each["end"]["row"]
                places.append(f"{file}:{first}" if first == last else f"{file}:{first}-{last}")
        return (100 * hit / (hit + missed) if hit + missed else 100.0), tuple(places)


def _lines(span: Mapping[str, Any]) -> int:
    return int(span["end"]["row"]) - int(span["start"]["row"]) + 1


def _measured(folder: Folder, compiler: Compiler, place: Path) -> _Measured:
    def opa(*options: str) -> str:
        data = ("usher", folders.OWN, "examples.json")
        accepted = (0, _FAILED)
        return folders.run_opa(
            compiler.opa, "test", "--ignore", "*.yaml", *options, *data, place=place, folder=folder, accepted=accepted
        )

    tests = json.loads(opa("--format", "json") or "[]")
    if any(each.get("fail") or each.get("error") for each in tests):
        return _Measured(folder=folder, tests=tests, details=_details(opa("--var-values")), covered={})
    covered = json.loads(opa("--coverage", "--format", "json"))["files"] if tests else {}
    return _Measured(folder=folder, tests=tests, details={}, covered=covered)


_HEAD: Final = re.compile(r"^(data\.\S+): FAIL .*$")


def _details(text: str) -> dict[str, str]:
    """The expressions and values that opa prints for each failed test, by package and name."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.partition("\nFAILURES\n")[2].splitlines():
        if head := _HEAD.match(line):
            name = head[1]
            found[name] = []
        elif name and not line.startswith("---"):
            found[name].append(line)
        else:
            name = ""
    return {key: "\n".join(lines[:_MOST_LINES]).strip("\n") for key, lines in found.items()}


def _of_check(check: Check, known: Sequence[Example], engine: WasmEngine, measured: _Measured) -> Trial:
    name = check.rule.parent.name
    tests = measured.of(re.compile(rf"data\.usher\.checks\.{checks_catalogue.OWN_CATEGORY}\.{name}_test"))
    coverage, uncovered = measured.coverage([check.rule])
    folder = check.rule.parent
    missing = [
        Failure(place=str(check.examples), reason=f"has no {kind} example, {kind}_NAME.yaml")
        for kind in ("bad", "good")
        if not any(each.kind == kind for each in known)
    ]
    if not tests:
        missing.append(Failure(place=str(folder / f"{name}_test.rego"), reason="has no test"))
    return Trial(
        code=check.entry.code,
        name=check.entry.name,
        tests=len(tests),
        examples=len(known),
        failures=(*missing, *measured.failures(tests), *_of_examples(check.entry.key, known, engine)),
        coverage=coverage,
        uncovered=uncovered,
    )


def _of_libraries(folder: Folder, measured: _Measured) -> Trial:
    tests = measured.of(re.compile(r"data\.site\..*"))
    rules = [file for file in folder.libraries if not file.name.endswith("_test.rego")]
    coverage, uncovered = measured.coverage(rules)
    return Trial(
        code="",
        name=LIBRARY,
        tests=len(tests),
        examples=0,
        failures=tuple(measured.failures(tests)),
        coverage=coverage,
        uncovered=uncovered,
    )


def _of_examples(key: str, known: Sequence[Example], engine: WasmEngine) -> Iterator[Failure]:
    for each in known:
        try:
            found, unknown = judge_example(each, key, engine)
        except errors.EngineError as error:
            yield Failure(place=str(each.file), reason=f"the check cannot judge it: {error}")
            continue
        if each.kind == "bad" and not found:
            yield Failure(place=str(each.file), reason="the check finds nothing in a bad example")
        if each.kind == "good" and found:
            yield Failure(
                place=str(each.file), reason=f"the check finds something in a good example: {found[0].message:.500}"
            )
        if each.kind == "unknown" and not unknown:
            yield Failure(place=str(each.file), reason="the check decides about an unknown example")


def _with_threshold(trial: Trial, least: float) -> Trial:
    if trial.coverage is None or trial.coverage >= least:
        return trial
    reason = f"tests reach {trial.coverage:.1f} % of its lines, fewer than the {least:g} % of --coverage"
    failure = Failure(place=trial.uncovered[0] if trial.uncovered else trial.name, reason=reason)
    return replace(trial, failures=(*trial.failures, failure))


def _tree(known: Mapping[str, Sequence[Example]]) -> bytes:
    """The documents as tests find them in `data.examples`: by kind, category and name."""
    by_name = {
        key.partition("/")[2]: {each.file.stem: orjson.Fragment(each.document) for each in found}
        for key, found in known.items()
    }
    return orjson.dumps({"examples": {"checks": {checks_catalogue.OWN_CATEGORY: by_name}}})
