"""The log as a whole: what libraries, warnings and lost errors write is JSON, a line each, and not too often."""

import json
import subprocess
import sys
from typing import Any, Final

SECRET: Final = "correct-horse-battery-staple"

_NOISE: Final = """
import asyncio, gc, logging, threading, warnings
from usher.server import logs

logs.configure()
logs.take_over_process()
warnings.warn("an old way", DeprecationWarning, stacklevel=1)
for number in range(1000):
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    logging.getLogger("opentelemetry").warning("Transient error %s", number)

def fail():
    raise ValueError("-".join(["correct", "horse", "battery", "staple"]))

thread = threading.Thread(target=fail)
thread.start()
thread.join()

class Broken:
    def __del__(self):
        fail()

Broken()
gc.collect()

async def forget():
    asyncio.get_running_loop().call_soon(fail)
    await asyncio.sleep(0.01)

asyncio.run(forget())
fail()
"""


def lines(code: str) -> list[dict[str, Any]]:
    """The log of a process that ends with an error and writes nothing else."""
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (1, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_noise_of_libraries_and_lost_errors_are_json_lines() -> None:
    found = lines(_NOISE)

    assert SECRET not in json.dumps(found), "the text of an error may quote an object"

    uncaught = [(line["place"], line["error"]) for line in found if line["event"] == "uncaught_error"]
    assert uncaught == [("thread", "ValueError"), ("finalizer", "ValueError"), ("process", "ValueError")]
    assert all("fail" in line["traceback"] for line in found if line["event"] == "uncaught_error")
    assert sum("an old way" in line["event"] for line in found) == 1
    assert sum(line["event"].startswith("Invalid HTTP") for line in found) == 1
    assert sum(line["event"].startswith("Transient error") for line in found) == 1
    assert sum("Exception in callback fail()" in line["event"] for line in found) == 1


_COUNTED: Final = """
import logging, sys, time

now = [0.0]
time.monotonic = lambda: now[0]
from usher.server import logs

logs.configure()
for number in range(3):
    logging.getLogger("library").warning("no answer from %s", number)
now[0] = 11.0
logging.getLogger("library").warning("no answer from %s", 9)
logging.getLogger("other").warning("no answer from %s", 9)
sys.exit(1)
"""


def test_a_line_says_how_many_similar_ones_were_left_out() -> None:
    assert [line["event"] for line in lines(_COUNTED)] == [
        "no answer from 0",
        "no answer from 9 (2 similar before)",
        "no answer from 9",
    ]
