"""The recorder bounds what it holds, and no answer depends on it."""

import threading
from pathlib import Path
from typing import Any

import orjson
import pytest
from structlog.testing import capture_logs

import builders
from reviews import body
from usher import errors
from usher.review import redaction
from usher.review.admission_review import Answer, parse
from usher.server.logs import MEBIBYTE, Recorder, RecordSettings


def answer(name: str = "bert", **request: Any) -> Answer:
    review = parse(body(builders.pod(name=name, namespace="research"), **request))
    return Answer(body=b"", review=review, allowed=False, denials=("USH103 /spec/containers/0",))


def lines(file: Path) -> list[Any]:
    return [orjson.loads(line) for line in file.read_bytes().splitlines()]


def recorded(file: Path) -> list[str]:
    """The names in the requests of a record."""
    return [line["request"]["name"] for line in lines(file) if line["kind"] == "AdmissionReview"]


def settings(directory: Path, *, size: int = MEBIBYTE) -> RecordSettings:
    return RecordSettings(file=directory / "reviews.jsonl", size=size)


def test_a_review_is_recorded_with_its_verdict(tmp_path: Path) -> None:
    made = Recorder(settings(tmp_path))
    made.record("validate", answer(), 500)
    made.close()

    head, line = lines(tmp_path / "reviews.jsonl")

    assert (head["kind"], head["anonymised"]) == ("ReviewRecord", False)
    assert (line["recorded"]["allowed"], line["recorded"]["denials"]) == (False, ["USH103"])
    assert line["request"]["userInfo"]["username"] == "alice"


def test_other_endpoints_dry_runs_and_reviews_without_object_are_not_recorded(tmp_path: Path) -> None:
    made = Recorder(settings(tmp_path))
    made.record("mutate", answer(), 500)
    made.record("validate", answer(dryRun=True), 500)
    deleted = parse(body(None, old_value=builders.pod(name="old"), operation="DELETE"))
    made.record("validate", Answer(body=b"", review=deleted, allowed=True), 500)
    made.close()

    assert recorded(tmp_path / "reviews.jsonl") == []


def test_reviews_beyond_the_bounds_are_counted_in_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread waits in the first review, so that the others pile up."""
    go_on, waits = threading.Event(), threading.Event()
    real = redaction.without_secrets

    def slow(value: Any) -> Any:
        waits.set()
        go_on.wait(30)
        return real(value)

    monkeypatch.setattr(redaction, "without_secrets", slow)
    made = Recorder(settings(tmp_path))
    made.record("validate", answer("first"), 500)
    waits.wait(30)
    made.record("validate", answer("huge"), 10 * MEBIBYTE)
    for number in range(1200):
        made.record("validate", answer(f"pod-{number}"), 500)
    go_on.set()
    made.close()

    missing: dict[str, int] = {}
    for line in lines(tmp_path / "reviews.jsonl"):
        missing |= line.get("missing", {})
    names = recorded(tmp_path / "reviews.jsonl")

    assert missing == {"larger than 256 KiB": 1, "too many at once": 200}
    assert (names[0], names[-1], len(names)) == ("first", "pod-999", 1001)


def test_a_review_that_is_left_out_last_is_counted_when_the_server_ends(tmp_path: Path) -> None:
    made = Recorder(settings(tmp_path))
    with capture_logs() as log:
        made.record("validate", answer("huge"), 10 * MEBIBYTE)
        made.close()

    assert [line.get("missing") for line in lines(tmp_path / "reviews.jsonl")] == [None, {"larger than 256 KiB": 1}]
    assert [(line["event"], line["reasons"]) for line in log] == [("reviews_not_recorded", {"larger than 256 KiB": 1})]


def test_a_full_disk_ends_the_record_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Recorder(settings(tmp_path))

    def full(_line: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(made, "_write", full)
    with capture_logs() as log:
        made.record("validate", answer(), 500)
        made.record("validate", answer(), 500)
        made.close()

    assert recorded(tmp_path / "reviews.jsonl") == []
    assert [(line["event"], line["reason"]) for line in log] == [("record_stopped", "no space left on device")]


def test_an_object_that_cannot_be_written_is_counted_and_the_next_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = redaction.without_secrets

    def faulty(value: Any) -> Any:
        if value["metadata"]["name"] == "odd":
            raise ValueError
        return real(value)

    monkeypatch.setattr(redaction, "without_secrets", faulty)
    made = Recorder(settings(tmp_path))
    made.record("validate", answer("odd"), 500)
    made.record("validate", answer("even"), 500)
    made.close()

    assert recorded(tmp_path / "reviews.jsonl") == ["even"]
    assert lines(tmp_path / "reviews.jsonl")[1]["missing"] == {"usher could not write them (ValueError)": 1}


def test_a_record_goes_on_after_a_line_that_a_crash_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "reviews.jsonl"
    file.write_bytes(b'{"kind":"Admiss')

    made = Recorder(settings(tmp_path))
    made.record("validate", answer(), 500)
    made.close()

    first, *rest = file.read_bytes().splitlines()
    assert first == b'{"kind":"Admiss'
    assert [orjson.loads(line)["kind"] for line in rest] == ["ReviewRecord", "AdmissionReview"]


def test_a_record_never_takes_more_than_twice_its_size(tmp_path: Path) -> None:
    made = Recorder(settings(tmp_path, size=4000))
    for number in range(50):
        made.record("validate", answer(f"pod-{number}"), 500)
    made.close()

    sizes = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    assert sizes.keys() == {"reviews.jsonl", "reviews.jsonl.1"}
    assert max(sizes.values()) <= 4000
    assert recorded(tmp_path / "reviews.jsonl")[-1] == "pod-49"


def test_a_record_is_never_written_through_a_link_or_into_a_directory(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("")
    (tmp_path / "reviews.jsonl").symlink_to(tmp_path / "target")

    with pytest.raises(errors.InputError, match=r"--record: .* cannot be written"):
        Recorder(settings(tmp_path))
    with pytest.raises(errors.InputError, match=r"--record: .* is a directory"):
        Recorder(RecordSettings(file=tmp_path, size=MEBIBYTE))
