"""Writes changes into the text of an editor, as `usher fix` writes them into files."""

from collections.abc import Collection

from usher.editor.changes import Judge
from usher.fixing import misspellings, rounds, wishes
from usher.policy.evaluator import Evaluator
from usher.scan.batches import Batch


def write(batch: Batch, content: bytes, *, judge: Judge, evaluator: Evaluator, keys: Collection[str]) -> bytes:
    """The new content, as `changes.Write` defines it. It leaves out a remedy that keeps its finding or
    causes another.
    """
    choice = wishes.Choice(
        keys=frozenset(keys), names=misspellings.names_of_devices() | set(evaluator.config.accelerators.resources)
    )
    fixed = rounds.fix([batch], judge=judge, read=lambda _batch: content, choice=choice)
    return next((file.content for file in fixed.files if not file.problem), content)
