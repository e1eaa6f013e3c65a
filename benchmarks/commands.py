"""Runs a command to its end, and measures what it took."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

USHER: Final = str(Path(sys.executable).parent / "usher")

_SAID: Final = 2_000
"""Bytes of its last messages that an error shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The time and memory of one process, with all that it started and waited for."""

    seconds: float
    """By the clock."""
    processor: float
    """Seconds of processor time."""
    megabytes: float
    """The most resident memory of the largest process."""


def timed(
    command: Sequence[str | Path], *, environment: Mapping[str, str] | None = None, may_fail: bool = False
) -> Taken:
    """Raises SystemExit with the last messages of a command that failed, unless it may."""
    with tempfile.TemporaryFile() as said:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, env={**os.environ, **(environment or {})}, stdout=subprocess.DEVNULL, stderr=said
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode and not may_fail:
            said.seek(0)
            last = said.read()[-_SAID:].decode(errors="replace")
            raise SystemExit(f"{' '.join(map(str, command))} ended with {process.returncode}: {last}")
    # Linux counts kibibytes.
    return Taken(seconds=seconds, processor=usage.ru_utime + usage.ru_stime, megabytes=usage.ru_maxrss * 1024 / 1e6)
