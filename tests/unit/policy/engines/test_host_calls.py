"""A compiled policy gets the right value for a built-in that WebAssembly lacks, and for data beside its own."""

import orjson
import pytest

import opa_server
from usher import errors, paths
from usher.policy.engines import host_functions, rego_values
from usher.policy.engines.engine import Entrypoint
from usher.policy.engines.wasm import WasmEngine

pytestmark = opa_server.needs_opa

POLICY = """
package usher.main

findings := {"version": 1, "text": sprintf(input.form, input.arguments)} if input.does == "format"

findings := {"version": 1, "sets": sprintf("%v", [{part | some part in split(input.text, ",")}])} if input.does == "set"

findings := {"version": 1, "undefined": true} if {
	input.does == "undefined"
	not strings.count(input.value, "a")
}

findings := {"version": 1, "found": data.site.name} if input.does == "data"

intents := {"version": 1, "intents": []}

skips := {"version": 1, "skips": []}
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return opa_server.compiled(POLICY, tmp_path_factory.mktemp("policy"))


def ask(engine: WasmEngine, **document: paths.Json) -> paths.Object:
    return engine.evaluate(Entrypoint.FINDINGS, orjson.dumps(document))


def test_a_call_is_answered(module: bytes) -> None:
    engine = WasmEngine(module, functions=host_functions.PURE)

    assert ask(engine, does="format", form="%s of %d é", arguments=["one", 2])["text"] == "one of 2 é"
    assert ask(engine, does="set", text="b,a")["sets"] == '{"a", "b"}'
    assert ask(engine, does="undefined", value=3) == {"version": 1, "undefined": True}
    engine.close()


def test_a_function_that_fails_fails_the_evaluation_and_the_next_one_works(module: bytes) -> None:
    engine = WasmEngine(module, functions=host_functions.PURE)

    with pytest.raises(errors.EngineError, match=r"a built-in failed: NotImplementedError: .*%\["):
        ask(engine, does="format", form="%[1]d", arguments=[1])

    assert ask(engine, does="format", form="%d", arguments=[1])["text"] == "1"
    engine.close()


def test_an_answer_without_end_is_refused(module: bytes) -> None:
    engine = WasmEngine(module, functions=host_functions.PURE)

    with pytest.raises(errors.EngineError, match="its answer is larger than"):
        ask(engine, does="format", form="%9999d" * 120, arguments=[1] * 120)
    engine.close()


def test_a_policy_that_calls_a_function_that_it_did_not_get_is_refused(module: bytes) -> None:
    given = {name: host_functions.PURE[name] for name in ("trace", "strings.count")}

    with pytest.raises(errors.EngineError, match="calls sprintf, which WebAssembly lacks"):
        WasmEngine(module, functions=given)
    with pytest.raises(errors.EngineError, match=r"calls sprintf, strings\.count, which WebAssembly lacks"):
        WasmEngine(module, functions=rego_values.NO_HOST_FUNCTIONS)


def test_engines_with_other_data_share_the_policy(module: bytes) -> None:
    engine = WasmEngine(module, functions=host_functions.PURE)
    one, two = (engine.with_data(orjson.dumps({"site": {"name": name}})) for name in ("one", "two"))

    assert ask(one, does="data")["found"] == "one"
    assert ask(two, does="data")["found"] == "two"
    with pytest.raises(errors.EngineError, match="undefined"):
        ask(engine, does="data")
    engine.close()


@pytest.mark.parametrize("data", [b"", b"{", b"not json"])
def test_data_that_are_not_json_are_refused(module: bytes, data: bytes) -> None:
    engine = WasmEngine(module, functions=host_functions.PURE)

    with pytest.raises(errors.EngineError, match="base data are not JSON"):
        engine.with_data(data)
    engine.close()
