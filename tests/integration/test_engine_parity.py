"""Both engines give the same results: a site may choose either without a second thought.

A change is tried with one example of each check and mutation, our own manifests and odd policies; all examples and
public manifests are thorough. The recorded findings (test_golden_findings.py) are those of the embedded engine, and the
Rego tests run in opa.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest
import yaml
from record_findings import evaluator_of, manifests, request_of

import generated_examples
import opa_server
import shared_files
from shared_files import OWN, PUBLISHED, Corpus
from usher import errors, paths
from usher.config import models
from usher.policy import decision
from usher.policy.checks import catalogue
from usher.policy.decision import Request
from usher.policy.engines.engine import ALL_CHECKS, Engine, Entrypoint
from usher.policy.engines.opa import Breaker, OpaEngine, Server
from usher.policy.engines.wasm import WasmEngine
from usher.policy.evaluator import Evaluator

pytestmark = [*opa_server.needs_opa]

BOUND = 60.0
"""Seconds that an evaluation may take: nothing here may fail for being slow."""

AT_LEAST = {OWN: 100, PUBLISHED: 500}
"""Different questions that the manifests of a corpus come to."""

FOLDERS = sorted((opa_server.POLICIES / "usher").glob("*/*/*/examples"))
CATEGORIES = sorted({folder.parts[-3] for folder in FOLDERS})

SITE = models.Config.model_validate(
    {
        "pools": [
            {
                "name": "h100",
                "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
                "taints": [{"key": "nvidia.com/gpu", "value": "present"}, {"key": "team", "effect": "NoExecute"}],
                "fabric": "rails",
            },
            {"name": "l4", "nodeSelector": {"cloud.google.com/gke-accelerator": "nvidia-l4"}},
        ],
        "fabrics": {"rails": {"env": {"NCCL_IB_HCA": "mlx5", "NCCL_SOCKET_IFNAME": "eth0"}}},
        "queues": [{"namespaces": ["default", "kubeflow*", "ml-*"], "localQueue": "gpus", "placesPods": False}],
        "routing": [{"queue": "training"}],
        "enforcement": {"preset": "strict"},
    }
)
"""A site that uses everything there is to configure."""


class BothEngines:
    """Asks both, notes where they differ, and answers with what the embedded one said."""

    name = "both"
    waits = True

    def __init__(self, wasm: Engine, opa: Engine) -> None:
        self._wasm = wasm
        self._opa = opa
        self._seen: dict[tuple[Entrypoint, bytes], paths.Object] = {}
        self.differences: list[str] = []

    def evaluate(self, entrypoint: Entrypoint, document: bytes, left_out: bytes = ALL_CHECKS) -> paths.Object:  # noqa: ARG002 - it compares all checks
        # Many manifests give the same document.
        result = self._seen.get((entrypoint, document))
        if result is None:
            result = self._seen[entrypoint, document] = self._wasm.evaluate(entrypoint, document)
            if said(entrypoint, result) != said(entrypoint, self._opa.evaluate(entrypoint, document)):
                self.differences.append(f"{entrypoint} of {document.decode()}")
        return result

    def ready(self) -> None:
        self._opa.ready()

    def close(self) -> None:
        """Whoever made the engines closes them."""

    @property
    def asked(self) -> int:
        return len(self._seen)


def said(entrypoint: Entrypoint, result: paths.Object) -> object:
    """All that a result says, in the order in which the evaluator uses it."""
    if entrypoint is Entrypoint.INTENTS:
        return decision.read_intents(result), decision.read_notes(result, "warnings")
    if entrypoint is Entrypoint.SKIPS:
        return decision.read_notes(result, "skips")
    return decision.read_findings(result), decision.read_unknowns(result)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    policies: catalogue.Bundle
    wasm: WasmEngine
    opa: OpaEngine


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    policies = catalogue.load(opa_server.POLICIES)
    server = opa_server.running(tmp_path_factory.mktemp("opa"), policies.directory / "usher")
    with server as url, contextlib.ExitStack() as stack:
        wasm = stack.enter_context(contextlib.closing(WasmEngine(policies.module, deadline=BOUND)))
        opa = OpaEngine(Server(url=url), revision=policies.source_revision, deadline=BOUND)
        stack.enter_context(contextlib.closing(opa))
        opa.ready()
        yield Pair(policies=policies, wasm=wasm, opa=opa)


@pytest.mark.costly
@pytest.mark.parametrize("category", CATEGORIES)
def test_of_one_example_of_a_check_both_engines_say_the_same(pair: Pair, category: str) -> None:
    """At night of every check; in a change of every third one of each category."""
    both = BothEngines(pair.wasm, pair.opa)

    folders = [folder for folder in FOLDERS if folder.parts[-3] == category]
    for folder in folders[:: 1 if generated_examples.are_thorough() else 3]:
        beside = evaluator_of(folder)
        evaluator = Evaluator(engine=both, entries=pair.policies.catalogue, config=beside.config, facts=beside.facts)
        # The names of examples that break a check begin with `bad`, and so come first.
        request = request_of(manifests(folder)[0])
        evaluator.decide(request)
        evaluator.mutate(request)

    assert not both.differences


@pytest.mark.thorough
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parts[-3]}/{folder.parts[-2]}")
def test_of_every_example_both_engines_say_the_same(pair: Pair, folder: Path) -> None:
    both = BothEngines(pair.wasm, pair.opa)
    beside = evaluator_of(folder)

    for config in (beside.config, SITE):
        evaluator = Evaluator(engine=both, entries=pair.policies.catalogue, config=config, facts=beside.facts)
        for request in map(request_of, manifests(folder)):
            evaluator.decide(request)
            evaluator.mutate(request)

    assert not both.differences


@pytest.mark.costly
@pytest.mark.parametrize("corpus", shared_files.thorough_corpora)
def test_of_every_manifest_of_a_corpus_both_engines_say_the_same(pair: Pair, corpus: Corpus) -> None:
    both = BothEngines(pair.wasm, pair.opa)
    evaluators = [
        Evaluator(engine=both, entries=pair.policies.catalogue, config=config) for config in (models.Config(), SITE)
    ]

    for file in sorted(corpus.folder.rglob("*.y*ml")):
        for value in objects(file):
            for evaluator in evaluators:
                evaluator.decide(Request(value=value))
                with contextlib.suppress(errors.MutationError):  # what becomes of intents is the merge's affair
                    evaluator.mutate(Request(value=value))

    assert not both.differences
    assert both.asked >= AT_LEAST[corpus]


def objects(file: Path) -> Iterator[paths.Object]:
    """The Kubernetes objects in a file, up to where it stops being YAML (templates)."""
    with contextlib.suppress(yaml.YAMLError), file.open("rb") as stream:
        for value in yaml.load_all(stream, Loader=yaml.CSafeLoader):
            if isinstance(value, dict) and "apiVersion" in value and "kind" in value:
                yield value


# What no policy of ours should do, and both engines must take alike.

ODD = """
package usher.main

revision := "odd"

findings := {"version": 1, "number": to_number(input.value)} if input.does == "convert"

findings := {"version": 1, "value": input.value} if input.does == "echo"

findings := input.value if input.does == "answer"

findings := {"version": 1, "value": input.value.missing.field} if input.does == "miss"

findings := {"version": 1, "parts": {part | some part in input.value}} if input.does == "gather"

findings := {"version": 1, "text": $"<{input.value.missing}>"} if input.does == "print"

findings := {"version": 1, "sum": sum(input.value)} if input.does == "sum"

findings := {"version": 1, "every": every_even} if {
	input.does == "every"
	every_even := [1 | every number in input.value { number % 2 == 0 }]
}

findings := {"version": 1, "which": which} if {
	input.does == "contradict"
	some which in input.value
}

findings := {"version": 1, "quotient": input.value / 0} if input.does == "divide"

intents := {"version": 1, "intents": []}

skips := {"version": 1, "skips": []}
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[WasmEngine, OpaEngine]]:
    directory = tmp_path_factory.mktemp("odd")
    wasm = WasmEngine(opa_server.compiled(ODD, directory), deadline=BOUND)
    with opa_server.running(directory, directory / "policy.rego") as url, contextlib.closing(wasm):
        opa = OpaEngine(Server(url=url), revision="odd", deadline=BOUND, breaker=Breaker("OPA", failures=1000))
        with contextlib.closing(opa):
            yield wasm, opa


@pytest.mark.costly
@pytest.mark.parametrize(
    ("does", "value"),
    [
        ("convert", "1"),
        ("convert", "x"),
        ("convert", None),
        ("echo", None),
        ("echo", [1, 2.5, -0.0, 1e300, 2**53 + 1, 2**63, "\x00\x7f\u2028😀", {"": {}}]),
        ("answer", None),
        ("answer", [1]),
        ("answer", {"version": 2}),
        ("answer", {"version": 1, "new": True}),
        ("miss", {}),
        ("miss", None),
        ("gather", ["b", "a", 1, None, "a", [2], {"k": 1}, 1.0]),
        ("print", {}),
        ("sum", [2**62, 2**62, 0.5]),
        ("sum", ["x"]),
        ("every", [2, 4]),
        ("every", [2, 3]),
        ("every", []),
        ("contradict", [1, 2]),
        ("contradict", [1, 1]),
        ("divide", 1),
        ("nothing", 1),
    ],
    ids=ascii,
)
def test_of_odd_policies_both_engines_say_the_same(
    odd: tuple[WasmEngine, OpaEngine], does: str, value: paths.Json
) -> None:
    text = orjson.dumps({"does": does, "value": value})
    by_wasm, by_opa = (outcome(engine, text) for engine in odd)

    assert by_opa == by_wasm


def outcome(engine: Engine, text: bytes) -> paths.Object | None:
    """The result, sets in the order of their JSON; None for an error of ours."""
    try:
        result = engine.evaluate(Entrypoint.FINDINGS, text)
    except errors.EngineError:
        return None
    parts = result.get("parts")
    if isinstance(parts, list):
        result["parts"] = [*sorted(parts, key=lambda part: orjson.dumps(part, option=orjson.OPT_SORT_KEYS))]
    return result
