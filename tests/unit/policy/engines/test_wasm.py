"""The embedded engine against policies that misbehave: time, memory, results, threads."""

import gc
import itertools
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pytest

import opa_server
from usher import errors, paths
from usher.policy.engines import wasm as engines_wasm
from usher.policy.engines.engine import ANSWER_UNTIL, Entrypoint
from usher.policy.engines.wasm_runtime import Clock

pytestmark = opa_server.needs_opa
BOUND = 60.0
"""Seconds after which a test gives up waiting."""
POLICY = """
package usher.main

findings := {"version": 1, "echo": input.value} if input.does == "echo"

findings := input.value if input.does == "answer"

findings := {"version": 1, "found": found} if {
	input.does == "loop"
	many := numbers.range(1, 1000)
	found := [1 | some a in many; some b in many; some c in many; some d in many; a < b; b < c; c < d; d < a]
}

findings := {"version": 1, "sum": sum(numbers.range(1, 1000000000))} if input.does == "count"

findings := {"version": 1, "text": replace(input.value, "a", input.value)} if input.does == "double"

findings := {"version": 1, "which": which} if {
	input.does == "contradict"
	some which in [1, 2]
}

findings := {"version": 1, "parts": {part | some part in split(input.value, ",")}} if input.does == "gather"

findings := {"version": 1, "number": to_number(input.value)} if input.does == "convert"

intents := {"version": 1, "intents": []}

skips := {"version": 1, "skips": []}
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return opa_server.compiled(POLICY, tmp_path_factory.mktemp("policy"))


@pytest.fixture(scope="module")
def engine(module: bytes) -> Iterator[engines_wasm.WasmEngine]:
    """With more time than any machine needs: nothing here may fail for being slow."""
    engine = engines_wasm.WasmEngine(module, deadline=BOUND)
    yield engine
    engine.close()


@pytest.fixture
def hasty(module: bytes) -> Iterator[engines_wasm.WasmEngine]:
    """With less time than a loop takes on any machine."""
    engine = engines_wasm.WasmEngine(module, deadline=0.2)
    yield engine
    engine.close()


def ask(engine: engines_wasm.WasmEngine, does: str, value: paths.Json = None) -> paths.Object:
    return engine.evaluate(Entrypoint.FINDINGS, orjson.dumps({"does": does, "value": value}))


def echo(engine: engines_wasm.WasmEngine, value: paths.Json) -> paths.Json:
    return ask(engine, "echo", value)["echo"]


def wait_until(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + BOUND
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < ends
        pause.wait(0.001)


# Time


def test_a_policy_that_loops_is_stopped_at_the_deadline_and_the_next_call_works(hasty: engines_wasm.WasmEngine) -> None:
    with pytest.raises(errors.DeadlineError, match=r"usher/main/findings: the policies took longer than 0.2 s"):
        ask(hasty, "loop")

    assert hasty.evaluate(Entrypoint.INTENTS, b"{}") == {"version": 1, "intents": []}


def test_a_document_that_the_processor_works_on_until_the_deadline_is_too_much(
    hasty: engines_wasm.WasmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other work of the machine cannot cause this error, because only the time of the processor counts."""
    seconds = itertools.count(step=engines_wasm.OWN_SECONDS)
    monkeypatch.setattr(time, "thread_time", lambda: next(seconds))

    with pytest.raises(errors.ExhaustedError, match="more for the rules to do than usher has time for"):
        ask(hasty, "loop")

    assert echo(hasty, "still here") == "still here"


def _starved(monkeypatch: pytest.MonkeyPatch, *times: int) -> list[float]:
    """Lets the deadline of some calls pass before they begin, as if others had the processor; their numbers."""
    calls = list[float]()
    ticks = Clock.ticks

    def ticks_left(clock: Clock) -> int:
        calls.append(len(calls))
        return 0 if calls[-1] in times else ticks(clock)

    monkeypatch.setattr(Clock, "ticks", ticks_left)
    return calls


def test_a_file_whose_evaluation_got_no_processor_is_judged_again(
    engine: engines_wasm.WasmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.ready()
    _starved(monkeypatch, 0, 2)  # between them a new instance starts

    assert echo(engine, "judged") == "judged"


def test_a_review_whose_evaluation_got_no_processor_is_not_judged_again(
    engine: engines_wasm.WasmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.ready()
    calls = _starved(monkeypatch, 0)
    until = ANSWER_UNTIL.set(time.monotonic() + BOUND)

    try:
        with pytest.raises(errors.DeadlineError, match="took longer"):
            echo(engine, "late")
    finally:
        ANSWER_UNTIL.reset(until)

    # The next instance may have started by now, which is the call 1; a second judgement is the call 2.
    assert 2 not in calls


def test_an_evaluation_that_never_gets_the_processor_ends(
    engine: engines_wasm.WasmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.ready()
    _starved(monkeypatch, *range(0, 20, 2))

    with pytest.raises(errors.DeadlineError, match=f"longer than {BOUND:g} s"):
        echo(engine, "late")


@pytest.mark.costly
def test_many_loops_at_once_are_all_stopped_and_delay_no_other_call(
    hasty: engines_wasm.WasmEngine, engine: engines_wasm.WasmEngine
) -> None:
    def loop() -> bool:
        with pytest.raises(errors.DeadlineError):
            ask(hasty, "loop")
        return True

    with ThreadPoolExecutor(20) as pool:
        loops = [pool.submit(loop) for _ in range(20)]
        assert echo(engine, "still here") == "still here"

        assert all(each.result(BOUND) for each in loops)


def test_an_instance_that_is_too_slow_to_start_is_a_deadline_that_has_passed(
    module: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a machine on which all at once need a new one."""
    monkeypatch.setattr(Clock, "ticks", lambda _clock: 0)

    with pytest.raises(errors.DeadlineError, match="start of the compiled policy"):
        engines_wasm.WasmEngine(module, deadline=BOUND)


def test_other_threads_run_while_a_policy_does(hasty: engines_wasm.WasmEngine) -> None:
    beats = 0
    finished = threading.Event()

    def heart() -> None:
        nonlocal beats
        while not finished.wait(0.001):
            beats += 1

    thread = threading.Thread(target=heart)
    thread.start()
    try:
        wait_until(lambda: beats > 0)
        before = beats
        with pytest.raises(errors.DeadlineError):
            ask(hasty, "loop")
        during = beats - before
    finally:
        finished.set()
        thread.join(BOUND)

    assert during > 0


def test_closing_an_engine_ends_its_clock_and_what_still_runs(module: bytes) -> None:
    before = set(threading.enumerate())
    engine = engines_wasm.WasmEngine(module, deadline=10 * BOUND)
    (clock,) = set(threading.enumerate()) - before
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(ask, engine, "loop")
        engine.close()

        with pytest.raises(errors.EngineError, match="closed"):
            running.result(BOUND)
    clock.join(BOUND)
    assert not clock.is_alive()
    with pytest.raises(errors.EngineError, match="closed"):
        ask(engine, "echo")


@pytest.mark.costly
def test_the_clock_of_a_forgotten_engine_ends(module: bytes) -> None:
    before = set(threading.enumerate())
    engine = engines_wasm.WasmEngine(module)
    (clock,) = set(threading.enumerate()) - before

    del engine
    gc.collect()

    clock.join(BOUND)
    assert not clock.is_alive()


# Memory


@pytest.mark.costly
@pytest.mark.parametrize(("does", "value"), [("count", None), ("double", "a" * 8000)], ids=["numbers", "text"])
def test_a_policy_that_grows_without_end_hits_the_limit_and_the_next_call_works(
    module: bytes, does: str, value: paths.Json
) -> None:
    engine = engines_wasm.WasmEngine(module, deadline=BOUND, memory_limit=16 * 2**20)

    with pytest.raises(errors.ExhaustedError, match="more for the rules to keep than the 16 MiB of memory"):
        ask(engine, does, value)

    assert echo(engine, "still here") == "still here"


def test_an_input_larger_than_the_memory_is_an_error_and_the_next_call_works(module: bytes) -> None:
    engine = engines_wasm.WasmEngine(module, deadline=BOUND, memory_limit=4 * 2**20)

    with pytest.raises(errors.ExhaustedError, match="more for the rules to keep than the 4 MiB of memory"):
        echo(engine, "x" * 5 * 2**20)

    assert echo(engine, "still here") == "still here"


@pytest.mark.costly
def test_the_largest_review_fits_and_its_memory_is_given_back(engine: engines_wasm.WasmEngine) -> None:
    large: paths.Json = {f"label-{number}": "x" * 1000 for number in range(7 * 1024)}
    first = weakref.ref(engine._instance())

    assert echo(engine, large) == large

    gc.collect()
    assert first() is None
    assert echo(engine, "small") == "small"
    assert engine._instance().grown < engines_wasm.REBUILD_ABOVE


@pytest.mark.costly
def test_an_instance_that_failed_is_gone_for_good(engine: engines_wasm.WasmEngine) -> None:
    poisoned = weakref.ref(engine._instance())

    with pytest.raises(errors.EngineError):
        ask(engine, "contradict")

    gc.collect()
    assert poisoned() is None


# Results


def test_the_same_input_gives_the_same_bytes_a_thousand_times(engine: engines_wasm.WasmEngine) -> None:
    document = orjson.dumps({"does": "gather", "value": ",".join(str(number * 7919 % 101) for number in range(300))})

    seen = {engine._instance().evaluate(Entrypoint.FINDINGS, document) for _ in range(1000)}

    assert len(seen) == 1


def test_text_of_every_kind_passes_unchanged(engine: engines_wasm.WasmEngine) -> None:
    value = '\x00\x1f"\\/ \u2028 \ufeff ü € 𝄞 😀' + "x" * 10_000

    assert echo(engine, value) == value


@pytest.mark.parametrize("does", ["nothing that the policy knows", "convert"], ids=["undefined", "built-in error"])
def test_an_undefined_entry_point_is_an_error(engine: engines_wasm.WasmEngine, does: str) -> None:
    with pytest.raises(errors.EngineError, match="undefined"):
        ask(engine, does, "not a number")


@pytest.mark.parametrize("value", [None, True, 1, "text", [], [{"version": 1}]], ids=orjson.dumps)
def test_a_result_that_is_not_an_object_is_an_error(engine: engines_wasm.WasmEngine, value: paths.Json) -> None:
    with pytest.raises(errors.EngineError, match="answered with no object"):
        ask(engine, "answer", value)


@pytest.mark.parametrize("value", [{}, {"version": 2}, {"version": "1"}, {"version": None}], ids=orjson.dumps)
def test_a_result_of_another_version_is_an_error(engine: engines_wasm.WasmEngine, value: paths.Json) -> None:
    with pytest.raises(errors.EngineError, match="expected 1"):
        ask(engine, "answer", value)


def test_unknown_fields_do_no_harm(engine: engines_wasm.WasmEngine) -> None:
    assert ask(engine, "answer", {"version": 1, "new": True}) == {"version": 1, "new": True}


def test_what_the_policies_say_when_they_stop_is_in_the_error(engine: engines_wasm.WasmEngine) -> None:
    with pytest.raises(errors.EngineError, match=r"the policies stopped: .*policy\.rego.* conflict"):
        ask(engine, "contradict")


@pytest.mark.parametrize("document", [b"", b"{", b"\xff", b"nope"], ids=repr)
def test_a_document_that_is_not_json_gives_no_result(engine: engines_wasm.WasmEngine, document: bytes) -> None:
    with pytest.raises(errors.EngineError):
        engine.evaluate(Entrypoint.FINDINGS, document)


def test_nesting_without_end_is_an_error_and_the_next_call_works(engine: engines_wasm.WasmEngine) -> None:
    document = b'{"does": "echo", "value": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"

    with pytest.raises(errors.EngineError, match="call stack exhausted"):
        engine.evaluate(Entrypoint.FINDINGS, document)

    assert echo(engine, "still here") == "still here"


# Threads and processes


def test_two_threads_evaluate_at_once_and_each_gets_its_own_answers(engine: engines_wasm.WasmEngine) -> None:
    together = threading.Barrier(2)

    def work(name: str) -> list[paths.Json]:
        together.wait(BOUND)
        return [echo(engine, f"{name} {number}") for number in range(300)]

    with ThreadPoolExecutor(2) as pool:
        results = {name: pool.submit(work, name) for name in ("one", "two")}

    for name, result in results.items():
        assert result.result() == [f"{name} {number}" for number in range(300)]


@pytest.mark.costly
def test_the_instance_of_a_thread_that_ended_is_collected_in_another(engine: engines_wasm.WasmEngine) -> None:
    def work() -> "weakref.ref[object]":
        echo(engine, "x")
        return weakref.ref(engine._instance())

    with ThreadPoolExecutor(1) as pool:
        left_behind = pool.submit(work).result(BOUND)

    wait_until(lambda: (gc.collect(), left_behind() is None)[1])
    assert echo(engine, "still here") == "still here"


def test_a_forked_process_gets_an_error_that_asks_for_its_own_engine(module: bytes, tmp_path: Path) -> None:
    file = tmp_path / "policy.wasm"
    file.write_bytes(module)
    program = f"""
import os, sys
from pathlib import Path
from usher import errors
from usher.policy.engines import wasm
from usher.policy.engines.engine import ANSWER_UNTIL, Entrypoint
module = Path({str(file)!r}).read_bytes()
engine = wasm.WasmEngine(module)
child = os.fork()
if child:
    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
try:
    engine.evaluate(Entrypoint.INTENTS, b"{{}}")
except errors.EngineError as error:
    assert "forked" in str(error)
    wasm.WasmEngine(module).evaluate(Entrypoint.INTENTS, b"{{}}")
    os._exit(42)
os._exit(1)
"""
    # A process of its own, because Python warns against forking one that has threads.
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=False, timeout=BOUND).returncode == 42


@pytest.mark.costly
def test_without_a_place_for_a_cache_the_engine_works_all_the_same(module: bytes, tmp_path: Path) -> None:
    file = tmp_path / "policy.wasm"
    file.write_bytes(module)
    program = f"from usher.policy.engines import wasm; wasm.WasmEngine(open({str(file)!r}, 'rb').read())"

    done = subprocess.run([sys.executable, "-c", program], env={"HOME": "/dev/null"}, check=False, timeout=BOUND)

    assert done.returncode == 0
