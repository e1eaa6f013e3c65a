"""Examples judged by the engine that judges objects, so that they show the findings of users."""

import contextlib
from collections.abc import Iterator

from usher import model
from usher.dataclass import dataclass
from usher.own_checks import examples
from usher.own_checks.compilation import Compiler
from usher.own_checks.examples import Example
from usher.own_checks.folders import Check, Folder
from usher.policy import decision
from usher.policy.checks import bundle
from usher.policy.checks import catalogue as checks_catalogue
from usher.policy.checks.catalogue import OwnChecks
from usher.policy.engines.engine import Entrypoint
from usher.policy.engines.wasm import WasmEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A check, with its findings in each of its examples."""

    check: Check
    examples: tuple[tuple[Example, tuple[model.Finding, ...]], ...]


def engine(compiled: OwnChecks) -> WasmEngine:
    """An engine with own checks alone; the caller closes it."""
    return WasmEngine(compiled.module, entrypoints=(Entrypoint.FINDINGS,))


def judged(example: Example, key: str, asked: WasmEngine) -> tuple[list[model.Finding], list[model.Unknown]]:
    """The findings of one check in an example, and the parts that it cannot judge.

    Raises:
        EngineError: the check failed.
    """
    result = asked.evaluate(Entrypoint.FINDINGS, example.document)
    found = [finding for finding in decision.read_findings(result) if finding.check == key]
    return found, [part for part in decision.read_unknowns(result) if part.check == key]


def every(folder: Folder, compiler: Compiler) -> Iterator[Judged]:
    """Each check of a directory with its examples.

    Raises:
        InputError: a file cannot be read, or OPA refuses the Rego.
        EngineError: a check failed.
    """
    compiled = compiler.compiled(folder)
    catalogue = checks_catalogue.join_catalogues(bundle.load().catalogue, [compiled])
    with contextlib.closing(engine(compiled)) as asked:
        for check in folder.checks:
            known = examples.read(check, catalogue)
            yield Judged(
                check=check, examples=tuple((each, tuple(judged(each, check.entry.key, asked)[0])) for each in known)
            )
