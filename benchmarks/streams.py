"""Compares lists in pages with streaming lists (`sendInitialEvents`) of a real API server.

The API server and etcd run on loopback and hold Pods of 4 kB. A process reads all of them one after the other and
drops them, as an audit does with one kind.
"""

import gc
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import sections
from e2e import api_server_alone
from e2e.cluster import Cluster
from usher import paths
from usher.cluster import api as cluster_api
from usher.cluster import connection
from usher.cluster.api import parse_json, stream_lines

PODS = 6_000
ROUNDS = 5
WAYS = ("no list", "pages of 500", "pages of 250", "pages of 100", "stream")
SLOW = "slow stream"
PAUSE = 0.0005
"""Seconds for each object of a slow stream: so long an audit takes, where many objects differ."""
WRITERS = 2
STREAM = {
    "watch": "true",
    "sendInitialEvents": "true",
    "resourceVersionMatch": "NotOlderThan",
    "allowWatchBookmarks": "true",
    "timeoutSeconds": "300",
}
PATH = "/api/v1/pods"
_WAY = "USHER_BENCHMARK_WAY"
_DIGITS = (0, 2, 2, 0, 2, 0)


def main() -> None:
    if way := os.environ.get(_WAY):
        print(json.dumps(read(way, Path(os.environ["KUBECONFIG"]))))
        return
    sections.publish("streams", lambda: "\n".join(table()), description=__doc__)


def table() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name, api_server_alone.prepared(Path(name)) as alone:
        alone.start()
        fill(alone.cluster)
        yield from report(alone.cluster, alone.pid)


def report(cluster: Cluster, server: int) -> Iterator[str]:
    yield "| way | objects | s of the clock | processor s | MB at most | API server: processor s | MB more |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for way in WAYS:
        runs = [measured(way, cluster, server) for _ in range(ROUNDS)]
        middle = [statistics.median(values) for values in zip(*runs, strict=True)]
        cells = [f"{value:,.{digits}f}" for value, digits in zip(middle, _DIGITS, strict=True)]
        yield f"| {way} | {' | '.join(cells)} |"
    with writing(cluster) as written:
        objects, seconds, *_ = measured(SLOW, cluster, server)
    yield ""
    yield (
        f"A stream that is read with {1000 * PAUSE:.1f} ms for each object, while clients change "
        f"{written[0] / seconds:.0f} Pods in a second, ends after {objects:,} of {PODS:,} objects."
    )


@contextmanager
def writing(cluster: Cluster) -> Iterator[list[int]]:
    """Changes pods all the time; the list holds how many times."""
    ended, written = threading.Event(), [0]

    def write() -> None:
        api = connection.connect(kubeconfig=cluster.kubeconfig)
        for number in itertools.count():
            if ended.is_set():
                return
            change: paths.Object = {"op": "add", "path": "/metadata/annotations", "value": {"number": str(number)}}
            api.patch(f"/api/v1/namespaces/many/pods/pod-{number % PODS}", [change])
            written[0] += 1

    threads = [threading.Thread(target=write) for _ in range(WRITERS)]
    for thread in threads:
        thread.start()
    try:
        yield written
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def measured(way: str, cluster: Cluster, server: int) -> tuple[float, ...]:
    """Objects, seconds, processor seconds and most megabytes of a process that reads; the same of the API server."""
    time.sleep(3)  # the API server tidies up after the round before
    Path(f"/proc/{server}/clear_refs").write_text("5")  # the most resident memory counts from here
    before, resident = processor_seconds(server), megabytes(server, "VmRSS:")
    environment = {**os.environ, _WAY: way, "KUBECONFIG": str(cluster.kubeconfig)}
    started = time.perf_counter()
    with subprocess.Popen([sys.executable, __file__], env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        objects = json.loads(process.stdout.read())
        seconds = time.perf_counter() - started
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    own = usage.ru_utime + usage.ru_stime
    more = megabytes(server, "VmHWM:") - resident
    return objects, seconds, own, usage.ru_maxrss / 1000, processor_seconds(server) - before, more


def read(way: str, kubeconfig: Path) -> int:
    """How many objects came."""
    gc.set_threshold(1_000_000, 20, 100)  # as the command does
    api = connection.connect(kubeconfig=kubeconfig)
    if way == WAYS[0]:
        return 0
    if way.startswith("pages"):
        size = int(way.rpartition(" ")[2])
        return sum(
            sum(cluster_api.object_has_name(item) for item in page.items)
            for page in cluster_api.list_pages(api, PATH, size=size)
            if isinstance(page, cluster_api.Page)
        )
    objects = 0
    with api.stream(PATH, query=STREAM, silence=60) as stream:
        for line in stream_lines(stream.chunks()):
            event = parse_json(line)
            assert isinstance(event, dict)
            if event["type"] == "BOOKMARK":
                break
            objects += 1
            time.sleep(PAUSE if way == SLOW else 0)
    return objects


def fill(cluster: Cluster) -> None:
    """Creates the pods."""
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "many"}})
    cluster.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "many"}})
    api = connection.connect(kubeconfig=cluster.kubeconfig)
    with ThreadPoolExecutor(16) as pool:
        answers = pool.map(lambda index: api.post("/api/v1/namespaces/many/pods", pod(index)).status, range(PODS))
        assert all(status == 201 for status in answers)


def pod(index: int) -> paths.Object:
    variables: list[paths.Json] = [
        {"name": f"SETTING_{place}", "value": f"a value of some length {index}"} for place in range(40)
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"pod-{index}", "labels": {"app": f"app-{index // 8}"}},
        "spec": {"containers": [{"name": "main", "image": "registry.example.com/image:1", "env": variables}]},
    }


def processor_seconds(pid: int) -> float:
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()) / 1e9


def megabytes(pid: int, field: str) -> float:
    lines_of = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines_of if line.startswith(field))


if __name__ == "__main__":
    main()
