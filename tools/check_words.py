"""Finds words that readers stumble over, in the files that tools/words.toml lists. Run it through scripts/check.

It also finds docstrings whose first word does not say what a caller gets. It prints the file, the line, the words and
what to write instead, and exits 1 if there are any.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import plain_texts

ROOT: Final = Path(__file__).parents[1]
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Words to avoid, each in any case."""

    avoid: re.Pattern[str]
    words: tuple[tuple[str, ...], ...]
    """The words of each of `avoid`, in lower case. A match begins at the first of them, which is faster to see."""
    write: str
    """Advice for the writer, in words."""
    unless: re.Pattern[str] | None = None
    """Matches harmless uses, which include the words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Openings:
    """Words that must not begin a docstring."""

    avoid: re.Pattern[str]
    write: str
    """Advice for the writer, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    path: Path
    line: int
    words: str
    write: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scopes", nargs="*", help="glob patterns instead of those of tools/words.toml")
    arguments = parser.parse_args()
    data = tomllib.loads((ROOT / "tools/words.toml").read_text())
    rules = read(data["words"])
    openings = read_openings(data["docstrings"])
    with_docstrings = set(files(ROOT, data["docstrings"]["scopes"]))
    chosen = set(files(ROOT, arguments.scopes or data["scopes"], without=() if arguments.scopes else data["without"]))
    found: list[Finding] = []
    for path in sorted(chosen if arguments.scopes else chosen | with_docstrings):
        found += check(path, rules) if path in chosen else ()
        found += check_docstrings(path, openings) if path in with_docstrings else ()
    for finding in found:
        name = finding.path.relative_to(ROOT)
        print(f'{name}:{finding.line}: "{finding.words}": write {finding.write}')
    sys.exit(1 if found else 0)


def read(entries: Sequence[dict[str, str | list[str]]]) -> list[Rule]:
    """The rules in a file like tools/words.toml."""
    return [
        Rule(
            avoid=_any(_phrase(words) for words in entry["avoid"]),
            words=tuple(tuple(_WORD.findall(words.lower())) for words in entry["avoid"]),
            write=str(entry["write"]),
            unless=_any(_across_lines(pattern) for pattern in entry["unless"]) if "unless" in entry else None,
        )
        for entry in entries
    ]


def read_openings(entry: dict[str, str | list[str]]) -> Openings:
    """The rule for docstrings in a file like tools/words.toml."""
    words = "|".join(map(re.escape, entry["openings"]))
    return Openings(avoid=re.compile(rf"\s*({words})\b"), write=str(entry["write"]))


def files(root: Path, scopes: Sequence[str], *, without: Sequence[str] = ()) -> list[Path]:
    """The files of the glob patterns, without those of other patterns and without tests of policies.

    Raises:
        SystemExit: If a pattern matches no file, with the pattern.
    """
    found: set[Path] = set()
    for scope in scopes:
        found.update(_matches(root, scope))
    for scope in without:
        found.difference_update(_matches(root, scope))
    return sorted(found)


def _matches(root: Path, scope: str) -> list[Path]:
    matches = [path for path in root.glob(scope) if path.is_file() and not path.name.endswith("_test.rego")]
    if not matches:
        sys.exit(f"tools/words.toml: no file matches the scope {scope}")
    return matches


def check(path: Path, rules: Sequence[Rule]) -> Iterator[Finding]:
    """Every use of words to avoid, by line."""
    texts = plain_texts.of_file(path)
    present = set(_WORD.findall(texts.lower()))
    found = [
        Finding(path=path, line=texts.count("\n", 0, match.start()) + 1, words=_flat(match[0]), write=rule.write)
        for rule in rules
        for match in _matches_of(rule, texts, present)
        if not _is_harmless(rule, texts, match)
    ]
    yield from sorted(found, key=lambda each: (each.line, each.words))


def _matches_of(rule: Rule, texts: str, present: AbstractSet[str]) -> Iterator[re.Match[str]]:
    """As `rule.avoid.finditer`, which tries every character of the text; `present` are all words of it."""
    first = {words[0] for words in rule.words if present >= set(words)}
    if not first:
        return
    end = 0
    for word in re.finditer("|".join(map(re.escape, sorted(first))), texts, re.IGNORECASE):
        if word.start() >= end and (match := rule.avoid.match(texts, word.start())):
            end = match.end()
            yield match


def check_docstrings(path: Path, openings: Openings) -> Iterator[Finding]:
    """Every docstring of a Python file that begins with a word to avoid, by line."""
    for line, text in plain_texts.docstrings(path.read_text()):
        if match := openings.avoid.match(text):
            yield Finding(path=path, line=line, words=f"{match[1]} ...", write=openings.write)


def _is_harmless(rule: Rule, texts: str, match: re.Match[str]) -> bool:
    if rule.unless is None:
        return False
    return any(use.start() <= match.start() and match.end() <= use.end() for use in rule.unless.finditer(texts))


def _phrase(words: str) -> str:
    return rf"(?<![\w-]){_across_lines(re.escape(words))}(?![\w-])"


def _across_lines(pattern: str) -> str:
    """Words may stand on two lines, of one paragraph."""
    return re.sub(r"(\\? )+", lambda _: r"[^\S\n]*(?:[^\S\n]|\n)[^\S\n]*", pattern)


def _any(patterns: Iterator[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


if __name__ == "__main__":
    main()
