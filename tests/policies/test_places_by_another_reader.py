"""The line and column of every finding on the corpora are those that another reader of YAML finds for its place."""

import contextlib
import io
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import record_findings
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

import shared_files
from shared_files import Corpus
from usher import paths
from usher.check import findings, judging, runner, sources
from usher.config import models

pytestmark = pytest.mark.costly

every_corpus = pytest.mark.parametrize("corpus", shared_files.thorough_corpora)


@cache
def documents(file: Path) -> list[Node]:
    """The nodes of a file, which know their places; nothing of a file that the other reader refuses."""
    with contextlib.suppress(YAMLError):
        return [node for node in YAML().compose_all(file.read_text(encoding="utf-8")) if node is not None]
    return []


def places(node: Node, pointer: str, *, key: Node | None = None) -> set[tuple[int, int]]:
    """Line and column, from 1, that a finding about a place may have: of the value or of its key, or of the nearest one
    above where it is missing.
    """
    first, *rest = paths.split(pointer) or [""]
    if isinstance(node, MappingNode):
        # As with kubectl, the last of two equal keys counts; merged keys stand elsewhere.
        for name, value in reversed(node.value):
            if pointer and name.value == first:
                return places(value, "".join(f"/{paths.escape(each)}" for each in rest), key=name)
        if pointer and any(name.value == "<<" for name, _ in node.value):
            return set()
    elif isinstance(node, SequenceNode) and pointer and first.isdigit() and int(first) < len(node.value):
        return places(node.value[int(first)], "".join(f"/{paths.escape(each)}" for each in rest))
    marks = [node.start_mark] + ([key.start_mark] if key is not None else [])
    return {(mark.line + 1, mark.column + 1) for mark in marks}


def judged(corpus: Corpus) -> Iterator[tuple[Path, findings.Result]]:
    batches = list(sources.read([str(corpus.folder)], stdin=io.BytesIO()))
    settings = judging.Settings(command=findings.Command.CHECK)
    found = runner.run(batches, evaluator=record_findings.evaluator_with(models.Config()), settings=settings)
    for result in found.results:
        yield Path(result.source), result


@every_corpus
def test_findings_stand_where_another_reader_finds_them(corpus: Corpus) -> None:
    seen = 0
    for file, result in judged(corpus):
        node = next((each for each in documents(file) if each.start_mark.line + 1 == result.line), None)
        if node is None or any(name.value == "items" for name, _ in getattr(node, "value", ())):
            continue  # JSON on one line, and Lists, whose items have places of their own
        for finding in result.findings:
            if finding.place is None:
                continue
            expected = places(node, finding.judgement.finding.path) or places(node, "/kind")
            if finding.judgement.finding.path.count("/") <= 1:
                expected |= places(node, "/kind")
            assert (finding.place.line, finding.place.column) in expected, (file, finding.judgement.finding.path)
            seen += 1

    assert seen > (40 if corpus is shared_files.OWN else 400)
