"""The grammar of CEL, as far as descriptions of kinds and selectors of devices use it: a text becomes a tree.

`kinds.reading.expressions` and `accelerators.device_selectors` evaluate trees, each with values and bounds of its own.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from usher import memo


class CelError(ValueError):
    """A text that is not an expression; the reason goes on after the name of the expression."""

    def __init__(self, reason: str, word: str = "", *, is_bound: bool = False) -> None:
        super().__init__(reason)
        self.word = word
        """The word that does not fit; empty for the end."""
        self.is_bound = is_bound
        """Whether the expression is only too long or too deep."""


class Node(NamedTuple):
    """An operation.

    `kind` is `constant`, `name`, `list`, `?` for a choice, `.` and `.?` for a field, `[` and `[?` for an index, `()`
    for a function, `.()` for a method, whose target is the first part, or the sign of an operator.
    """

    kind: str
    value: str | int | float | bool = ""
    """The constant; the name of a field, a function or a variable."""
    parts: tuple["Node", ...] = ()

    @property
    def size(self) -> int:
        """The number of operations in it."""
        return 1 + sum(each.size for each in self.parts)


_WORD: Final = memo.pattern(
    r"""\s*(?:(//[^\n]*)|(?P<number>[0-9]+\.[0-9]+|[0-9]+u?)|(?P<name>[A-Za-z_]\w*)"""
    r"""|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<sign>&&|\|\||[=!<>]=|\.\?|\[\?|[-+*/%<>!?:.,()\[\]]))""",
    re.ASCII,
)
_COMPARED: Final = ("==", "!=", "<=", ">=", "<", ">", "in")
_ESCAPED: Final = memo.pattern(r"\\(.)")
_ESCAPES: Final = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "t": "\t", "r": "\r", "`": "`", "?": "?"}
_MOST_DIGITS: Final = 20


def _words(text: str) -> Iterator[tuple[str, str]]:
    position, end = 0, len(text.rstrip())
    while position < end:
        found = _WORD.match(text, position)
        if found is None:
            wrong = text[position:].strip()[:20]
            raise CelError(f"cannot read {wrong!r}", wrong)
        position = found.end()
        if found.lastgroup:
            yield found.lastgroup, found[found.lastgroup]


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        if found[1] not in _ESCAPES:
            raise CelError(f"has the unknown escape \\{found[1]}", found[0])
        return _ESCAPES[found[1]]

    return _ESCAPED.sub(plain, text[1:-1])


class _Parser:
    """Reads one expression by recursive descent; each method takes the words of one level of precedence."""

    def __init__(self, text: str, deepest: int, most_words: int, *, chains: bool) -> None:
        self._words = [*_words(text)]
        if len(self._words) > most_words:
            raise CelError(f"has more than {most_words} words", is_bound=True)
        self._words.append(("end", ""))
        self._at = self._depth = 0
        self._deepest, self._chains = deepest, chains

    def whole(self) -> Node:
        node = self.choice()
        if self._words[self._at][0] != "end":
            raise self._error("does not end")
        return node

    def _error(self, reason: str) -> CelError:
        word = self._words[self._at][1]
        return CelError(f"{reason} before {word!r}" if word else "ends too early", word)

    def _take(self, *texts: str) -> str:
        found = self._words[self._at][1]
        if not found or found not in texts:
            return ""
        self._at += 1
        return found

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise self._error(f"expected {text!r}")

    def _name(self) -> str:
        kind, text = self._words[self._at]
        if kind != "name":
            raise self._error("expected a name")
        self._at += 1
        return text

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > self._deepest:
            raise CelError(f"has more than {self._deepest} levels of parentheses", is_bound=True)

    def choice(self) -> Node:
        self._deeper()
        node = self._joined("||")
        if self._take("?"):
            yes = self.choice()
            self._expect(":")
            node = Node("?", parts=(node, yes, self.choice()))
        self._depth -= 1
        return node

    def _joined(self, sign: str) -> Node:
        parts = [self._part(sign)]
        while self._take(sign):
            parts.append(self._part(sign))
        return parts[0] if len(parts) == 1 else Node(sign, parts=tuple(parts))

    def _part(self, sign: str) -> Node:
        return self._joined("&&") if sign == "||" else self._operation(0)

    def _operation(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        node = self._operation(level + 1)
        while sign := self._take(*_LEVELS[level]):
            node = Node(sign, parts=(node, self._operation(level + 1)))
            if level == 0 and not self._chains:
                break
        return node

    def _unary(self) -> Node:
        sign = self._take("!", "-")
        if not sign:
            return self._postfix()
        self._deeper()
        node = Node(sign, parts=(self._unary(),))
        self._depth -= 1
        return node

    def _postfix(self) -> Node:
        node = self._primary()
        while sign := self._take(".", ".?", "[", "[?"):
            if sign.startswith("["):
                node = Node(sign, parts=(node, self.choice()))
                self._expect("]")
                continue
            name = self._name()
            is_method = sign == "." and self._take("(")
            node = Node(".()", name, (node, *self._arguments(")"))) if is_method else Node(sign, name, (node,))
        return node

    def _primary(self) -> Node:
        kind, text = self._words[self._at]
        if kind == "end" or (kind == "sign" and text not in ("(", "[")):
            raise CelError(f"cannot read {text!r}" if text else "ends too early", text)
        self._at += 1
        if text == "(":
            node = self.choice()
            self._expect(")")
            return node
        if text == "[":
            return Node("list", parts=self._arguments("]"))
        if kind == "text":
            return Node("constant", _unescaped(text))
        if kind == "number":
            return Node("constant", float(text) if "." in text else int(text.rstrip("u")[:_MOST_DIGITS]))
        if text in ("true", "false"):
            return Node("constant", text == "true")
        return Node("()", text, self._arguments(")")) if self._take("(") else Node("name", text)

    def _arguments(self, end: str) -> tuple[Node, ...]:
        found: list[Node] = []
        while not self._take(end):
            if found:
                self._expect(",")
            found.append(self.choice())
        return tuple(found)


_LEVELS: Final = (_COMPARED, ("+", "-"), ("*", "/", "%"))


def parse(text: str, *, deepest: int, most_words: int, chains: bool = True) -> Node:
    """The tree of an expression.

    Args:
        deepest: the levels of parentheses that it may have.
        most_words: the words that it may have.
        chains: whether a comparison without parentheses may be compared.

    Raises:
        CelError: it has other signs than this grammar, is malformed, or exceeds a bound.
    """
    return _Parser(text, deepest, most_words, chains=chains).whole()


_LONGEST_SEARCHED: Final = 256
"""Two repetitions of a pattern take steps by the third power of this."""

# A pattern of plain characters, classes and at most two repetitions, so that Python's search is as bounded as RE2.
# Alternatives are not repeated, and few groups of them follow each other.
_PATTERN: Final = memo.pattern(
    r"(?:\(\?i\))?(?:[\w\s.^$,:;/@#%&=<>~!\"'|-]|\\[.dws/-]|\[[^\[\]\\]+\]|[*+?]|\((?:\?:)?(?!\?)|\)(?![*+?]))*",
    re.ASCII,
)


def search(pattern: str, text: str) -> bool:
    """Whether `matches` of CEL finds the pattern in the text.

    Raises:
        CelError: Python could search longer than RE2, or reads the pattern in another way.
    """
    plain = pattern.replace("(?:", "(").removeprefix("(?i)")
    is_short = len(re.findall(r"[*+?]", plain)) <= 2 and plain.count("(") <= 2 and len(text) <= _LONGEST_SEARCHED
    if not is_short or not _PATTERN.fullmatch(pattern):
        raise CelError("has a pattern that usher does not read", is_bound=True)
    try:
        return re.search(pattern, text, re.ASCII) is not None
    except re.error:
        raise CelError("has a pattern that usher does not read", is_bound=True) from None


def _divided(left: int, right: int) -> int:
    """CEL rounds towards zero."""
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


ARITHMETIC: Final[Mapping[str, Callable[[int, int], int]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "%": lambda left, right: left - _divided(left, right) * right,
}
"""Calculates with whole numbers."""
