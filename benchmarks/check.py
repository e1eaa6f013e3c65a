"""Measures `usher check` with all checks on 10,000 Pods, beside conftest and gator with five rules each.

The tools take turns. conftest and gator are built by Go where they are missing; kyverno runs if it is installed.
"""

import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import built_peers
import commands
import sections
from commands import Taken

PODS = 10_000
CHANGED = PODS // 100
ROUNDS = 3

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train-{number:05}
  namespace: team-{team}
  labels:
    app.kubernetes.io/name: trainer
    app.kubernetes.io/instance: "run-{number}"
    kueue.x-k8s.io/queue-name: research
  annotations:
    example.com/owner: "person-{person}@example.com"
    example.com/purpose: "a run of the nightly training of the model"
spec:
  restartPolicy: Never
  priorityClassName: research
  terminationGracePeriodSeconds: 60
  tolerations:
    - key: nvidia.com/gpu
      operator: Exists
      effect: NoSchedule
  nodeSelector:
    nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
    topology.kubernetes.io/zone: eu-west-1{zone}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - key: node-role.example.com/gpu
                operator: In
                values: ["true"]
  initContainers:
    - name: fetch
      image: registry.example.com/fetch:1.{minor}
      command: ["sh", "-c", "fetch /data"]
      resources:
        requests: {{cpu: "1", memory: 2Gi}}
        limits: {{cpu: "1", memory: 2Gi}}
      volumeMounts:
        - name: data
          mountPath: /data
  containers:
    - name: trainer
      image: registry.example.com/trainer:2.{minor}
      args:
        - --epochs=10
        - --seed={number}
      env:
        - name: NCCL_DEBUG
          value: INFO
        - name: RUN
          value: "{number}"
      ports:
        - containerPort: 8080
          name: metrics
      resources:
        requests:
          cpu: "8"
          memory: 64Gi
          nvidia.com/gpu: {gpus}
        limits:
          cpu: "8"
          memory: 64Gi
          nvidia.com/gpu: {gpus}
      volumeMounts:
        - name: data
          mountPath: /data
        - name: shm
          mountPath: /dev/shm
  volumes:
    - name: data
      persistentVolumeClaim:
        claimName: data-{claim}
    - name: shm
      emptyDir:
        medium: Memory
        sizeLimit: 16Gi
"""


def main() -> None:
    sections.publish("check", lambda: "\n".join(report()), description=__doc__)


def report() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        pods, cache = Path(folder) / "pods", Path(folder) / "cache"
        pods.mkdir()
        for number in range(PODS):
            write(pods, number, gpus=1 + number % 8)
        cases = cases_of(pods, cache)
        taken: dict[str, list[Taken]] = {name: [] for name in cases}
        for turn in range(ROUNDS):
            for name, (command, before) in cases.items():
                before(turn)
                taken[name].append(run(command, cache))
        one = [run([commands.USHER, "check", str(pods / "00001.yaml")], cache) for _ in range(5)]
        bare = [run([sys.executable, "-c", ""], cache) for _ in range(5)]
    unit = statistics.median(each.seconds for each in taken.get("conftest", taken["usher, first run"]))
    lines = [
        "| tool | rules | seconds: median (min-max) | against conftest | processor seconds | MB |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for name, runs in taken.items():
        seconds = [each.seconds for each in runs]
        median = statistics.median(seconds)
        lines.append(
            f"| {name} | {'all' if name.startswith('usher') else 'five'} | {median:.2f} "
            f"({min(seconds):.2f}-{max(seconds):.2f}) | {median / unit:.2f} | "
            f"{statistics.median(each.processor for each in runs):.2f} | {max(each.megabytes for each in runs):.0f} |"
        )
    over = statistics.median(each.seconds for each in one) - statistics.median(each.seconds for each in bare)
    return [
        (
            f"{PODS:,} files with a Pod of {len(pod(0, gpus=1)) / 1000:.1f} kB; {ROUNDS} rounds; "
            f"{len(os.sched_getaffinity(0))} processors."
        ),
        "",
        *lines,
        "",
        f"One small file: {over:.2f} s over the start of Python.",
    ]


def cases_of(pods: Path, cache: Path) -> dict[str, tuple[Sequence[str], Callable[[int], None]]]:
    """The command of each case, and what happens before each turn."""

    def emptied(_turn: int) -> None:
        shutil.rmtree(cache, ignore_errors=True)

    def filled(turn: int) -> None:
        for number in range(turn, PODS, PODS // CHANGED):
            write(pods, number, gpus=1 + (number + turn + 1) % 8)

    def unchanged(_turn: int) -> None: ...

    check = [commands.USHER, "check", str(pods), "--format", "json"]
    found: dict[str, tuple[Sequence[str], Callable[[int], None]]] = {
        "usher, first run": (check, emptied),
        "usher, 1 % changed": (check, filled),
        "usher, one process, no cache": ([*check, "--jobs", "1", "--no-cache"], unchanged),
    }
    if conftest := built_peers.conftest(pods):
        found["conftest"] = (conftest, unchanged)
    if gator := built_peers.peer("gator"):
        rules = built_peers.RULES / "gator"
        found["gator"] = ([gator, "test", f"--filename={rules}", f"--filename={pods}"], unchanged)
    return found


def run(command: Sequence[str], cache: Path) -> Taken:
    # Each tool finds violations, and says so by its exit code.
    return commands.timed(command, environment={"USHER_CACHE_DIR": str(cache)}, may_fail=True)


def write(folder: Path, number: int, *, gpus: int) -> None:
    (folder / f"{number:05}.yaml").write_text(pod(number, gpus=gpus))


def pod(number: int, *, gpus: int) -> str:
    return POD.format(
        number=number,
        team=number % 20,
        person=number % 50,
        zone="abc"[number % 3],
        minor=number % 9,
        claim=number % 100,
        gpus=gpus,
    )


if __name__ == "__main__":
    main()
