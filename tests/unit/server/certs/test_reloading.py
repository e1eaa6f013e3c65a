"""Clients are served while the files behind the server change, break and go."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import uvicorn
import uvloop

from clocks import Calendar
from unit.server.certs.directories import NAMES, renewed, write_pair, written
from unit.server.certs.handshakes import BOUND, client_context, connected, echoed, listening, serial_seen
from usher.errors import CertificateError
from usher.server.certs import issue, serving
from usher.server.certs.serving import Checked, Reloader

NOW = datetime(2026, 9, 29, 10, 0, tzinfo=UTC)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "certs"


def reloader_of(directory: Path, *, clock: Calendar | None = None) -> Reloader:
    return Reloader(directory / "tls.crt", directory / "tls.key", clock=clock or Calendar(datetime.now(UTC)))


def publish(volume: Path, issued: issue.Issued, *, version: str) -> None:
    """Puts a pair into a volume as the kubelet does: a new directory, and one swap of the symlink `..data`."""
    write_pair(volume / version, issued)
    (volume / "..data_tmp").symlink_to(version)
    (volume / "..data_tmp").rename(volume / "..data")
    for name in ("tls.crt", "tls.key"):
        if not (volume / name).is_symlink():
            (volume / name).symlink_to(f"..data/{name}")


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
async def test_clients_with_and_without_sni_see_the_new_leaf_after_a_reload(directory: Path, name: str) -> None:
    first = written(directory)
    reloader = reloader_of(directory)
    client = client_context(first.authority.certificate)
    async with listening(reloader.context) as port:
        assert await serial_seen(port, client, name=name) == first.leaf.serial_number
        assert reloader.check() == Checked(reloaded=False, problem=None)

        second = renewed(first)
        write_pair(directory, second)
        assert reloader.check() == Checked(reloaded=True, problem=None)
        assert await serial_seen(port, client, name=name) == second.leaf.serial_number
        assert reloader.leaf == second.leaf


async def test_open_connections_live_through_a_reload(directory: Path) -> None:
    first = written(directory)
    reloader = reloader_of(directory)
    async with (
        listening(reloader.context) as port,
        connected(port, client_context(first.authority.certificate), name="localhost") as (reader, writer),
    ):
        assert await echoed(reader, writer, b"before\n") == b"before\n"
        write_pair(directory, renewed(first))
        assert reloader.check().reloaded
        assert await echoed(reader, writer, b"after\n") == b"after\n"


async def test_while_the_key_does_not_match_the_old_pair_is_served(directory: Path) -> None:
    first = written(directory)
    reloader = reloader_of(directory)
    client = client_context(first.authority.certificate)
    second = renewed(first)
    async with listening(reloader.context) as port:
        write_pair(directory, second, key=False)
        for _ in range(3):
            checked = reloader.check()
            assert not checked.reloaded
            assert "does not belong" in str(checked.problem)
            assert reloader.problem is checked.problem
            assert await serial_seen(port, client) == first.leaf.serial_number

        write_pair(directory, second)
        assert reloader.check() == Checked(reloaded=True, problem=None)
        assert reloader.problem is None
        assert await serial_seen(port, client) == second.leaf.serial_number


async def test_no_call_fails_while_leaf_after_leaf_is_written_certificate_first_and_key_later(directory: Path) -> None:
    first = written(directory)
    reloader = reloader_of(directory)
    client = client_context(first.authority.certificate)
    leaves = [renewed(first) for _ in range(20)]

    def renew() -> int:
        reloads = 0
        for leaf in leaves:
            write_pair(directory, leaf, key=False)
            reloads += reloader.check().reloaded
            write_pair(directory, leaf, certificate=False)
            reloads += reloader.check().reloaded
        return reloads

    async def call(port: int) -> list[int]:
        return [await serial_seen(port, client) for _ in range(30)]

    async with listening(reloader.context) as port:
        renewing = asyncio.create_task(asyncio.to_thread(renew))
        seen = await asyncio.gather(*(call(port) for _ in range(4)))
        assert await renewing == len(leaves)
        assert await serial_seen(port, client) == leaves[-1].leaf.serial_number
    known = {issued.leaf.serial_number for issued in (first, *leaves)}
    assert all(set(serials) <= known for serials in seen)


@pytest.mark.parametrize("damage", ["deleted", "truncated", "expired"])
async def test_while_the_files_are_bad_the_old_pair_is_served(directory: Path, damage: str) -> None:
    first = written(directory)
    reloader = reloader_of(directory)
    if damage == "deleted":
        (directory / "tls.crt").unlink()
    elif damage == "truncated":
        (directory / "tls.crt").write_bytes(first.files["tls.crt"][:200])
    else:
        write_pair(directory, issue.issue(names=NAMES, certificate_authority=None, now=NOW - timedelta(days=900)))

    checked = reloader.check()

    assert not checked.reloaded
    assert checked.problem
    async with listening(reloader.context) as port:
        client = client_context(first.authority.certificate)
        assert await serial_seen(port, client) == first.leaf.serial_number
    write_pair(directory, first)
    assert reloader.check() == Checked(reloaded=False, problem=None)


def test_a_pair_that_is_not_renewed_becomes_a_problem_when_it_expires(directory: Path) -> None:
    issued = written(directory, now=NOW)
    clock = Calendar(NOW)
    reloader = reloader_of(directory, clock=clock)
    clock.now = issued.leaf.not_valid_after_utc
    checked = reloader.check()
    assert not checked.reloaded
    assert "expired on 2026-12-28" in str(checked.problem)
    assert reloader.unusable == "the certificate expired on 2026-12-28 10:00 UTC"


def test_a_clock_that_steps_back_makes_the_pair_in_service_unusable(directory: Path) -> None:
    written(directory, now=NOW)
    clock = Calendar(NOW)
    reloader = reloader_of(directory, clock=clock)
    assert reloader.unusable == ""

    clock.now = NOW - timedelta(days=1)
    assert "is not valid before" in str(reloader.check().problem)
    assert "is not valid before" in reloader.unusable


def test_a_pair_from_the_future_is_served_once_its_time_has_come(directory: Path) -> None:
    first = written(directory, now=NOW)
    clock = Calendar(NOW)
    reloader = reloader_of(directory, clock=clock)
    write_pair(directory, renewed(first, now=NOW + timedelta(hours=1)))
    assert "not valid before" in str(reloader.check().problem)
    clock.now = NOW + timedelta(hours=1)
    assert reloader.check() == Checked(reloaded=True, problem=None)


def test_a_server_does_not_start_with_a_pair_that_it_cannot_serve(directory: Path) -> None:
    issued = written(directory)
    write_pair(directory, renewed(issued), key=False)
    with pytest.raises(CertificateError, match="does not belong"):
        reloader_of(directory)


async def test_a_mounted_secret_is_reloaded_when_the_kubelet_swaps_it(directory: Path) -> None:
    first = issue.issue(names=NAMES, certificate_authority=None, now=datetime.now(UTC))
    second = renewed(first)
    publish(directory, first, version="..2026_09_29_10_00_00.1")
    reloader = reloader_of(directory)
    async with listening(reloader.context) as port:
        client = client_context(first.authority.certificate)
        assert await serial_seen(port, client) == first.leaf.serial_number
        publish(directory, second, version="..2026_11_28_10_00_00.2")
        assert reloader.check() == Checked(reloaded=True, problem=None)
        assert await serial_seen(port, client) == second.leaf.serial_number


def test_both_files_are_read_from_the_directory_that_was_published_when_reading_began(directory: Path) -> None:
    first = issue.issue(names=NAMES, certificate_authority=None, now=datetime.now(UTC))
    publish(directory, first, version="..1")
    resolved = serving._resolve(directory / "tls.crt", directory / "tls.key")
    publish(directory, renewed(first), version="..2")
    assert resolved == (directory / "..1" / "tls.crt", directory / "..1" / "tls.key")
    Reloader(*resolved)


def test_files_beside_a_published_directory_are_read_where_they_are(directory: Path) -> None:
    issued = written(directory)
    (directory / "..1").mkdir()
    (directory / "..data").symlink_to("..1")
    assert reloader_of(directory).leaf == issued.leaf


def test_certificate_and_key_may_live_in_two_directories(directory: Path) -> None:
    issued = written(directory)
    key = directory / "keys" / "server.key"
    key.parent.mkdir()
    (directory / "tls.key").rename(key)
    assert Reloader(directory / "tls.crt", key).leaf == issued.leaf


async def test_the_watch_reports_reloads_and_each_problem_once(directory: Path) -> None:
    first = written(directory)
    second = renewed(first)
    reports: asyncio.Queue[Checked] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    reloader = reloader_of(directory)
    watch = loop.create_task(serving.watch(reloader, 0.001, report=reports.put_nowait))

    write_pair(directory, second, key=False)
    problem = await asyncio.wait_for(reports.get(), BOUND)
    assert not problem.reloaded
    assert "does not belong" in str(problem.problem)

    write_pair(directory, second, certificate=False)
    assert await asyncio.wait_for(reports.get(), BOUND) == Checked(reloaded=True, problem=None)

    (directory / "tls.key").unlink()
    assert "the file does not exist" in str((await asyncio.wait_for(reports.get(), BOUND)).problem)
    write_pair(directory, second)
    assert await asyncio.wait_for(reports.get(), BOUND) == Checked(reloaded=False, problem=None)

    watch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await watch


@pytest.mark.parametrize("loop_factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_uvicorn_serves_the_new_leaf_without_a_restart(
    directory: Path, loop_factory: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    first = written(directory)
    reloader = reloader_of(directory)
    config = uvicorn.Config(
        no_content,
        ssl_context_factory=lambda _config, _default: reloader.context,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
    )
    with socket.create_server(("127.0.0.1", 0)) as listener, asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(renew_under_uvicorn(uvicorn.Server(config), listener, directory, reloader=reloader, first=first))


async def renew_under_uvicorn(
    server: uvicorn.Server, listener: socket.socket, directory: Path, *, reloader: Reloader, first: issue.Issued
) -> None:
    """Asks on one connection before and after the renewal, then on a new one."""
    port = listener.getsockname()[1]
    client = client_context(first.authority.certificate)
    second = renewed(first)
    serving_task = asyncio.get_running_loop().create_task(server.serve(sockets=[listener]))
    async with connected(port, client, name="127.0.0.1") as (reader, writer):
        assert await answered(reader, writer) == first.leaf.serial_number
        write_pair(directory, second)
        assert reloader.check().reloaded
        assert await answered(reader, writer) == first.leaf.serial_number
    async with connected(port, client, name="localhost") as (reader, writer):
        assert await answered(reader, writer) == second.leaf.serial_number
    server.should_exit = True
    await asyncio.wait_for(serving_task, BOUND)


async def no_content(_scope: object, _receive: object, send: Callable[[dict[str, object]], Awaitable[None]]) -> None:
    """An ASGI application that answers 204."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    """Asks once and reads the answer; the serial number that this connection was shown."""
    writer.write(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
    assert (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), BOUND)).startswith(b"HTTP/1.1 204")
    return int(writer.get_extra_info("ssl_object").getpeercert()["serialNumber"], 16)


def test_a_new_pair_for_other_names_is_refused_and_the_old_one_stays(tmp_path: Path) -> None:
    first = written(tmp_path)
    reloader = Reloader(tmp_path / "tls.crt", tmp_path / "tls.key", names=["localhost"])
    written(tmp_path, authority=first.authority, names=("elsewhere.example",))

    checked = reloader.check()

    assert not checked.reloaded
    assert "the certificate is not for localhost" in str(checked.problem)
    assert reloader.leaf == first.leaf
