"""`usher fix` makes the changes in a corpus that it names, no others, and all at once."""

import io
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import record_mutations
import yaml

import shared_files
from indexed_manifests import as_json
from shared_files import OWN, Corpus
from usher import paths
from usher.check import findings, judging, runner, sources
from usher.check.fix import remedies, rounds, syntax
from usher.policy.evaluator import Evaluator

pytestmark = pytest.mark.costly

SITE = Path(__file__).parents[2] / "tests/data/mutations"
SETTINGS = judging.Settings(command=findings.Command.CHECK, mutated=True, diff=True)


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return record_mutations.evaluator_of(SITE)


def fixed(folder: Path, evaluator: Evaluator) -> rounds.Fixed:
    return rounds.fix(
        list(sources.read([str(folder)], stdin=io.BytesIO())),
        judge=lambda batches: runner.run(batches, evaluator=evaluator, settings=SETTINGS),
        read=lambda batch: Path(batch.source).read_bytes(),
        choice=remedies.Choice(names=remedies.names_of_devices()),
    )


@pytest.mark.parametrize("corpus", shared_files.thorough_corpora)
def test_a_corpus_gets_the_named_changes_and_nothing_else(corpus: Corpus, evaluator: Evaluator, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    shutil.copytree(corpus.folder, folder, copy_function=shutil.copyfile)

    first = fixed(folder, evaluator)

    changed = [file for file in first.files if file.changed]
    assert len(changed) > (20 if corpus is OWN else 100)
    wrong = {file.source: found for file in changed if (found := [*changed_in_silence(file), *lost_lines(file)])}
    assert wrong == {}
    assert not [left for file in first.files for left in file.left if "exactly that" in left.reason]
    assert first.after.totals.errors <= first.before.totals.errors
    for file in changed:
        Path(file.source).write_bytes(file.content)
    assert [file.source for file in fixed(folder, evaluator).files if file.changed] == []


def changed_in_silence(file: rounds.File) -> Iterator[str]:
    """Values that differ for another parser, and that no change names."""
    named = [
        file.batch.items[done.item].prefix + pointer
        for done in file.done
        for pointer in (*done.pointers, *(step.pointer for step in done.wish.steps))
    ]
    old, new = (
        # kubectl ends the last line, which counts where it is one of a block scalar.
        [as_json(each) for each in yaml.load_all(content + b"\n", Loader=yaml.CSafeLoader)]
        for content in (file.original, file.content)
    )
    assert len(old) == len(new)
    for before, after in zip(old, new, strict=True):
        for pointer in _differences(before, after, paths.ROOT):
            if not any(remedies.pointers_overlap(pointer, each) for each in named):
                yield f"{pointer} differs"


def lost_lines(file: rounds.File) -> Iterator[str]:
    """Comments that are gone, and more lines gone than there are changes of values."""
    old, new = (Counter(content.decode().splitlines()) for content in (file.original, file.content))
    gone = old - new
    yield from (f"the comment {line} is gone" for line in gone if line.lstrip().startswith("#"))
    if gone.total() > len(file.done):
        yield f"{gone.total()} lines are gone, with {len(file.done)} changes"


def _differences(before: paths.Json, after: paths.Json, pointer: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            below = paths.join(pointer, key)
            if key in before and key in after:
                yield from _differences(before[key], after[key], below)
            else:
                yield below
    elif isinstance(before, list) and isinstance(after, list):
        for number, (one, other) in enumerate(zip(before, after, strict=False)):
            yield from _differences(one, other, paths.join(pointer, number))
        if len(before) != len(after):
            yield paths.join(pointer, min(len(before), len(after)))
    elif not syntax.is_same_value(before, after):
        yield pointer
