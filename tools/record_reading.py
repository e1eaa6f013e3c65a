"""Records what people said who read mutated objects, beside a digest of what the mutations changed.

An entry is one object of a corpus at one example site. The tool writes the mutations and the digest. If the changes
differ from those that were read, it drops the verdict and says `unread`: read the changes, which `--show` prints, then
write a `right`, `debatable` or `wrong` with the reason. No content of a corpus gets into a record.
"""

import argparse
import difflib
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson
import record_findings
import yaml
from document_mutations import alike

from usher import paths
from usher.check import sources
from usher.config.load import load
from usher.kinds.reading import values as reading_values
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import merge

VERDICTS: Final = ("right", "debatable", "wrong")
UNREAD: Final = "unread"
READ_AGAIN: Final = "read it again"
_DIGITS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The changes of the webhook to an object at a site."""

    before: paths.Object
    merged: merge.Merged
    mutations: tuple[str, ...]

    @property
    def digest(self) -> str:
        """The same for the same operations."""
        canonical = orjson.dumps(list(self.merged.operations), option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(canonical).hexdigest()[:_DIGITS]

    def diff(self) -> str:
        was, became = (
            yaml.safe_dump(value, sort_keys=False, width=140).splitlines()
            for value in (self.before, alike(self.merged.value, self.before))
        )
        return "\n".join(list(difflib.unified_diff(was, became, n=2, lineterm=""))[2:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="folder of manifests")
    parser.add_argument("--sites", type=Path, required=True, help="folder of the usher.yaml of each site")
    parser.add_argument("--record", type=Path, required=True, help="file with the verdicts, which is written again")
    parser.add_argument("--show", action="store_true", help="prints the unread changes")
    arguments = parser.parse_args()
    read = []
    for entry in yaml.safe_load(arguments.record.read_text()):
        change = changed(entry, corpus=arguments.corpus, sites=arguments.sites)
        renewed = merged(entry, change)
        read.append(renewed)
        if arguments.show and UNREAD in renewed:
            print("\n".join(_shown(renewed, change)))
    arguments.record.write_text(yaml.safe_dump(read, sort_keys=False, width=120, allow_unicode=True))


def merged(entry: dict[str, Any], change: Change) -> dict[str, Any]:
    """The entry with what the mutations do now; its verdict stays only if they do the same as before."""
    found: dict[str, Any] = {
        **{key: entry[key] for key in ("object", "site", "namespace")},
        "mutations": list(change.mutations),
        "digest": change.digest,
    }
    verdict: dict[str, Any] = {word: entry[word] for word in VERDICTS if word in entry}
    holds = bool(verdict) and entry.get("digest") == change.digest
    return found | (verdict if holds else {UNREAD: READ_AGAIN})


def changed(entry: dict[str, Any], *, corpus: Path, sites: Path) -> Change:
    """The changes of an entry's object, as `usher check` computes them for one file.

    Raises:
        LookupError: the corpus has no or several objects like it.
    """
    file, _, named = entry["object"].rpartition(": ")
    values = _objects(corpus / file)
    found = [value for value in values if f"{value.get('kind')} {name(value)}" == named]
    if len(found) != 1:
        raise LookupError(f"{len(found)} objects are {named} in {file}; name another object")
    evaluator = _evaluator(sites / f"{entry['site']}.yaml")
    before = _without_namespace(found[0])
    objects = reading_values.Objects(values, namespace=entry["namespace"])
    done = evaluator.mutate(Request(value=before, namespace=entry["namespace"], objects=objects, place="check"))
    names = {evaluator.catalogue.mutation_name(intent.mutation) for intent in done.applied}
    return Change(before=before, merged=done, mutations=tuple(sorted(names)))


@cache
def _objects(file: Path) -> tuple[paths.Object, ...]:
    batches = sources.read([str(file)], stdin=io.BytesIO())
    return tuple(item.value for batch in batches for item in batch.items)


@cache
def _evaluator(site: Path) -> Evaluator:
    return record_findings.evaluator_with(load(site), file=site)


def _without_namespace(value: paths.Object) -> paths.Object:
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        return value
    return {**value, "metadata": {key: field for key, field in metadata.items() if key != "namespace"}}


def name(value: paths.Object) -> str:
    """The name of an object, or the beginning of a name that the API server makes up."""
    metadata = value.get("metadata")
    found = metadata.get("name") or metadata.get("generateName") if isinstance(metadata, dict) else None
    return str(found or "without a name")


def _shown(entry: dict[str, Any], change: Change) -> Iterator[str]:
    yield f"\n=== {entry['object']} | {entry['site']} {entry['namespace']}"
    notes: Counter[str] = Counter(note.reason for note in change.merged.warnings)
    yield from (f"  says: {reason}" for reason in notes)
    yield change.diff()


def unread(entries: Iterable[dict[str, Any]]) -> list[str]:
    """The objects of entries without a verdict."""
    return [entry["object"] for entry in entries if not any(str(entry.get(word, "")).strip() for word in VERDICTS)]


if __name__ == "__main__":
    main()
