"""Finds mistakes in the subject of a commit message; `.pre-commit-config.yaml` makes it the commit-msg hook.

A subject is an imperative sentence without its full stop. The tool guesses the grammar from the first word, and refuses
only certain mistakes. It prints one problem a line, and then exits with 1.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

LONGEST: Final = 72
"""Characters of a subject."""

_WRITTEN_BY_GIT: Final = re.compile(r"(Merge|Revert) |(fixup|squash|amend)! ")
_SCISSORS: Final = "# ------------------------ >8 ------------------------"

_NOT_A_VERB: Final = re.compile(
    "an?|after|all|also|and|any|as|by|each|every|for|from|how|if|in|its|my|new|no|not|now|of|on|our|some|that|the|then"
    "|there|these|this|those|to|two|when|where|with|wip"
)
_INFLECTED: Final = re.compile(r".+(ed|ing|[^s]s)")
_LOOKS_INFLECTED: Final = re.compile(
    "alias|bias|bring|canvas|embed|exceed|feed|focus|heed|need|ping|proceed|ring|seed|shed|speed|spring|string|succeed"
)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: tools/check_commit_subject.py FILE", file=sys.stderr)
        return 2
    subject = subject_of(Path(arguments[0]).read_text(encoding="utf-8"))
    found = list(problems(subject))
    for problem in found:
        print(f"commit subject: {problem}", file=sys.stderr)
    if found:
        print(f"  {subject}", file=sys.stderr)
    return 1 if found else 0


def subject_of(message: str) -> str:
    """The first line that git would keep; empty if there is no line."""
    written = message.partition(_SCISSORS)[0]
    return next((line.strip() for line in written.splitlines() if line.strip() and not line.startswith("#")), "")


def problems(subject: str) -> Iterator[str]:
    """The parts of a subject to change; nothing for subjects that git writes itself."""
    if _WRITTEN_BY_GIT.match(subject):
        return
    if not subject:
        yield "is empty; say what the commit changes"
        return
    if len(subject) > LONGEST:
        yield f"has {len(subject)} characters; {LONGEST} are the most. Move the reason into the body"
    if subject.endswith("."):
        yield "ends with a full stop; leave it out"
    yield from _mood(subject.split(maxsplit=1)[0])


def _mood(word: str) -> Iterator[str]:
    if not word[0].isupper():
        yield f'begins with "{word}"; begin with a capital letter'
    if word.endswith(":") or re.search(r"[^A-Za-z-]", word.rstrip(",:")):
        yield f'begins with "{word}"; begin with a verb, without a prefix'
        return
    plain = word.rstrip(",").lower()
    if _NOT_A_VERB.fullmatch(plain):
        yield f'begins with "{word}"; begin with a verb: "Add ...", "Refuse ..."'
    elif _INFLECTED.fullmatch(plain) and not _LOOKS_INFLECTED.fullmatch(plain):
        yield f'begins with "{word}"; use the imperative: "Add", not "Added", "Adding" or "Adds"'


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
