"""The word list check: which texts it reads, which words it finds there, and which uses it accepts."""

import tomllib
from pathlib import Path

import check_words
import plain_texts
import pytest

RULES = check_words.read(
    [
        {"avoid": ["anew"], "write": "`again`"},
        {"avoid": ["without a word"], "write": "`without an error`"},
        {"avoid": ["none"], "write": "`no`", "unless": ["single or none"]},
    ]
)

OPENINGS = check_words.read_openings({"openings": ["Of", "Those", "What"], "write": "what a caller gets"})


def found(directory: Path, name: str, source: str) -> list[tuple[int, str]]:
    path = directory / name
    path.write_text(source)
    return [(each.line, each.words) for each in check_words.check(path, RULES)]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("rule.rego", "package x\n# Start it anew.\n"),
        ("rule.rego", 'package x\nmessage := $"start {concat(" and ", names)} anew"\n'),
        ("rule.rego", "package x\nmessage := `start it anew`\n"),
        ("rule.rego", 'package x\nmessage := "start \\"it\\" anew"\n'),
        ("module.py", '\n"""Starts it anew."""\n'),
        ("module.py", '\ntext = f"start {name} anew"\n'),
        ("module.py", '\ntext = "über " "anew"\n'),
        ("module.py", "\nstart()  # anew\n"),
        ("test_module.py", "\ndef test_it_starts_anew() -> None: ...\n"),
        ("test_module.py", '\n"""Starts it anew."""\n'),
        ("form.yml", "label: Start\ndescription: Start it anew.\n"),
        ("script", "#!/bin/sh\necho start it anew\n"),
        ("page.md", "# Page\nStart it Anew.\n"),
    ],
)
def test_words_in_a_text_are_found_with_their_line(tmp_path: Path, name: str, source: str) -> None:
    assert [(line, words.lower()) for line, words in found(tmp_path, name, source)] == [(2, "anew")]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("rule.rego", "package x\nanew := 1\n"),
        ("rule.rego", 'package x\nkey := "anew"\n'),
        ("rule.rego", 'package x\nmessage := $"start {object.get(anew, "anew ", "")} again"\n'),
        ("rule.rego", "package x\n# Write `anew`.\n"),
        ("module.py", "anew = {'anew': 1}\n"),
        ("module.py", "text = f'start {anew} again'\n"),
        ("page.md", "Set `anew`, see [here](anew.md).\n\n```yaml\na: anew\n```\n"),
        ("page.md", "A start-anew is one word.\n"),
        ("module.py", "def test_it_starts_anew() -> None: ...\n"),
        ("test_module.py", "def test_it() -> None:\n    start('anew or later')\n"),
    ],
)
def test_code_is_not_a_text(tmp_path: Path, name: str, source: str) -> None:
    assert found(tmp_path, name, source) == []


@pytest.mark.parametrize(
    ("name", "source", "line"),
    [
        ("rule.rego", "package x\n#   It drops them without\n#   a word.\n", 2),
        ("module.py", 'text = (\n    "It drops them without "\n    "a word."\n)\n', 2),
        ("page.md", "It drops them without a\nword.\n", 1),
    ],
)
def test_a_phrase_may_cross_a_line_end(tmp_path: Path, name: str, source: str, line: int) -> None:
    ((at, words),) = found(tmp_path, name, source)

    assert (at, words) == (line, "without a word")


def test_a_phrase_does_not_cross_paragraphs(tmp_path: Path) -> None:
    assert found(tmp_path, "page.md", "It drops them without\n\na word.\n") == []


def test_harmless_uses_are_accepted(tmp_path: Path) -> None:
    page = "The strategy is mixed, single or none.\nIt has none.\n"

    assert found(tmp_path, "page.md", page) == [(2, "none")]


def test_only_the_top_section_of_the_changelog_is_read(tmp_path: Path) -> None:
    changelog = "# Changelog\n\n## Unreleased\n\nAnew.\n\n## 1.0\n\nAnew.\n"

    assert found(tmp_path, "CHANGELOG.md", changelog) == [(5, "Anew")]


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ('"""Of a module."""\n', 1, "Of ..."),
        ('class A:\n    """Those of a class."""\n', 2, "Those ..."),
        ('def f() -> None:\n    """\n    What a function does.\n    """\n', 2, "What ..."),
        ('class A:\n    async def f(self) -> None:\n        """Of a method."""\n', 3, "Of ..."),
        ('class A:\n    a: int\n    """What a field is."""\n', 3, "What ..."),
        ('a = 1\nif a:\n    b = 2\n    """Of a constant."""\n', 4, "Of ..."),
    ],
)
def test_a_docstring_says_what_a_caller_gets(tmp_path: Path, source: str, line: int, words: str) -> None:
    path = tmp_path / "module.py"
    path.write_text(source)

    (finding,) = check_words.check_docstrings(path, OPENINGS)

    assert (finding.line, finding.words, finding.write) == (line, words, "what a caller gets")


@pytest.mark.parametrize(
    "source",
    [
        '"""The queues of a workload: what Kueue looks at. Of two, the first."""\n',
        '"""Often used."""\n',
        "# What a comment says\n",
        'text = "What a message says"\n',
        'def f() -> str:\n    return """Of a text."""\n',
    ],
)
def test_other_openings_and_other_texts_are_accepted(tmp_path: Path, source: str) -> None:
    path = tmp_path / "module.py"
    path.write_text(source)

    assert list(check_words.check_docstrings(path, OPENINGS)) == []


def test_texts_stay_where_they_are() -> None:
    source = (check_words.ROOT / "tools/plain_texts.py").read_text()

    texts = plain_texts.of_python(source)

    assert len(texts) == len(source)
    assert texts.count("\n") == source.count("\n")


def test_tests_of_policies_are_left_out(tmp_path: Path) -> None:
    for name in ("rule.rego", "rule_test.rego"):
        (tmp_path / name).write_text("package x\n")

    assert check_words.files(tmp_path, ["*.rego"]) == [tmp_path / "rule.rego"]


def test_files_of_a_scope_can_be_left_out(tmp_path: Path) -> None:
    for name in ("page.md", "draft.md"):
        (tmp_path / name).write_text("# Page\n")

    assert check_words.files(tmp_path, ["*.md"], without=["draft.md"]) == [tmp_path / "page.md"]


def test_a_scope_without_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"no file matches the scope docs/\*\.md"):
        check_words.files(tmp_path, ["docs/*.md"])


def test_the_list_of_the_project_can_be_read() -> None:
    data = tomllib.loads((check_words.ROOT / "tools/words.toml").read_text())

    assert all(rule.write for rule in check_words.read(data["words"]))
    assert check_words.read_openings(data["docstrings"]).write
