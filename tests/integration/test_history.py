"""A history in SQLite and in a real PostgreSQL: what audits record, and what goes wrong."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from builders import audit_documents as audits
from integration import postgres_server
from integration.postgres_server import PASSWORD
from usher import errors
from usher.audit.document import Audit, Completeness, Gap
from usher.audit.store import earlier_audits, recorded_audits

pytestmark = pytest.mark.costly

FIRST, SECOND = "2026-11-16T06:00:00Z", "2026-11-23T06:00:00Z"

needs_postgres = pytest.mark.skipif(
    postgres_server.programs() is None, reason="needs PostgreSQL (Debian package postgresql)"
)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server.running() as url:
        yield url


def with_password(url: str, password: str = PASSWORD) -> str:
    return url.replace("usher@", f"usher:{quote(password, safe='')}@")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=needs_postgres)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A history that is yet to be made."""
    if request.param == "sqlite":
        return str(tmp_path / "history.sqlite")
    url = with_password(request.getfixturevalue("server"))
    with recorded_audits.postgres_session(url) as session:
        for table in ("history", "audits", "findings"):
            session.rows(f"DROP TABLE IF EXISTS gpu_usher_{table}")
    return url


def taken(at: str, *fingerprints: str, cluster: str = "prod-eu") -> Audit:
    named = audits.audit().cluster.model_copy(update={"name": cluster})
    return audits.audit(taken=at, cluster=named, findings=tuple(map(audits.finding, fingerprints)))


def session(place: str) -> Callable[[], list[recorded_audits.Row]]:
    def rows() -> list[recorded_audits.Row]:
        opened = (
            recorded_audits.postgres_session(place) if "://" in place else recorded_audits.sqlite_session(Path(place))
        )
        with opened as found:
            return found.rows("SELECT taken FROM gpu_usher_audits")

    return rows


def failure(place: str, audit: Audit | None = None) -> str:
    with pytest.raises(errors.InputError) as raised:
        recorded_audits.record(place, audit or taken(SECOND, "a"))
    return str(raised.value)


def test_the_second_audit_says_what_changed_since_the_first(place: str) -> None:
    recorded_audits.record(place, taken(FIRST, "a", "b"))
    trend = recorded_audits.record(place, taken(SECOND, "b", "c"))

    assert (trend.previous, trend.new, [each.fingerprint for each in trend.fixed]) == (FIRST, ("c",), ["a"])
    assert trend.first_seen == {"b": FIRST, "c": SECOND}
    assert [each.taken for each in trend.points] == [FIRST, SECOND]


def test_recording_an_audit_again_changes_nothing(place: str) -> None:
    recorded_audits.record(place, taken(FIRST, "a"))

    assert recorded_audits.record(place, taken(SECOND, "b")) == recorded_audits.record(place, taken(SECOND, "b"))
    assert len(session(place)()) == 2


def test_clusters_are_kept_apart(place: str) -> None:
    recorded_audits.record(place, taken(FIRST, "a"))
    trend = recorded_audits.record(place, taken(SECOND, "b", cluster="staging"))

    assert (trend.previous, trend.fixed) == ("", ())
    assert recorded_audits.record(place, taken(SECOND, "a")).previous == FIRST


def of_namespace(audit: Audit, name: str = "ml-research") -> Audit:
    return audit.model_copy(update={"cluster": audit.cluster.model_copy(update={"namespace": name})})


def test_an_audit_of_one_namespace_changes_nothing_in_the_history_of_its_cluster(place: str) -> None:
    """It looks at no quota and no node, so it does not know whether their findings are fixed."""
    recorded_audits.record(place, taken(FIRST, "quota", "own"))
    recorded_audits.record(place, of_namespace(taken("2026-11-20T06:00:00Z", "own", "mine")))

    trend = recorded_audits.record(place, taken(SECOND, "quota", "own"))

    assert (trend.previous, trend.new, trend.fixed) == (FIRST, (), ())
    assert trend.first_seen == {"own": FIRST, "quota": FIRST}
    assert [each.taken for each in trend.points] == [FIRST, SECOND]


def test_a_namespace_has_a_history_of_its_own(place: str) -> None:
    recorded_audits.record(place, taken(FIRST, "quota"))
    recorded_audits.record(place, of_namespace(taken(FIRST, "a")))
    recorded_audits.record(place, of_namespace(taken(FIRST, "b"), "other"))

    trend = recorded_audits.record(place, of_namespace(taken(SECOND, "c")))

    assert (trend.previous, trend.new, [each.fingerprint for each in trend.fixed]) == (FIRST, ("c",), ["a"])
    assert [each.taken for each in trend.points] == [FIRST, SECOND]


def test_points_of_one_namespace_that_an_earlier_usher_added_are_not_those_of_the_cluster(place: str) -> None:
    note = Gap(source="--in-namespace ml-research", reason="workloads of other namespaces are left out")
    part = taken(FIRST, "a").model_copy(update={"completeness": Completeness(complete=True, left_out=(note,))})
    recorded_audits.record(place, part)

    trend = recorded_audits.record(place, taken(SECOND, "a"))

    assert trend.first_seen == {"a": FIRST}, "its findings stay known"
    assert [each.taken for each in trend.points] == [SECOND]


def known_by(audit: Audit, uid: str) -> Audit:
    """The audit of a cluster whose kube-system has a uid."""
    return audit.model_copy(update={"cluster": audit.cluster.model_copy(update={"id": uid})})


def test_a_cluster_keeps_its_history_under_another_name(place: str) -> None:
    recorded_audits.record(place, known_by(taken(FIRST, "a"), "uid-1"))

    trend = recorded_audits.record(place, known_by(taken(SECOND, "a", cluster="renamed"), "uid-1"))

    assert (trend.previous, trend.new, trend.first_seen) == (FIRST, (), {"a": FIRST})


def test_two_clusters_of_one_name_are_kept_apart(place: str) -> None:
    """As those of two pods, which both ask https://10.96.0.1:443."""
    recorded_audits.record(place, known_by(taken(FIRST, "a"), "uid-1"))
    recorded_audits.record(place, known_by(taken(FIRST, "b"), "uid-2"))

    trend = recorded_audits.record(place, known_by(taken(SECOND, "a"), "uid-1"))

    assert (trend.fixed, trend.first_seen) == ((), {"a": FIRST})
    assert recorded_audits.record(place, taken(SECOND, "c")).previous == "", "without its id it could be either"


def test_a_cluster_that_tells_no_id_is_known_by_its_name(place: str) -> None:
    recorded_audits.record(place, known_by(taken(FIRST, "a"), "uid-1"))

    assert recorded_audits.record(place, taken(SECOND, "a")).first_seen == {"a": FIRST}
    assert recorded_audits.record(place, known_by(taken("2026-11-30T06:00:00Z", "a"), "uid-1")).previous == SECOND


def of_version_1(place: str, name: str) -> None:
    """A history with one finding, as the first usher wrote it: by the name of the cluster."""
    opened = recorded_audits.postgres_session(place) if "://" in place else recorded_audits.sqlite_session(Path(place))
    point = earlier_audits.point_of(taken(FIRST, "a")).model_dump_json(by_alias=True)
    finding = ("a", "USH103", "title", "requests", "batch/v1", "Job", "ml-research", "bert", FIRST, FIRST, "")
    with opened as found:
        for statement in ("CREATE TABLE gpu_usher_history (version TEXT NOT NULL)", *recorded_audits.MIGRATIONS[0]):
            found.rows(statement)
        found.rows("INSERT INTO gpu_usher_history (version) VALUES (?)", ["1"])
        found.rows("INSERT INTO gpu_usher_audits VALUES (?, ?, ?, ?)", [name, FIRST, point, "[]"])
        marks = ", ".join("?" * (len(finding) + 1))
        found.rows(f"INSERT INTO gpu_usher_findings VALUES ({marks})", [name, *finding])


LONG = "cluster of context prod-eu (https://10.0.0.1:6443)"


@pytest.mark.parametrize("name", ["prod-eu", LONG])
@pytest.mark.parametrize("uid", ["uid-1", ""])
def test_a_history_by_names_goes_on_by_the_id(place: str, name: str, uid: str) -> None:
    of_version_1(place, name)

    trend = recorded_audits.record(place, known_by(taken(SECOND, "a"), uid), former=[LONG])
    third = recorded_audits.record(place, known_by(taken("2026-11-30T06:00:00Z"), uid))

    assert (trend.previous, trend.first_seen) == (FIRST, {"a": FIRST})
    assert (third.previous, [each.fingerprint for each in third.fixed]) == (SECOND, ["a"])


def test_an_old_history_goes_to_one_cluster_alone(place: str) -> None:
    of_version_1(place, "prod-eu")
    recorded_audits.record(place, known_by(taken(SECOND, "a"), "uid-1"))

    assert recorded_audits.record(place, known_by(taken(SECOND, "b"), "uid-2")).previous == ""


def test_a_full_document_comes_back_in_its_points(place: str) -> None:
    recorded_audits.record(place, audits.full())
    (before, _) = recorded_audits.record(place, taken("2026-11-30T06:00:00Z")).points

    assert (before.gpus, before.idle, before.idle_cost, before.never) == (16, 900.25, 2250.625, 1)


def test_runs_at_once_lose_nothing(place: str) -> None:
    """Audits of one cluster and of another, at the same time, the first of which makes the tables."""
    runs = [
        taken(f"2026-11-{day:02}T06:00:00Z", "always", cluster=cluster)
        for day in range(1, 9)
        for cluster in ("prod-eu", "staging")
    ]
    with ThreadPoolExecutor(6) as pool:
        trends = list(pool.map(lambda audit: recorded_audits.record(place, audit), runs))

    assert len(session(place)()) == len(runs)
    assert all(not trend.fixed for trend in trends)
    assert recorded_audits.record(place, taken(SECOND, "always")).first_seen == {"always": "2026-11-01T06:00:00Z"}


@pytest.mark.parametrize("text", ["'; DROP TABLE gpu_usher_audits; --", "\x00\x1b[31m\u202e", "\ud800", "%s ? :a"])
def test_any_name_is_recorded(place: str, text: str) -> None:
    audit = audits.audit(
        taken=FIRST,
        cluster=audits.audit().cluster.model_copy(update={"name": text}),
        findings=(audits.finding(text, title=text, subject=audits.subject(text)),),
    )
    recorded_audits.record(place, audit)
    later = recorded_audits.record(place, audit.model_copy(update={"taken": SECOND, "findings": ()}))

    assert later.previous == FIRST
    assert len(later.fixed) == 1


def test_a_history_of_a_later_usher_is_refused_and_unchanged(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as later:
        later.setattr(recorded_audits, "MIGRATIONS", (*recorded_audits.MIGRATIONS, ()))
        recorded_audits.record(place, taken(FIRST, "a"))

    assert "the history has version 3, and this usher knows version 2." in failure(place)
    assert [row[0] for row in session(place)()] == [FIRST]


def test_a_history_of_an_earlier_usher_is_brought_up_to_date(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded_audits.record(place, taken(FIRST, "a"))
    added = ("ALTER TABLE gpu_usher_findings ADD COLUMN owner TEXT NOT NULL DEFAULT ''",)
    monkeypatch.setattr(recorded_audits, "MIGRATIONS", (*recorded_audits.MIGRATIONS, added))

    assert recorded_audits.record(place, taken(SECOND, "a")).first_seen == {"a": FIRST}
    assert recorded_audits.record(place, taken(SECOND, "a")).first_seen == {"a": FIRST}


def test_damaged_contents_are_named(place: str) -> None:
    recorded_audits.record(place, taken(FIRST, "a"))
    opened = recorded_audits.postgres_session(place) if "://" in place else recorded_audits.sqlite_session(Path(place))
    with opened as found:
        found.rows("UPDATE gpu_usher_audits SET point = ?", ["{}"])

    assert "the history holds something else than usher wrote" in failure(place)


def test_an_error_while_writing_leaves_the_history_as_it_was(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row of the audit is written before those of its findings."""
    recorded_audits.record(place, taken(FIRST, "a"))

    with monkeypatch.context() as stopping:
        stopping.setattr(recorded_audits, "_UPSERT_FINDING", "INSERT INTO nowhere VALUES (?)")
        failure(place)

    assert [row[0] for row in session(place)()] == [FIRST]


FULL_DISK = """
import resource, signal, sys
from builders import audit_documents as audits
from usher import errors
from usher.audit.store import recorded_audits
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
many = tuple(audits.finding(f"{number}") for number in range(10_000))
try:
    recorded_audits.record(sys.argv[1], audits.audit(taken="2026-11-23T06:00:00Z", findings=many))
except errors.InputError as error:
    print(error)
"""


@pytest.mark.full_disk
def test_a_full_disk_is_said_and_leaves_the_history_as_it_was(tmp_path: Path) -> None:
    place = str(tmp_path / "history.sqlite")
    recorded_audits.record(place, taken(FIRST, "a"))

    tests = str(Path(__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", FULL_DISK, place],
        env={**os.environ, "PYTHONPATH": tests},
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout.startswith(f"{place}: the history cannot be used: ")
    assert [row[0] for row in session(place)()] == [FIRST]


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be read as one" * 40)
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE songs (title)")
    other.close()

    assert failure(str(tmp_path / "notes.txt")).endswith(
        "the history cannot be used: file is not a database; name another file"
    )
    assert failure(str(tmp_path / "other.db")).endswith("this database is not a history of usher; name another file")


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    assert failure(str(tmp_path / "gone/history.sqlite")) == (
        f"{tmp_path}/gone/history.sqlite: the history cannot be used: the folder {tmp_path}/gone does not exist; make "
        "it, or name another file"
    )


def test_a_folder_is_not_a_history(tmp_path: Path) -> None:
    assert failure(str(tmp_path)) == (
        f"{tmp_path}: the history cannot be used: this is a folder; name a file in it, for example history.sqlite"
    )


def test_a_history_that_may_not_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "history.sqlite"
    recorded_audits.record(str(place), taken(FIRST, "a"))
    opened = sqlite3.connect

    def read_only(path: Path, **options: Any) -> sqlite3.Connection:
        """As for a user without the permission: root may write any file."""
        connection: sqlite3.Connection = opened(f"{path.as_uri()}?mode=ro", uri=True, **options)
        return connection

    monkeypatch.setattr(sqlite3, "connect", read_only)

    assert failure(str(place)) == (
        f"{place}: the history cannot be used: attempt to write a readonly database; see "
        "that usher may write the file and its folder, and that the disk is not read-only"
    )


@needs_postgres
def test_no_message_holds_the_password(server: str) -> None:
    for url in (
        with_password(server, "se-cret"),
        "postgresql://usher:se-cret@nowhere.invalid/audits",
        "postgresql://usher:se-cret/x@localhost/audits",
        "postgresql://usher:se-cret@[::1/audits",
        "postgresql://usher:se%-cret@localhost/audits?nothing=1",
        "postgresql://localhost:1/audits?password=se-cret",
    ):
        message = failure(url)
        assert "cret" not in message, url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://usher:a@db.example/audits", "postgresql://usher@db.example/audits"),
        ("postgres://db.example:5432/audits?password=a", "postgres://db.example:5432/audits"),
        ("postgresql://usher:a/b?c@db.example/audits", "postgresql://usher@db.example/audits"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert recorded_audits.shown_place(url) == shown
