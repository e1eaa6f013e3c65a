"""Runs `usher ARGUMENT...` as a fork (forked_server.py), with the streams, folder and environment of this process.

`python -I -S forked_command.py NAME ARGUMENT...`: it imports little, because it starts where `usher` would start.
"""

import json
import os
import signal
import socket
import struct
import sys
import time
from types import FrameType

_NUMBER = struct.Struct("i")


_READY_WITHIN = 120.0
"""Seconds for the process that forks to import usher, once."""


def connect(connection: socket.socket, address: str) -> None:
    """Connects to the process that forks, as soon as it listens."""
    until = time.monotonic() + _READY_WITHIN
    while True:
        try:
            return connection.connect(address)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def main() -> None:
    _, name, *arguments = sys.argv
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connect(connection, f"\0{name}")
        cwd = os.getcwd()  # noqa: PTH109 - quick to import
        asked = {"arguments": arguments, "env": dict(os.environ), "cwd": cwd, "path": []}
        socket.send_fds(connection, [json.dumps(asked).encode()], [0, 1, 2])
        (command,) = _NUMBER.unpack(connection.recv(_NUMBER.size))

        def pass_on(number: int, _: FrameType | None) -> None:
            os.kill(command, number)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, pass_on)
        (code,) = _NUMBER.unpack(connection.recv(_NUMBER.size))
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
