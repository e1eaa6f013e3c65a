"""Starts servers, and `usher` in scripts, as forks of a process that has imported usher already.

To import it takes a server most of its processor time until it is ready, and tests start some 150 of them. Tests of the
start itself start new processes (`e2e.processes.start`).
"""

import contextlib
import ctypes
import functools
import importlib
import json
import os
import random
import select
import shlex
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import BinaryIO, Final, NoReturn

_IMPORTED: Final = (
    "usher.cli.main",
    "usher.cli.check",
    "usher.check.runner",
    "usher.check.editor.serving",
    "usher.policy.assembly",
    "usher.cli.serve",
    "usher.server.serve",
    "usher.server.live_cluster",
)
_CLIENT: Final = Path(__file__).with_name("forked_command.py")

_END_WITH_PARENT: Final = 1
"""PR_SET_PDEATHSIG of prctl(2)."""

_NUMBER: Final = struct.Struct("i")

_starting: Final = threading.Lock()


class Forked:
    """A server, with what tests use of `subprocess.Popen`."""

    def __init__(self, keeper: socket.socket) -> None:
        """Takes the connection to the parent of the server, which says its id and later its exit code."""
        self._keeper = keeper
        self._asking = threading.Lock()
        (self.pid,) = _NUMBER.unpack(keeper.recv(_NUMBER.size))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        return self._exit_code(0)

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, as soon as it has ended."""
        code = self._exit_code(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("usher", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _exit_code(self, timeout: float | None) -> int | None:
        with self._asking:
            if self.returncode is None:
                self._keeper.settimeout(timeout)
                try:
                    said = self._keeper.recv(_NUMBER.size)
                except (BlockingIOError, TimeoutError):
                    return None
                (self.returncode,) = _NUMBER.unpack(said) if said else (-signal.SIGKILL,)
                self._keeper.close()
            return self.returncode


def can_start(env: Mapping[str, str]) -> bool:
    """Whether a fork runs as a new process would: not where Python or an imported library reads other variables."""
    read = {key: value for key, value in env.items() if key.startswith(("PYTHON", "COVERAGE", "KUBECONFIG"))}
    given = {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}
    return sys.platform == "linux" and read == given


def start(
    arguments: Sequence[str], *, log: BinaryIO, env: Mapping[str, str], constants: Mapping[str, float] | None = None
) -> Forked:
    """A server `usher ARGUMENT...` that writes to `log`; it ends with this process at the latest.

    `constants` are values of it that differ, by `module.NAME`.
    """
    cwd = str(Path.cwd())
    asked = {"arguments": list(arguments), "env": dict(env), "cwd": cwd, "path": [cwd], "constants": constants or {}}
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with _starting, theirs:
        connection, _ = _forking_process()
        with Path(os.devnull).open("rb") as nothing:
            files = [nothing.fileno(), log.fileno(), log.fileno(), theirs.fileno()]
            socket.send_fds(connection, [json.dumps(asked).encode()], files)
    return Forked(ours)


def command_line(env: Mapping[str, str] | None = None) -> list[str]:
    """The command `usher`, to which arguments can be added: for processes whose start is not the subject of a test.

    `env` is the environment that it will have, as far as it is not that of this process.
    """
    if not can_start(env if env is not None else _of_coverage()):
        return [sys.executable, "-m", "usher"]
    with _starting:
        _, process = _forking_process()
    return [sys.executable, "-I", "-S", str(_CLIENT), _name(process.pid)]


def shell_command() -> str:
    """That command for a shell, for scripts that call it."""
    return shlex.join(command_line())


def _of_coverage() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key.startswith(("PYTHONPATH", "COVERAGE"))}


def _name(pid: int) -> str:
    """The address in the abstract name space of Linux at which a forking process takes commands of scripts."""
    return f"usher-of-tests-{pid}"


@functools.cache
def _forking_process() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """The process that forks servers, and the connection to it; it ends when the connection does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "PYTHONPATH")}
    with theirs:
        # As `usher` does before it imports pydantic.
        env = {**kept, "LANG": "C.UTF-8", "PYDANTIC_DISABLE_PLUGINS": "__all__"}
        process = subprocess.Popen(
            [sys.executable, __file__], stdin=theirs.fileno(), stdout=subprocess.DEVNULL, env=env, process_group=0
        )
    return ours, process


def end() -> None:
    """Ends what forks servers. What these took counts as what this process took."""
    if _forking_process.cache_info().currsize:
        connection, process = _forking_process()
        connection.close()
        process.wait(timeout=60)
        _forking_process.cache_clear()


def _next_start(connection: socket.socket) -> list[str]:
    """Returns in a new fork, for each start that is asked for, with the arguments of the server."""
    signal.signal(signal.SIGCHLD, _reap)
    scripts = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    scripts.bind(f"\0{_name(os.getpid())}")
    scripts.listen(64)
    while True:
        ready, _, _ = select.select([connection, scripts], [], [])
        caller = connection if connection in ready else scripts.accept()[0]
        message, files, _, _ = socket.recv_fds(caller, 1 << 20, 4)
        if caller is connection and not message:
            sys.exit()
        if caller is not connection:
            files.append(caller.detach())
        if message and os.fork() == 0:
            break
        for each in files:
            os.close(each)
    scripts.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    end_with_parent = ctypes.CDLL(None).prctl
    end_with_parent(_END_WITH_PARENT, signal.SIGKILL)
    server = os.fork()
    if server:
        _keep(server, socket.socket(fileno=files.pop()), files)
    os.setpgid(0, 0)
    end_with_parent(_END_WITH_PARENT, signal.SIGKILL)
    asked = json.loads(message)
    connection.detach()
    for standard, file in enumerate(files[:3]):
        os.dup2(file, standard)
    for each in files:
        os.close(each)
    # What Python knows about a stream, for example whether it can seek, it asks when it opens the stream.
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    sys.path[:1] = asked["path"]
    time.tzset()
    random.seed()
    for path, value in asked.get("constants", {}).items():
        module, _, name = path.rpartition(".")
        assert hasattr(sys.modules[module], name)
        setattr(sys.modules[module], name, value)
    arguments: list[str] = asked["arguments"]
    return arguments


def _reap(_number: int, _frame: FrameType | None) -> None:
    """Takes up the parents of servers that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _keep(server: int, tests: socket.socket, files: Sequence[int]) -> NoReturn:
    """Waits for the end of a server, as its parent. It holds no stream of the server open."""
    for each in files:
        os.close(each)
    tests.send(_NUMBER.pack(server))
    _, status = os.waitpid(server, 0)
    with contextlib.suppress(OSError):
        tests.send(_NUMBER.pack(os.waitstatus_to_exitcode(status)))
    os._exit(0)


if __name__ == "__main__":
    for name in _IMPORTED:
        importlib.import_module(name)
    sys.argv = ["usher", *_next_start(socket.socket(fileno=0))]
    from usher.cli.main import main

    main()
