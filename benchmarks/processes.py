"""Starts servers on loopback, measures them from outside, and stops them by their ids."""

import contextlib
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

START_BOUND = 60.0
"""Seconds a server may take to answer before the benchmark gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    pid: int
    seconds_to_ready: float

    def cpu_seconds(self) -> float:
        """Processor time of all its threads so far, to the nanosecond; wall time would also measure other processes."""
        nanoseconds = 0
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                nanoseconds += int((task / "schedstat").read_text().split()[0])
        return nanoseconds / 1e9

    def resident_megabytes(self) -> float:
        return self._memory("VmRSS:")

    def most_resident_megabytes(self) -> float:
        """The most memory at any time."""
        return self._memory("VmHWM:")

    def _memory(self, field: str) -> float:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
        raise RuntimeError(f"process {self.pid} has ended")


@contextlib.contextmanager
def running(command: Sequence[str | Path], *, ready_url: str, log: Path) -> Iterator[Server]:
    """A server that answers at `ready_url`."""
    started = time.monotonic()
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            while not _answers(ready_url):
                if process.poll() is not None or time.monotonic() - started > START_BOUND:
                    raise RuntimeError(f"{command[0]} did not start:\n{log.read_text()[-2000:]}")
                time.sleep(0.005)
            yield Server(pid=process.pid, seconds_to_ready=time.monotonic() - started)
        finally:
            process.terminate()
            process.wait(timeout=30)


def wait_for(url: str) -> None:
    """Waits until a server answers at this URL."""
    until = time.monotonic() + START_BOUND
    while not _answers(url):
        if time.monotonic() > until:
            raise RuntimeError(f"{url} does not answer")
        time.sleep(0.05)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
