"""Two servers on one port, as an experiment: the kernel spreads connections between them (SO_REUSEPORT).

The second process is a fork of the first after all imports, so that both share the memory of modules. The package does
not do this; `cores.py` compares it with two replicas. Arguments: the second admin port, and those of `usher`.
"""

import ctypes
import functools
import gc
import os
import signal
import socket
import sys

from usher.cli import main
from usher.policy import evaluator
from usher.policy.engines import wasm
from usher.server import serve

_END_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


def run() -> None:
    admin_port, sys.argv[1:] = sys.argv[1], sys.argv[2:]
    socket.create_server = functools.partial(socket.create_server, reuse_port=True)
    imported = (evaluator, wasm, serve)
    assert all(imported)  # before the fork
    gc.freeze()
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGTERM)
        sys.argv[sys.argv.index("--admin-port") + 1] = admin_port
    main.main()


if __name__ == "__main__":
    run()
