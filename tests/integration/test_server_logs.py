"""The server counts and logs its decisions."""

import contextlib
import re
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

import server_process
from builders import container, custom, mutated_pod, pod, pytorch_job, replaced, template
from e2e import processes
from integration.served_reviews import BAD_JOB, GPU, head, received
from reviews import body
from server_process import BOUND, JSON, ServerProcess
from usher import paths

pytestmark = pytest.mark.process
SECRET = "correct-horse-battery-staple"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_say_ok(server: ServerProcess, path: str) -> None:
    answer = server.admin(path)
    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, b"ok\n", "text/plain; charset=utf-8")


def test_reviews_are_counted_by_what_became_of_them(server: ServerProcess) -> None:
    before = server.metrics()
    server.review("validate", body(mutated_pod()))
    server.review("validate", body(BAD_JOB))
    server.review("mutate", body(pod(container(gpus=1))))
    server.review("mutate", body(custom("v1", "ConfigMap", {})))
    server.ask("POST", "/validate", body=b"{}", headers=JSON)

    after = server.metrics()
    grown = {series for series in after if after[series] > before.get(series, 0)}

    assert grown >= {
        'usher_reviews_total{endpoint="validate",result="allowed"}',
        'usher_reviews_total{endpoint="validate",result="denied"}',
        'usher_reviews_total{endpoint="validate",result="bad_request"}',
        'usher_reviews_total{endpoint="mutate",result="mutated"}',
        'usher_reviews_total{endpoint="mutate",result="allowed"}',
        'usher_findings_total{check="gpu-requests-equal-limits",outcome="deny"}',
        'usher_mutations_total{mutation="gpu-toleration"}',
        'usher_review_duration_seconds_count{endpoint="validate"}',
        "usher_not_evaluated_total{}",
    }
    assert "process_resident_memory_bytes{}" in after
    (build,) = (series for series in after if series.startswith("usher_build_info"))
    assert re.fullmatch(r'usher_build_info{engine="wasm",policies="[0-9a-f]+",version="[0-9.]+"}', build)


def test_strangers_make_no_new_series(server: ServerProcess) -> None:
    def send(number: int) -> None:
        values = (
            custom(f"example.com/v{number}", f"Kind{number}", {}, namespace=f"team-{number}", name=f"name-{number}"),
            pytorch_job(
                template(container(f"c{number}", requests={GPU: 1}, limits={GPU: 2})),
                workers=1,
                namespace=f"team-{number}",
                labels={f"label-{number}": "x"},
            ),
        )
        for value in values:
            for endpoint in ("validate", "mutate"):
                answer = server_process.ask(connection, "POST", f"/{endpoint}", body=body(value), headers=JSON)
                assert answer.status == 200
        server_process.ask(connection, "POST", f"/path-{number}", body=b"", headers=JSON)
        server_process.ask(connection, "POST", "/validate", body=b"%d" % number, headers=JSON)

    with server.connection() as connection:
        send(1)
        before = set(server.metrics())
        for number in range(2, 202):
            send(number)
    assert set(server.metrics()) == before


RESOURCE: paths.Object = {"group": "kubeflow.org", "version": "v1", "resource": "pytorchjobs"}


def test_each_review_leaves_one_line_of_json(server: ServerProcess) -> None:
    uid = "one-line"
    server.review("validate", body(BAD_JOB, uid=uid, dryRun=True, resource=RESOURCE))

    line = server.decision(uid)

    assert line.pop("milliseconds") > 0
    assert line.pop("phases").keys() == {"queued", "read", "decided"}
    assert datetime.fromisoformat(line.pop("timestamp")).tzinfo == UTC
    assert line.pop("notEvaluated") > 0
    findings = line.pop("findings")
    assert (findings["gpu-requests-equal-limits"], findings["gpu-toleration-present"]) == ("deny", "warn")
    assert line == {
        "event": "decision",
        "level": "info",
        "uid": uid,
        "endpoint": "validate",
        "operation": "CREATE",
        "apiGroup": "kubeflow.org",
        "apiVersion": "v1",
        "kind": "PyTorchJob",
        "namespace": "ml-research",
        "name": "example",
        "allowed": False,
        "user": "alice",
        "groups": ["system:authenticated"],
        "denials": [
            "USH103 /spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1gpu"
        ],
        "dryRun": True,
    }


def test_a_decision_names_the_controller_that_the_object_claims(server: ServerProcess) -> None:
    owner: paths.Object = {"kind": "ReplicaSet", "name": "api-1", "uid": "1", "controller": True}
    value = replaced(pod(), "/metadata/ownerReferences", [{"kind": "Other", "name": "x"}, owner])
    server.review("validate", body(value, uid="owned"))

    assert server.decision("owned")["owner"] == "ReplicaSet/api-1"


def test_long_lists_of_groups_are_cut(server: ServerProcess) -> None:
    user = {"username": "x" * 5000, "groups": [f"group-{number}-{'y' * 5000}" for number in range(500)]}
    server.review("validate", body(mutated_pod(), uid="many-groups", userInfo=user))

    line = server.decision("many-groups")
    assert len(line["user"]) == 253
    assert [len(group) for group in line["groups"]] == [100] * 10


def test_every_field_of_a_decision_is_explained(server: ServerProcess) -> None:
    page = (Path(__file__).parents[2] / "docs" / "decision-log.md").read_text()
    explained = set(re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE))

    assert {field for line in server.log("decision") for field in line} <= explained


def test_every_event_is_explained() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "decision-log.md").read_text()
    sources = [file.read_text() for file in (root / "webhooks" / "usher").rglob("*.py")]
    events = {
        event for text in sources for event in re.findall(r"""(?:get_logger\(\)|_LOGGER)\.\w+\(\s*"(\w+)""", text)
    }

    assert len(events) > 10
    assert {event for event in events if f"`{event}`" not in page} == set()


def test_no_part_of_an_object_is_in_the_log(server: ServerProcess) -> None:
    secretive = container(env={"PASSWORD": SECRET, "NCCL_TOKEN": SECRET}, args=["--token", SECRET], gpus=1)
    value = pod(secretive, annotations={"example.com/token": SECRET}, labels={"token": SECRET})
    requests = [
        body(value),
        body(value, operation="UPDATE", old_value=value),
        body(replaced(BAD_JOB, "/metadata/annotations", {"token": SECRET})),
        body(value)[:-2],
        body(value).replace(b'"uid":', b'"uid":1,"uid":'),
    ]
    for request in requests:
        for endpoint in ("validate", "mutate"):
            server.ask("POST", f"/{endpoint}", body=request, headers=JSON)
    server.review("validate", body(mutated_pod(), uid="after-the-secrets"))
    server.decision("after-the-secrets")

    assert SECRET not in server.log_text


def test_hostile_names_cannot_write_lines_of_their_own(server: ServerProcess) -> None:
    hostile = '\n{"event":"forged"}\x1b[2J\u202e' + "x" * 5000
    server.review("validate", body(BAD_JOB, uid=hostile, name=hostile, namespace=hostile, kind={"kind": hostile}))

    line = server.decision('\ufffd{"event":"forged"}\ufffd[2J\ufffd' + "x" * 226 + "...")
    for field in ("uid", "name", "namespace", "kind"):
        assert line[field].isprintable()
        assert len(line[field]) == 253
    assert server.log("forged") == []


def test_garbage_on_the_port_leaves_only_short_json_lines_in_the_log(server: ServerProcess) -> None:
    """Whatever strangers send, every line is JSON, and none is long."""
    for noise in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 1000, b"\x16\x03\x01\x00\x05hello"):
        with socket.create_connection((processes.LOOPBACK, server.port), timeout=BOUND) as plain:
            plain.sendall(noise)
            plain.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                plain.recv(1000)
    with server.socket() as connection:
        connection.sendall(b"garbage\r\n\r\n")
        assert received(connection).startswith(b"HTTP/1.1 400 ")
    with server.socket() as connection:
        connection.sendall(head("/validate", "Connection: Upgrade", "Upgrade: websocket", "Content-Length: 0"))
        assert connection.recv(65536).startswith(b"HTTP/1.1 4")

    assert server.review("validate", body(mutated_pod()))["allowed"] is True
    assert all(len(line) < 4096 for line in server.log_text.splitlines())
    assert {line["event"] for line in server.log()} <= {
        "started",
        "decision",
        "request_refused",
        "Invalid HTTP request received.",
        "Unsupported upgrade request.",
        *(line["event"] for line in server.log() if line["event"].startswith("No supported WebSocket library")),
    }
