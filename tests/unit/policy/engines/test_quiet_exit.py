"""A process that still has engines when it ends prints nothing about them."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.costly

BOUND = 60.0
"""Seconds after which a test gives up waiting."""

MAKE = """
import contextlib, os, threading
from usher import errors
from usher.policy.checks import catalogue
from usher.policy.engines.engine import Entrypoint
from usher.policy.engines.host_functions import PURE
from usher.policy.engines.wasm import WasmEngine
engine = WasmEngine(catalogue.load().module, functions=PURE)
"""

LEFT = {
    # The interpreter takes this module apart after those of wasmtime.
    "open": "os.kept = engine",
    "closed": "os.kept = engine; engine.close(); engine._sandbox.clock.stopped.wait()",
    "used by a thread that still runs": """
os.kept, started = engine, threading.Event()
def run():
    engine.ready()
    started.set()
    while True:
        # The document is no input of the checks; its evaluation takes time all the same.
        with contextlib.suppress(errors.EngineError):
            engine.evaluate(Entrypoint.FINDINGS, b"{}")
threading.Thread(target=run, daemon=True).start()
started.wait()
""",
}


@pytest.mark.parametrize("left", LEFT)
def test_a_process_with_an_engine_ends_silently(left: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAKE + LEFT[left]], capture_output=True, text=True, check=False, timeout=BOUND
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
