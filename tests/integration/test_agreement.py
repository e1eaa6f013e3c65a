"""One evaluator, three callers: the webhook, `usher check` and `usher audit` say the same about every manifest."""

import base64
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from http.client import HTTPSConnection
from itertools import chain
from pathlib import Path
from typing import Any

import jsonpatch
import orjson
import pytest
import record_findings
import yaml

import generated_examples
import reviews
import server_process
import shared_files
from acceptance import manifest
from integration import command
from server_process import JSON, ServerProcess
from shared_files import OWN, PUBLISHED, Corpus
from usher import paths
from usher.check import sources, surroundings
from usher.check.batches import group_and_kind
from usher.cluster.facts import store
from usher.cluster.facts.store import Recorded, State
from usher.config.load import load
from usher.kinds import kind as kinds_kind
from usher.kinds import registry
from usher.policy import assembly
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import About
from usher.policy.evaluator import Evaluator
from usher.review import admission_review, webhooks
from usher.workloads.normalise import normalise
from usher.workloads.unread_keys import with_unread_keys

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
SITE = ROOT / "examples" / "usher.yaml"

OF_THE_USER = {"USH443", "USH1201", "USH1202", "USH1236", "USH1237", "USH1433"}
"""Checks whose verdict depends on who makes the object, which only a request tells."""
UNREAD_KEYS = {each.code for each in catalogue.load().catalogue.checks.values() if each.about is About.UNREAD_KEYS}
"""Checks of keys that nothing reads and of names inside an object: the API server often refuses these first."""
OF_ADMINISTRATORS = {"PersistentVolume"}
"""Kinds about which `check` only warns, because administrators may make them as they like."""
WHO = re.compile(r"does not know which user|knows the user")
"""Why `check` does not know what these checks would say."""
OF_FACTS = {"gang/pod_group_not_there", "gang/volcano_queue_not_there", "priority/class_unknown"}
"""Checks that ask whether an object exists. An audit takes the files for the cluster; `check` asks only facts."""
PLACE = ("line", "column", "excerpt")
"""Fields of a finding that say where it stands in a text."""
NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
AT_LEAST = {OWN: 60, PUBLISHED: 250}
"""Workloads in a corpus."""

UNRECOGNISED = {OWN: "Experiment", PUBLISHED: "ClusterServiceVersion"}
"""A kind in a corpus that holds a pod spec and that usher does not know."""


@pytest.fixture(
    scope="module",
    # A change is tried at the site that declares most: without these the same code has less to say.
    params=[pytest.param("defaults", marks=pytest.mark.thorough), "declared pools, queues and routes"],
)
def config(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return () if request.param == "defaults" else (f"--config={SITE}",)


@pytest.fixture(scope="module")
def webhook(config: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with server_process.running(tmp_path_factory.mktemp("server"), arguments=config) as server:
        yield server


@pytest.fixture(scope="module", params=shared_files.thorough_corpora)
def corpus(request: pytest.FixtureRequest) -> Corpus:
    chosen: Corpus = request.param
    return chosen


@pytest.fixture(scope="module")
def objects(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every object of the corpus in a file of its own: a request to a webhook does not tell of the others either."""
    folder = tmp_path_factory.mktemp("objects")
    batches = sources.read([str(corpus.folder)], stdin=io.BytesIO())
    for number, item in enumerate(item for batch in batches for item in batch.items):
        (folder / f"{number:04}.json").write_bytes(orjson.dumps(item.value))
    return folder


@pytest.fixture(scope="module")
def checked(config: tuple[str, ...], objects: Path) -> list[Any]:
    """The verdict of `usher check` by workload. A request to a webhook knows no queues of other files."""
    return check(*config, "--facts=none", objects)


def check(*arguments: Path | str) -> list[Any]:
    done = command.usher("check", "--format=json", *arguments)
    assert done.code == 1, done.err
    found: list[Any] = done.json["workloads"]
    assert done.json["failures"] == []
    return found


def workloads(objects: Path) -> list[paths.Object]:
    """Every workload among the objects, in the order in which the commands meet them."""
    vocabulary = assembly.embedded(load(SITE)).vocabulary
    batches = sources.read([str(objects)], stdin=io.BytesIO())
    values = [item.value for batch in batches for item in batch.items]
    found = [(with_unread_keys(normalise(value, vocabulary=vocabulary), value), value) for value in values]
    return [value for workload, value in found if workload is not None]


def verdict(findings: list[Any]) -> dict[str, set[str]]:
    """Codes by outcome, without those of keys that nothing reads."""
    result: dict[str, set[str]] = {}
    for finding in findings:
        if finding["code"] in UNREAD_KEYS:
            continue
        result.setdefault(finding["outcome"], set()).add(finding["code"])
    return result


def test_the_webhooks_decide_as_check_does(
    webhook: ServerProcess, corpus: Corpus, objects: Path, checked: list[Any]
) -> None:
    """The mutating webhook goes first, as in a cluster."""
    values = workloads(objects)
    assert len(values) == len(checked) >= AT_LEAST[corpus]
    with webhook.connection() as connection:
        for value, expected in zip(values, checked, strict=True):
            # An agent whose file leaves its namespace open is judged by the namespace that a request has.
            if value["kind"] == "DaemonSet" and not NAMESPACE.fullmatch(
                paths.text(paths.metadata(value).get("namespace"))
            ):
                continue
            assert_agrees(connection, admitted(connection, value, expected), expected)


def ask(connection: HTTPSConnection, path: str, value: paths.Object) -> server_process.Answer:
    metadata: Any = value.get("metadata") or {}
    body = reviews.body(value, namespace=metadata.get("namespace") or "default", name=metadata.get("name") or "")
    answer = server_process.ask(connection, "POST", path, body=body, headers=JSON)
    assert answer.status == 200, (value, answer.body)
    return answer


def admitted(connection: HTTPSConnection, value: paths.Object, expected: Any) -> paths.Object:
    """The object as the mutating webhook leaves it, which is what the workload of a report says."""
    patch = ask(connection, "/mutate", value).response.get("patch", "")
    operations = orjson.loads(base64.b64decode(patch)) if patch else []
    assert operations == expected.get("mutation", {"operations": []})["operations"]
    changed: paths.Object = jsonpatch.apply_patch(value, operations)
    return changed


def assert_agrees(connection: HTTPSConnection, value: paths.Object, expected: Any) -> None:
    """The validating webhook says of an object what the workload of a report says."""
    answer = ask(connection, "/validate", value)
    annotations = answer.response.get("auditAnnotations", {})

    decided = {
        outcome: set(annotations[outcome].split(",")) for outcome in ("deny", "warn", "audit") if outcome in annotations
    }
    by_user = decided.get("deny", set()) & OF_THE_USER
    decided["deny"] = decided.get("deny", set()) - OF_THE_USER
    # The API server keeps a few of these keys.
    decided = {outcome: codes - UNREAD_KEYS for outcome, codes in decided.items()}
    assert {outcome: codes for outcome, codes in decided.items() if codes} == verdict(expected["findings"]), expected
    denials = [
        finding["message"]
        for finding in expected["findings"]
        if finding["outcome"] == "deny" and finding["code"] not in UNREAD_KEYS
    ]
    assert answer.response["allowed"] is not bool(denials or by_user)
    for message in denials:
        assert message in answer.response["status"]["message"]


def of_examples() -> list[paths.Object]:
    """The example manifests of all checks and mutations."""
    folders = sorted((ROOT / "policies" / "usher").glob("*/*/*/examples"))
    values = chain.from_iterable(
        yaml.safe_load_all(file.read_text()) for folder in folders for file in record_findings.manifests(folder)
    )
    return [value for value in values if value and value["kind"] not in {"AdmissionReview", *OF_ADMINISTRATORS}]


def of_corpus(corpus: Corpus) -> list[paths.Object]:
    batches = sources.read([str(corpus.folder)], stdin=io.BytesIO())
    return [item.value for batch in batches for item in batch.items]


def as_stored(value: paths.Object) -> paths.Object:
    """The object in a namespace that exists: charts leave it open, and manifests leave it out."""
    metadata = paths.metadata(value)
    if NAMESPACE.fullmatch(paths.text(metadata.get("namespace"))):
        return value
    return {**value, "metadata": {**metadata, "namespace": "default"}}


@pytest.mark.parametrize(
    ("read", "least"),
    [
        pytest.param(lambda: of_corpus(OWN), 60, id="own"),
        pytest.param(lambda: of_examples()[::68], 25, id="some examples"),
        pytest.param(of_examples, 1900, id="examples", marks=pytest.mark.thorough),
        pytest.param(
            lambda: of_corpus(PUBLISHED),
            500,
            id="published",
            marks=[shared_files.needs_shared("manifests of public projects"), pytest.mark.thorough],
        ),
    ],
)
def test_a_review_and_check_read_an_object_alike_to_the_last_word(
    read: Callable[[], list[paths.Object]], least: int, tmp_path: Path
) -> None:
    """Every finding with its place and its remedy, everything unknown, and every change."""
    for number, value in enumerate(map(as_stored, read())):
        (tmp_path / f"{number:04}.json").write_bytes(orjson.dumps(value, default=str))
    checked = check(f"--config={SITE}", "--facts=none", tmp_path)
    values = workloads(tmp_path)
    evaluator = assembly.embedded(load(SITE))
    assert len(values) == len(checked) >= least

    for value, expected in zip(values, checked, strict=True):
        assert said_by_a_review(value, evaluator) == said_by_check(expected)


def said_by_a_review(value: paths.Object, evaluator: Evaluator) -> tuple[Any, ...]:
    response = orjson.loads(webhooks.mutate(reviews.body(value), evaluator).body)["response"]
    operations = orjson.loads(base64.b64decode(response["patch"])) if "patch" in response else []
    changed = jsonpatch.apply_patch(value, operations)
    decision = webhooks.decide(admission_review.parse(reviews.body(changed)), evaluator)
    findings = Counter(
        (
            evaluator.catalogue.checks[each.finding.check].code,
            str(each.outcome),
            each.finding.path,
            each.finding.message,
            each.finding.remedy,
        )
        for each in decision.judgements
    )
    return (
        operations,
        without_those(OF_THE_USER | UNREAD_KEYS, findings),
        Counter((each.path, each.reason) for each in decision.unknowns),
    )


def said_by_check(workload: Any) -> tuple[Any, ...]:
    fields = ("code", "outcome", "path", "message", "remedy")
    findings = Counter(tuple(each[field] for field in fields) for each in workload["findings"])
    unknowns = Counter(
        (each["path"], each["reason"]) for each in workload["unknowns"] if not WHO.search(each["reason"])
    )
    operations = workload.get("mutation", {"operations": []})["operations"]
    return operations, without_those(OF_THE_USER | UNREAD_KEYS, findings), unknowns


def without_those(codes: set[str], findings: Counter[Any]) -> Counter[Any]:
    return Counter({each: number for each, number in findings.items() if each[0] not in codes})


def test_audit_finds_what_check_finds(
    config: tuple[str, ...], corpus: Corpus, objects: Path, checked: list[Any]
) -> None:
    """Admission would change a manifest, and has changed what exists."""
    as_written = check(*config, "--as-written", objects)
    done = command.usher("audit", *config, "--format=findings", objects)

    audited = {(found["source"], found["line"]): found for found in done.json["workloads"]}

    assert len(audited) >= AT_LEAST[corpus]
    for admitted, written in zip(checked, as_written, strict=True):
        found = audited.get((admitted["source"], admitted["line"]))
        if found is not None:
            expected = written if exists(Path(found["source"])) else admitted
            assert [each for each in found["findings"] if each["check"] not in OF_FACTS] == expected["findings"]
            unknowns = [
                {**each, "reason": each["reason"].replace("does not exist:", "is not known here:")}
                for each in found["unknowns"]
                if "the facts of the cluster contain no" not in each["reason"]
            ]
            assert unknowns == expected["unknowns"]
    left_out = done.json["summary"]["owned"] + done.json["summary"]["finished"]
    assert len(audited) == len(checked) - left_out


def exists(file: Path) -> bool:
    """Whether the object of a file comes from a cluster."""
    return bool((orjson.loads(file.read_bytes()).get("metadata") or {}).get("uid"))


def without_places(workload: Any) -> Any:
    return {
        **workload,
        **{
            part: [{key: value for key, value in each.items() if key not in PLACE} for each in workload[part]]
            for part in ("findings", "unknowns")
        },
    }


def test_what_cannot_be_judged_is_named(corpus: Corpus, checked: list[Any]) -> None:
    """A kind that usher does not know yet but that holds a pod spec is named, with its place."""
    reasons = [item["reason"] for found in checked for item in found["unknowns"]]

    assert any(f"unrecognised kind {UNRECOGNISED[corpus]}" in reason for reason in reasons)


# With facts of a cluster.

EXAMPLES = sorted(file.parent for file in (ROOT / "policies" / "usher").glob("checks/*/*/examples/cluster.yaml"))

FROM_FACTS = 18
"""Checks that find something by what is in the cluster, of those below; no more can in one that they all share."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of a cluster that holds the facts of all examples: of several of one name those of the last."""
    by_place: dict[kinds_kind.Key, dict[tuple[str, str], paths.Object]] = {}
    for folder in EXAMPLES:
        for value in filter(None, yaml.safe_load_all((folder / "cluster.yaml").read_text())):
            key = (value["apiVersion"].rpartition("/")[0], value["kind"])
            metadata = value["metadata"]
            by_place.setdefault(key, {})[metadata.get("namespace") or "", metadata["name"]] = value
    recorded = [
        Recorded(kind=kind, state=State.KNOWN, values=[*map(kind.keep, by_place[kind.key].values())])
        if kind.key in by_place
        else Recorded(kind=kind, state=State.MISSING)
        for kind in registry.FACTS.values()
    ]
    file = tmp_path_factory.mktemp("cluster") / "cluster.json.gz"
    file.write_bytes(store.dumps(recorded))
    return file


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workloads of these examples, and the PyTorchJob of the brief; a change is tried with every second file."""
    folder = tmp_path_factory.mktemp("jobs")
    files = [file for each in EXAMPLES for file in record_findings.manifests(each)]
    files = files[:: 1 if generated_examples.are_thorough() else 2]
    examples = chain.from_iterable(yaml.safe_load_all(file.read_text()) for file in files)
    # A check counts objects of other files that workloads name; the webhook and an audit do not see these files.
    named = surroundings.FACT_KINDS - {("", "ConfigMap")}
    values = [each for each in (manifest("brief_pytorchjob"), *examples) if group_and_kind(each) not in named]
    for number, value in enumerate(each for each in values if each["kind"] != "AdmissionReview"):
        (folder / f"{number:04}.json").write_bytes(orjson.dumps(value))
    return folder


def test_with_facts_of_a_cluster_webhook_check_and_audit_say_the_same(
    cluster: Path, jobs: Path, tmp_path: Path
) -> None:
    """From one snapshot, whoever asks: codes, messages and outcomes, and what is not known."""
    expected = check("--facts", cluster, jobs)
    as_written = check("--as-written", "--facts", cluster, jobs)
    audited = command.usher("audit", "--format=findings", "--facts", cluster, jobs)

    # Admission would change manifests. Of what exists an audit says beside it what admission would change, and no place
    # in its text, which is a copy.
    due = [
        without_places(written) if exists(Path(written["source"])) else admitted
        for written, admitted in zip(as_written, expected, strict=True)
    ]
    assert [{**each, "mutation": None} for each in audited.json["workloads"]] == [
        {**each, "mutation": None} for each in due
    ]
    values = workloads(jobs)
    assert len(values) == len(expected) > 100
    with (
        server_process.running(tmp_path, arguments=(f"--facts={cluster}",)) as server,
        server.connection() as connection,
    ):
        some = [*zip(values, expected, strict=True)][:: 1 if generated_examples.are_thorough() else 3]
        for value, found in some:
            assert_agrees(connection, admitted(connection, value, found), found)
    by_facts = {
        entry.code
        for entry in assembly.embedded(load(SITE)).catalogue.checks.values()
        if entry.about == "cluster facts"
    }
    assert len(by_facts & {each["code"] for found in expected for each in found["findings"]}) >= FROM_FACTS


def test_files_of_a_cluster_say_what_its_snapshot_says(cluster: Path, jobs: Path, tmp_path: Path) -> None:
    """Compares the kinds that have objects: files cannot say that a kind has no object."""
    recorded = store.loads(cluster.read_bytes(), source="cluster")
    there = [each for each in recorded if each.state is State.KNOWN]
    (tmp_path / "cluster.json.gz").write_bytes(store.dumps(there))
    objects = command.write(tmp_path / "cluster.yaml", *(value for each in there for value in each.values))

    by_files, by_snapshot = (
        command.usher("check", "--format=json", "--facts", facts, jobs)
        for facts in (objects, tmp_path / "cluster.json.gz")
    )

    for one, other in zip(by_files.json["workloads"], by_snapshot.json["workloads"], strict=True):
        assert one == other
