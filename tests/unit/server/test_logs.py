"""The log is JSON, a line each and not too often. The record of reviews is bounded, and no answer depends on it."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
from structlog.testing import capture_logs

import builders
from reviews import body
from usher import errors
from usher.review import redaction
from usher.review.admission_review import Answer, parse
from usher.server.logs import MEBIBYTE, Recorder, RecordSettings

SECRET: Final = "correct-horse-battery-staple"

_NOISE: Final = """
import asyncio, gc, logging, threading, warnings
from usher.server import logs

logs.configure()
logs.take_over_process()
warnings.warn("an old way", DeprecationWarning, stacklevel=1)
for number in range(1000):
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    logging.getLogger("opentelemetry").warning("Transient error %s", number)

def fail():
    raise ValueError("-".join(["correct", "horse", "battery", "staple"]))

thread = threading.Thread(target=fail)
thread.start()
thread.join()

class Broken:
    def __del__(self):
        fail()

Broken()
gc.collect()

async def forget():
    asyncio.get_running_loop().call_soon(fail)
    await asyncio.sleep(0.01)

asyncio.run(forget())
fail()
"""


def written(code: str) -> list[dict[str, Any]]:
    """The log of a process that ends with an error and writes nothing else."""
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (1, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.costly
def test_noise_of_libraries_and_lost_errors_are_json_lines() -> None:
    found = written(_NOISE)

    assert SECRET not in json.dumps(found), "the text of an error may quote an object"

    uncaught = [(line["place"], line["error"]) for line in found if line["event"] == "uncaught_error"]
    assert uncaught == [("thread", "ValueError"), ("finalizer", "ValueError"), ("process", "ValueError")]
    assert all("fail" in line["traceback"] for line in found if line["event"] == "uncaught_error")
    assert sum("an old way" in line["event"] for line in found) == 1
    assert sum(line["event"].startswith("Invalid HTTP") for line in found) == 1
    assert sum(line["event"].startswith("Transient error") for line in found) == 1
    assert sum("Exception in callback fail()" in line["event"] for line in found) == 1


_COUNTED: Final = """
import logging, sys, time

now = [0.0]
time.monotonic = lambda: now[0]
from usher.server import logs

logs.configure()
for number in range(3):
    logging.getLogger("library").warning("no answer from %s", number)
now[0] = 11.0
logging.getLogger("library").warning("no answer from %s", 9)
logging.getLogger("other").warning("no answer from %s", 9)
sys.exit(1)
"""


@pytest.mark.costly
def test_a_line_says_how_many_similar_ones_were_left_out() -> None:
    assert [line["event"] for line in written(_COUNTED)] == [
        "no answer from 0",
        "no answer from 9 (2 similar before)",
        "no answer from 9",
    ]


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
