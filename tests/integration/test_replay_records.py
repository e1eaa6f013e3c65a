"""`usher serve --record` and `usher replay` of what it recorded, with a real server process."""

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

import builders
import server_process
from e2e.cluster import wait_until
from integration import command
from reviews import body
from server_process import BOUND, ServerProcess
from usher import paths

pytestmark = pytest.mark.process

SECRET: Final = "correct-horse-battery-staple"
PRESET: Final[Any] = {"enforcement": {"preset": "observe"}}
"""A server that denies nothing."""


def job(name: str, *, requests: int = 8, limits: int = 8, namespace: str = "research") -> paths.Object:
    container = builders.container(
        requests={builders.GPU: requests},
        limits={builders.GPU: limits},
        image="registry.example/team/bert:1",
        env={"HF_TOKEN": SECRET, "NCCL_DEBUG": "INFO"},
    )
    return builders.job(builders.template(container), name=name, namespace=namespace)


def record_of(server: ServerProcess, reviews: int, *, name: str = "reviews.jsonl") -> Path:
    """The record, once it holds this many reviews; the server answers first and writes then."""
    file = server.directory / name
    wait_until(
        lambda: file.exists() and file.read_bytes().count(b'"AdmissionReview"') >= reviews,
        description=f"{reviews} reviews are in the record",
        timeout=BOUND,
    )
    return file


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A good Job, a Job that asks for more than its limit, a Pod without GPUs, and a dry run of a third Job."""
    directory = tmp_path_factory.mktemp("recording")
    arguments = (f"--record={directory / 'reviews.jsonl'}",)
    with server_process.running(directory, config=PRESET, arguments=arguments) as server:
        server.review("validate", body(job("good")))
        server.review("validate", body(job("bad", limits=4)))
        server.review("validate", body(job("tried", limits=4), dryRun=True))
        server.review("mutate", body(job("good")))
        server.review("validate", body(builders.pod(name="plain", namespace="research")))
        yield record_of(server, 3)


def config(directory: Path, preset: str) -> Path:
    return command.config(directory / f"{preset}.yaml", enforcement={"preset": preset})


def differences(run: command.Run) -> dict[str, list[str]]:
    """The names of the objects that differ, by difference."""
    found: dict[str, list[str]] = {}
    for each in run.json["objects"]:
        found.setdefault(each["difference"], []).append(each["shown"]["name"])
    return found


def test_recorded_reviews_tell_what_a_stricter_configuration_denies(record: Path, tmp_path: Path) -> None:
    old, new = config(tmp_path, "observe"), config(tmp_path, "recommended")

    run = command.usher("replay", record, "--config", old, "--against", new, "--format", "json")

    assert run.code == 1, run.err
    assert differences(run)["newly denied"] == ["bad"]
    (bad,) = (each for each in run.json["objects"] if each["difference"] == "newly denied")
    assert (bad["shown"]["user"], bad["shown"]["line"]) == ("alice", 3)
    assert run.json["byDifference"]["newly denied"]["gpus"]["number"] == 8
    assert run.json["whole"]["objects"] == 3
    assert run.json["complete"]


def test_the_same_configuration_changes_nothing(record: Path, tmp_path: Path) -> None:
    old = config(tmp_path, "observe")

    run = command.usher("replay", record, "--config", old, "--against", old)

    assert run.code == 0
    assert run.out.startswith("newly denies nothing; no verdict changes among 3 workloads\n")


def test_a_record_holds_no_secret_and_what_rules_read(record: Path) -> None:
    text = record.read_text()

    assert SECRET not in text
    assert '"HF_TOKEN"' in text
    assert '{"name":"NCCL_DEBUG","value":"INFO"}' in text
    assert "tried" not in text, "a dry run stores nothing"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600


def test_damaged_lines_are_named_and_nothing_else_is_lost(record: Path, tmp_path: Path) -> None:
    head, *lines = record.read_bytes().splitlines()
    wrong = orjson.loads(lines[0])
    wrong["request"]["operation"] = 7
    missing = b'{"apiVersion":"gpu-usher.io/v1alpha1","kind":"ReviewRecord","missing":{"larger than 256 KiB":3}}'
    damaged = tmp_path / "damaged.jsonl"
    broken = [b"\xff\xfe", b"[]", lines[0][:200], orjson.dumps(wrong), b'{"a":' + b"[" * 100_000, b"x" * (9 * 2**20)]
    damaged.write_bytes(b"\n".join([head, *broken, missing, b"", *lines, lines[-1][:-7]]))
    old, new = config(tmp_path, "observe"), config(tmp_path, "recommended")

    run = command.usher("replay", damaged, "--config", old, "--against", new, "--format", "json")

    assert run.code == 2
    assert differences(run)["newly denied"] == ["bad"]
    assert [problem.removeprefix(str(damaged)) for problem in run.json["problems"]] == [
        ":2:0: not complete JSON; the line is cut off or damaged",
        ":3:0: not an AdmissionReview",
        ":4:0: not complete JSON; the line is cut off or damaged",
        ":5:0: request.operation: expected a text, found 7",
        ":6:0: not complete JSON; the line is cut off or damaged",
        ":7:0: longer than 8 MiB, which no review is",
        ":13:0: not complete JSON; the line is cut off or damaged",
    ]
    assert run.json["notes"] == [f"{damaged}: 3 reviews: larger than 256 KiB"]


def test_the_log_of_the_server_is_refused_by_name(tmp_path: Path) -> None:
    log = tmp_path / "usher.log"
    log.write_text('{"uid":"1","kind":"Job","event":"decision","level":"info","timestamp":"2026-11-23T05:40:00Z"}\n')

    run = command.usher("replay", log, "--against", config(tmp_path, "strict"))

    assert run.code == 2
    assert "a line of the server's log, which holds no objects; `usher serve --record FILE` writes" in run.out


def test_an_anonymised_record_keeps_no_name_and_equal_names_stay_equal(tmp_path: Path) -> None:
    arguments = (f"--record={tmp_path / 'reviews.jsonl'}", "--record-anonymised")
    with server_process.running(tmp_path, config=PRESET, arguments=arguments) as server:
        for name in ("bert-secret-project", "bert-secret-project", "other-secret-project"):
            server.review("validate", body(job(name, limits=4, namespace="acme")))
        record = record_of(server, 3)
    text = record.read_text()
    old, new = config(tmp_path, "observe"), config(tmp_path, "recommended")

    run = command.usher("replay", record, "--config", old, "--against", new, "--format", "json")

    assert [word for word in ("secret-project", "acme", "alice", "registry.example", "team/bert") if word in text] == []
    assert len(differences(run)["newly denied"]) == 2, "equal names are one object"
    assert "is anonymised" in run.json["notes"][0]


def test_a_full_record_is_renamed_and_the_log_says_so(tmp_path: Path) -> None:
    arguments = (f"--record={tmp_path / 'reviews.jsonl'}", "--record-size=1")
    padding = builders.container(env={f"NCCL_PADDING_{number}": "x" * 15_000 for number in range(14)})
    with server_process.running(tmp_path, config=PRESET, arguments=arguments) as server:
        for number in range(12):
            value = builders.pod(padding, name=f"pod-{number}", namespace="research")
            assert server.review("validate", body(value))["allowed"]
        record_of(server, 1, name="reviews.jsonl.1")
        assert [line["older"] for line in server.log("record_rotated")][:1] == [str(tmp_path / "reviews.jsonl.1")]
        assert (tmp_path / "reviews.jsonl").stat().st_size <= 2**20


def test_a_review_that_is_too_large_is_answered_and_counted(tmp_path: Path) -> None:
    arguments = (f"--record={tmp_path / 'reviews.jsonl'}",)
    padding = {f"example.com/{number}": "x" * 60_000 for number in range(5)}
    with server_process.running(tmp_path, config=PRESET, arguments=arguments) as server:
        large = builders.pod(name="large", namespace="research", annotations=padding)
        assert server.review("validate", body(large))["allowed"]
        server.review("validate", body(job("good")))
        record = record_of(server, 1)
    old = config(tmp_path, "observe")

    run = command.usher("replay", record, "--config", old, "--against", old, "--format", "json")

    assert run.json["notes"] == [f"{record}: 1 review: larger than 256 KiB"]


def test_a_server_whose_record_cannot_be_written_does_not_start(tmp_path: Path) -> None:
    run = command.usher_process(
        "serve", "--dev", "--port=0", "--admin-port=0", f"--record={tmp_path}/no/file", cwd=tmp_path
    )

    assert run.code == 2
    assert f"usher: --record: {tmp_path}/no/file cannot be written: no such file or directory" in run.err
