"""The texts that people read in a source file. Everything else in the file becomes blank, so that positions stay."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]
"""Where a text starts and ends in its file, in characters."""

_INLINE_CODE: Final = re.compile(r"`[^`]*`")
_FENCE: Final = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
_LINK_TARGET: Final = re.compile(r"\]\([^)]*\)")
_FIELD: Final = re.compile(r"\{[^{}]*\}")
_JOINT: Final = re.compile(r"[\"']\s*\n\s*[frbFRB]*[\"']")
_REGO_COMMENT: Final = re.compile(r"[ \t]*#(.*)")
_PYTHON_COMMENT: Final = re.compile(r"#.*")

# A file is read for its words and for its docstrings, one after the other.
_tree: Final = lru_cache(maxsize=1)(ast.parse)


def of_file(path: Path) -> str:
    """The file with blanks for everything that is not text; as long as the file, with the same line ends.

    Raises:
        KeyError: For a file type without texts.
    """
    source = path.read_text()
    is_test = path.suffix == ".py" and path.name.startswith("test_")
    texts = of_test(source) if is_test else _READERS[path.suffix](source)
    if path.name == "CHANGELOG.md":
        texts = texts[: _end_of_top_section(source)]
    return texts


def of_rego(source: str) -> str:
    """Comments with METADATA, and string literals of several words without their interpolations."""
    return _only(source, _rego_spans(source))


def of_python(source: str) -> str:
    """Comments, docstrings, and string literals of several words without their replacement fields."""
    places = _Places(source)
    literals = [(node, places.of(node)) for node in _literals(_tree(source))]
    spans = [span for node, span in literals if not _is_bytes(node) and " " in source[slice(*span)]]
    code = _without(source, [span for _, span in literals])
    spans += [comment.span() for comment in _PYTHON_COMMENT.finditer(code)]
    texts = _only(source, iter(spans))
    return _blank(_FIELD, _JOINT.sub(lambda joint: re.sub(r"\S", " ", joint[0]), texts))


def docstrings(source: str) -> list[tuple[int, str]]:
    """Line and text of each docstring: of modules, classes, functions and attributes."""
    return [
        (node.lineno, node.value.value)
        for node in statements(_tree(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]


def of_test(source: str) -> str:
    """The names of tests as words, and the docstring of the module; string literals of tests are data."""
    places = _Places(source)
    tree = _tree(source)
    docstring = tree.body[:1] if ast.get_docstring(tree) is not None else []
    names = [
        (source.index(f"def {node.name}", places.of(node)[0]) + len("def "), len(node.name))
        for node in statements(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    found = [(start, start + length) for start, length in names]
    return _only(source, iter([*map(places.of, docstring), *found])).replace("_", " ")


def of_markdown(source: str) -> str:
    """Everything but code and the targets of links."""
    return _blank(_LINK_TARGET, _blank(_INLINE_CODE, _blank(_FENCE, source)))


def of_other(source: str) -> str:
    """Everything but code in backticks, as in scripts and in YAML with texts."""
    return _blank(_INLINE_CODE, source.replace("#", " "))


_READERS: Final[Mapping[str, Callable[[str], str]]] = {
    "": of_other,
    ".md": of_markdown,
    ".py": of_python,
    ".rego": of_rego,
    ".yaml": of_other,
    ".yml": of_other,
}


class _Places:
    """Where the nodes of Python source are, in characters."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self._lines)]

    def of(self, node: ast.expr | ast.stmt) -> Span:
        end = self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return self._offset(node.lineno, node.col_offset), end

    def _offset(self, number: int, column: int) -> int:
        return self._starts[number - 1] + len(self._lines[number - 1].encode()[:column].decode())


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements in a module or in a statement."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, name, ()):
            yield child
            yield from statements(child)


def _literals(node: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    """Literals of text and bytes from the outside in: an f-string as a whole, without the literals in its fields."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr):
            yield node
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str | bytes):
                yield node
        else:
            for name in node._fields:
                child = getattr(node, name, None)
                if isinstance(child, list):
                    waiting += [each for each in child if isinstance(each, ast.AST)]
                elif isinstance(child, ast.AST):
                    waiting.append(child)


def _is_bytes(node: ast.Constant | ast.JoinedStr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bytes)


def _without(source: str, spans: list[Span]) -> str:
    """The source with dots in place of spans, which do not overlap."""
    parts, position = [], 0
    for start, end in sorted(spans):
        parts += [source[position:start], "." * (end - start)]
        position = end
    return "".join([*parts, source[position:]])


def _rego_spans(source: str) -> Iterator[Span]:
    position = 0
    while position < len(source):
        if comment := _REGO_COMMENT.match(source, position):
            yield comment.span(1)
            position = comment.end()
        elif source[position] == "`":
            end = source.index("`", position + 1)
            yield position + 1, end
            position = end + 1
        elif source[position] == '"':
            parts, position = _rego_string(source, position, templated=source[position - 1] == "$")
            if any(" " in source[slice(*part)] for part in parts):
                yield from parts
        else:
            position += 1


def _rego_string(source: str, start: int, *, templated: bool) -> tuple[list[Span], int]:
    """The parts of a string literal around its interpolations, and where the literal ends."""
    parts = []
    begin = position = start + 1
    while source[position] != '"':
        if source[position] == "\\":
            position += 2
        elif templated and source[position] == "{":
            parts.append((begin, position))
            begin = position = _after_interpolation(source, position)
        else:
            position += 1
    return [*parts, (begin, position)], position + 1


def _after_interpolation(source: str, start: int) -> int:
    depth, position = 0, start
    while True:
        if source[position] == '"':
            _, position = _rego_string(source, position, templated=source[position - 1] == "$")
            continue
        depth += {"{": 1, "}": -1}.get(source[position], 0)
        position += 1
        if depth == 0:
            return position


def _only(source: str, spans: Iterator[Span]) -> str:
    """The source with blanks outside of the spans, and for code in backticks."""
    result, position = [], 0
    for start, end in sorted(spans):
        result += [_blanks(source[position:start]), source[start:end]]
        position = end
    return _blank(_INLINE_CODE, "".join([*result, _blanks(source[position:])]))


def _blank(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: _blanks(match[0]), text)


def _blanks(text: str) -> str:
    """As many characters: white space stays, and bars replace the rest, so that words around them are not neighbours.

    The sign of a comment becomes a space, because a sentence goes on after it.
    """
    return re.sub(r"\S", "|", text.replace("#", " "))


def _end_of_top_section(source: str) -> int:
    sections = [match.start() for match in re.finditer(r"^## ", source, re.MULTILINE)]
    return sections[1] if len(sections) > 1 else len(source)
