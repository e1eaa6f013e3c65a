"""Measures `usher check` beside conftest in every size, with three kinds of GPU pods. A tenth of them are wrong.

usher judges by all its checks, after its mutations; conftest by five rules. The tools take turns, and the least of the
rounds counts. The ratios are to conftest in the same run, so they hold on other machines too. `--compare PAGE` fails if
a ratio of processor time is 10 % worse than the page says, because the clock also counts other work of the machine.
conftest is built by Go where it is missing.
"""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import yaml

import built_peers
import commands
import objects
import sections
from commands import Taken
from usher import paths

ROUNDS = 3
KINDS = {
    "read": "that differ in what rules read",
    "names": "that differ in names, images and variables",
    "job": "of one job",
}
SIZES = {"read": (1_000,), "names": (1_000, 10_000), "job": (1_000,)}
RATIO = "of its processor seconds"
OF_CONFTEST = ("conftest: seconds", "processor seconds")
CHANGED_IN = 100
"""One file of so many changes before a run with remembered verdicts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    pods: str
    tool: str
    command: Sequence[str]
    peer: Sequence[str]
    before: Callable[[int], None] = lambda _turn: None
    """Called with the number of the round before each run."""


def main() -> None:
    sections.publish("peers", lambda: "\n".join(report()), description=__doc__, ratios=[RATIO])


def report() -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cache = folder / "cache"
        rows = [row for kind in KINDS for size in SIZES[kind] for row in rows_of(folder, cache, kind, size)]
        rows += single_files(folder)
        taken: list[list[Taken]] = [[] for _ in rows]
        peers: dict[tuple[str, ...], list[Taken]] = {tuple(row.peer): [] for row in rows}
        for turn in range(ROUNDS):
            for peer, runs in peers.items():
                runs.append(run(peer, cache))
                for row, own in zip(rows, taken, strict=True):
                    if tuple(row.peer) == peer:
                        row.before(turn)
                        own.append(run(row.command, cache))
    lines = [
        f"The least of {ROUNDS} rounds; a tenth of the pods are wrong.",
        "",
        f"| pods | usher | seconds | of conftest | processor seconds | {RATIO} | {' | '.join(OF_CONFTEST)} |",
        f"| --- | --- {'| ---: ' * 6}|",
    ]
    return [*lines, *(line(row, own, peers[tuple(row.peer)]) for row, own in zip(rows, taken, strict=True))]


def line(row: Row, own: Sequence[Taken], peer: Sequence[Taken]) -> str:
    (seconds, processor), (of_peer, processor_of_peer) = (
        (min(each.seconds for each in runs), min(each.processor for each in runs)) for runs in (own, peer)
    )
    cells = (
        row.pods,
        row.tool,
        f"{seconds:.2f}",
        f"{seconds / of_peer:.2f}",
        f"{processor:.2f}",
        f"{processor / processor_of_peer:.2f}",
        f"{of_peer:.2f}",
        f"{processor_of_peer:.2f}",
    )
    return f"| {' | '.join(cells)} |"


def rows_of(folder: Path, cache: Path, kind: str, size: int) -> list[Row]:
    """The rows about that many files of a kind."""
    pods = folder / f"{kind}-{size}"
    pods.mkdir()
    values = objects.review_pods(kind, size, namespace="ml-research")
    for number, value in enumerate(values):
        write(pods, number, value)

    def emptied(_turn: int) -> None:
        shutil.rmtree(cache, ignore_errors=True)

    def changed(turn: int) -> None:  # after the row of the first run, so the cache has all verdicts
        for number in range(turn, size, CHANGED_IN):
            write(pods, number, {**values[number], "status": {"message": f"round {turn}"}})

    check = usher(pods)
    name = f"{size:,} files, pods {KINDS[kind]}"
    found = [Row(pods=name, tool="no cache", command=[*check, "--no-cache"], peer=conftest(pods))]
    if kind == "names":
        found += [
            Row(pods=name, tool="first run", command=check, peer=conftest(pods), before=emptied),
            Row(pods=name, tool="1 % changed", command=check, peer=conftest(pods), before=changed),
        ]
    return found


def single_files(folder: Path) -> list[Row]:
    """The rows about one pod, and about one file of many pods."""
    values = objects.review_pods("names", max(SIZES["names"]), namespace="ml-research")
    one, many = folder / "one.yaml", folder / "many.yaml"
    one.write_text(as_yaml(values[0]))
    many.write_text("---\n".join(map(as_yaml, values)))
    return [
        Row(pods="one small file", tool="no cache", command=[*usher(one), "--no-cache"], peer=conftest(one)),
        Row(
            pods=f"one file of {len(values):,} pods {KINDS['names']}",
            tool="no cache",
            command=[*usher(many), "--no-cache"],
            peer=conftest(many),
        ),
    ]


def usher(path: Path) -> list[str]:
    return [commands.USHER, "check", str(path), "--format", "json"]


def conftest(path: Path) -> list[str]:
    found = built_peers.conftest(path)
    if found is None:
        raise SystemExit("conftest is missing, and Go, which could build it")
    return found


def write(folder: Path, number: int, value: paths.Object) -> None:
    (folder / f"{number:05}.yaml").write_text(as_yaml(value))


def as_yaml(value: paths.Object) -> str:
    # A JSON round trip leaves no object in two places, for which YAML would write anchors.
    return yaml.dump(orjson.loads(orjson.dumps(value)), Dumper=yaml.CSafeDumper, sort_keys=False)


def run(command: Sequence[str], cache: Path) -> Taken:
    # Each tool finds violations, and says so by its exit code.
    return commands.timed(command, environment={"USHER_CACHE_DIR": str(cache)}, may_fail=True)


if __name__ == "__main__":
    main()
