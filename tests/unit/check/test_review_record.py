"""Records of reviews: which files they are, and which objects their lines are about."""

import io
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from reviews import review
from usher import errors
from usher.check.replay import review_record
from usher.check.replay.review_record import Record
from usher.config import models
from usher.policy import assembly
from usher.policy.evaluator import Evaluator
from usher.review import records
from usher.review.records import Head


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return assembly.embedded(models.Config())


def pod(name: str, *, owner: str = "1") -> Any:
    """A pod of a Job."""
    value: Any = builders.pod(builders.container(gpus=1), name=name, namespace="research")
    value["metadata"]["generateName"] = "bert-"
    value["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "bert", "uid": owner, "controller": True}]
    return value


def line(value: Any, *, allowed: bool | None = None, **request: Any) -> bytes:
    recorded = {} if allowed is None else {"recorded": {"allowed": allowed}}
    return orjson.dumps({**review(value, **request), **recorded})


def judged(evaluator: Evaluator, file: Path, *lines: bytes) -> Record:
    file.write_bytes(b"\n".join(lines) + b"\n")
    return review_record.judge(file, [evaluator])


def keys(record: Record) -> list[str]:
    return [each.occasion.key for each in record.judged[0]]


def test_a_denied_pod_that_its_controller_makes_again_counts_once(evaluator: Evaluator, tmp_path: Path) -> None:
    tries = [line(pod(f"bert-{number}"), allowed=False) for number in range(50)]

    record = judged(evaluator, tmp_path / "r.jsonl", *tries, line(pod("bert-x", owner="2"), allowed=False))

    assert keys(record) == ["Pod. research/bert-* 1", "Pod. research/bert-* 2"]


def test_pods_that_were_let_in_count_each(evaluator: Evaluator, tmp_path: Path) -> None:
    record = judged(
        evaluator, tmp_path / "r.jsonl", *(line(pod(f"bert-{number}"), allowed=True) for number in range(3))
    )

    assert keys(record) == [f"Pod. research/bert-{number}" for number in range(3)]


def test_the_last_review_of_an_object_and_operation_counts(evaluator: Evaluator, tmp_path: Path) -> None:
    small, large = (builders.gpu_job(gpus=number, name="bert", namespace="research") for number in (1, 8))
    update = line(large, operation="UPDATE", old_value=small)

    record = judged(evaluator, tmp_path / "r.jsonl", line(small), line(large), update)

    assert [(each.occasion.operation, each.result.line) for each in record.judged[0]] == [("CREATE", 2), ("UPDATE", 3)]


def test_reviews_that_cannot_be_judged_are_counted_by_their_reason(evaluator: Evaluator, tmp_path: Path) -> None:
    deleted = line(None, old_value=builders.pod(name="old"), operation="DELETE")
    scale = builders.custom("autoscaling/v1", "Scale", {"replicas": 3}, name="web", namespace="research")
    resource = {"group": "apps", "version": "v1", "resource": "deployments"}
    scaled = line(scale, operation="UPDATE", old_value=scale, subResource="scale", resource=resource)

    record = judged(evaluator, tmp_path / "r.jsonl", deleted, deleted, scaled, line(builders.pod(name="a")))

    assert [note.reason for note in record.notes] == [
        "2 reviews: DELETE is not judged",
        "1 review: of a scale whose object the record does not hold",
    ]
    assert len(keys(record)) == 1


def test_a_record_in_which_nothing_can_be_judged_is_a_problem(evaluator: Evaluator, tmp_path: Path) -> None:
    record = judged(evaluator, tmp_path / "r.jsonl", records.head_line(version="1", anonymised=False).rstrip())

    assert "holds no review that creates or changes an object" in record.problems[0].reason


def test_a_thousand_bad_lines_are_named_up_to_a_hundred_and_then_counted(evaluator: Evaluator, tmp_path: Path) -> None:
    record = judged(evaluator, tmp_path / "r.jsonl", *[b"{"] * 1000, line(builders.pod(name="a")))

    assert len(record.problems) == 101
    assert record.problems[-1].reason == "900 more lines cannot be read"
    assert len(keys(record)) == 1


@pytest.mark.parametrize(
    ("name", "content", "is_one"),
    [
        ("r.jsonl", b"", True),
        ("r.jsonl.1", records.head_line(version="1", anonymised=False), True),
        ("usher.log", b'{"event":"started","level":"info","timestamp":"2026-11-23T05:40:00Z"}\n', True),
        ("one.json", orjson.dumps(builders.pod()) + b"\n", False),
        ("sensor.json", b'{"apiVersion":"v1","kind":"Sensor","spec":{"event":"x"}}\n', False),
        ("job.yaml", b"apiVersion: batch/v1\nkind: Job\n", False),
        ("review.json", orjson.dumps(review(builders.pod()), option=orjson.OPT_INDENT_2), False),
    ],
)
def test_a_record_is_known_by_its_name_or_its_first_line(
    tmp_path: Path, name: str, content: bytes, *, is_one: bool
) -> None:
    (tmp_path / name).write_bytes(content)

    assert review_record.is_record(tmp_path / name) == is_one


@given(st.binary(max_size=300) | st.text(alphabet='{}[]":,kindReviewRecord', max_size=200).map(str.encode))
def test_any_line_is_read_or_refused(data: bytes) -> None:
    try:
        found = records.read_line(data)
    except errors.InputError:
        return
    assert isinstance(found, Head) or found.review.uid


def test_lines_have_their_numbers_after_one_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_record, "LONGEST_LINE", 8)
    found = review_record._lines(io.BytesIO(b"a\n" + b"x" * 50 + b"\nb\nc"))

    assert [(number, data[:2].strip()) for number, _, data in found] == [(1, b"a"), (2, b"xx"), (3, b"b"), (4, b"c")]
