"""The grammar of CEL, as far as descriptions of kinds and selectors of devices use it: a text becomes a tree.

`kinds.reading.expressions` and `accelerators.device_selectors` evaluate trees, each with values and bounds of its own.
"""

import ipaddress
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import pairwise, starmap
from typing import Any, Final, NamedTuple

from usher import memo


class CelError(ValueError):
    """A text that is not an expression; the reason goes on after the name of the expression."""

    def __init__(self, reason: str, word: str = "", *, is_bound: bool = False) -> None:
        super().__init__(reason)
        self.word = word
        """The word that does not fit; empty for the end."""
        self.is_bound = is_bound
        """Whether the expression is only too long or too deep."""


class EvaluationError(Exception):
    """The evaluation of an expression fails in CEL too; the text is the reason."""


class NotEvaluated(Exception):  # noqa: N818 - not a fault
    """The expression has a part that usher does not evaluate; the text names the part."""


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

    def parse_all(self) -> Node:
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
    return _Parser(text, deepest, most_words, chains=chains).parse_all()


_LONGEST_SEARCHED: Final = 256
"""Two repetitions of a pattern take steps by the third power of this."""

# A pattern of plain characters, classes and at most two repetitions, so that Python's search is as bounded as RE2.
# Groups are there once or not at all, and few groups follow each other.
_PATTERN: Final = memo.pattern(
    r"(?:\(\?i\))?(?:[\w\s.^$,:;/@#%&=<>~!\"'|-]|\\[.dws/-]|\[[^\[\]\\]+\]|[*+?]|\((?:\?:)?(?!\?)|\)\??(?![*+?]))*",
    re.ASCII,
)


def _found(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """The places of a pattern in a text.

    Raises:
        NotEvaluated: Python could search longer than RE2, or reads the pattern in another way.
    """
    plain = pattern.replace("(?:", "(").removeprefix("(?i)")
    is_short = len(re.findall(r"[*+?]", plain)) <= 2 and plain.count("(") <= 2 and len(text) <= _LONGEST_SEARCHED
    if not is_short or not _PATTERN.fullmatch(pattern):
        raise NotEvaluated("a pattern that usher does not read")
    try:
        return re.finditer(pattern, text, re.ASCII)
    except re.error:
        raise NotEvaluated("a pattern that usher does not read") from None


def search(pattern: str, text: str) -> bool:
    """Whether `matches` of CEL finds the pattern in the text.

    Raises:
        NotEvaluated: Python could search longer than RE2, or reads the pattern in another way.
    """
    return next(_found(pattern, text), None) is not None


def _all_found(text: str, pattern: str, most: int = -1) -> list[str]:
    found = [each[0] for each in _found(pattern, text)]
    if not all(found):  # RE2 and Python differ about empty ones beside others
        raise NotEvaluated("a pattern that usher does not read")
    return found if most < 0 else found[:most]


LONGEST_TEXT: Final = 1024
"""The most characters of a text that an expression makes."""


def bounded(text: str) -> str:
    """The text.

    Raises:
        NotEvaluated: it is too long.
    """
    if len(text) > LONGEST_TEXT:
        raise NotEvaluated("a long text")
    return text


def _part(text: str, first: int, last: int | None = None) -> str:
    last = len(text) if last is None else last
    if not 0 <= first <= last <= len(text):
        raise EvaluationError("the index is beyond the text")
    return text[first:last]


def _character(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise EvaluationError("the index is beyond the text")
    return text[index : index + 1]


def _first_place(text: str, part: str, start: int = 0) -> int:
    if not 0 <= start <= len(text):
        raise EvaluationError("the index is beyond the text")
    return text.find(part, start)


def _last_place(text: str, part: str, start: int | None = None) -> int:
    if start is not None and not 0 <= start < max(len(text), 1):
        raise EvaluationError("the index is beyond the text")
    return text.rfind(part, 0, len(text) if start is None else start + len(part))


def _replaced(text: str, old: str, new: str, most: int = -1) -> str:
    if len(text) * len(new) > LONGEST_TEXT * LONGEST_TEXT:
        raise NotEvaluated("a long text")
    return bounded(text.replace(old, new, most))


def _divided_text(text: str, by: str, most: int = -1) -> list[str]:
    if most == 0:
        return []
    parts = text.split(by) if by else [*text]
    return parts if most < 0 or len(parts) <= most else [*parts[: most - 1], by.join(parts[most - 1 :])]


Overload = tuple[Callable[..., Any], tuple[type, ...]]
"""A function, and the types of its values beside its target."""

TEXT_METHODS: Final[Mapping[str, Sequence[Overload]]] = {
    "startsWith": [(str.startswith, (str,))],
    "endsWith": [(str.endswith, (str,))],
    "contains": [(lambda text, part: part in text, (str,))],
    "matches": [(lambda text, pattern: search(pattern, text), (str,))],
    "find": [(lambda text, pattern: next((each[0] for each in _found(pattern, text)), ""), (str,))],
    "findAll": [(_all_found, (str,)), (_all_found, (str, int))],
    "lowerAscii": [(lambda text: "".join(each.lower() if each.isascii() else each for each in text), ())],
    "upperAscii": [(lambda text: "".join(each.upper() if each.isascii() else each for each in text), ())],
    "size": [(len, ())],
    "trim": [(str.strip, ())],
    "split": [(_divided_text, (str,)), (_divided_text, (str, int))],
    "replace": [(_replaced, (str, str)), (_replaced, (str, str, int))],
    "charAt": [(_character, (int,))],
    "indexOf": [(_first_place, (str,)), (_first_place, (str, int))],
    "lastIndexOf": [(_last_place, (str,)), (_last_place, (str, int))],
    "substring": [(_part, (int,)), (_part, (int, int))],
}
"""Methods of texts: cel-go/ext/strings.go in version 2, and apiserver/pkg/cel/library/regex.go of Kubernetes."""


def _ip(text: str) -> Any:  # noqa: ANN401 - an address
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        raise EvaluationError(f"{text[:40]!r} is not an address") from None
    if "%" in text or getattr(found, "ipv4_mapped", None):
        raise EvaluationError(f"{text[:40]!r} is not an address")
    return found


def _network(text: str) -> Any:  # noqa: ANN401 - a network
    address, slash, length = text.partition("/")
    try:
        found = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise EvaluationError(f"{text[:40]!r} is not a network") from None
    if not slash or not length.isdecimal() or (length != "0" and length.startswith("0")):
        raise EvaluationError(f"{text[:40]!r} is not a network")
    _ip(address)
    return found


def _is(read: Callable[[str], object]) -> Callable[[str], bool]:
    def is_one(text: str) -> bool:
        try:
            read(text)
        except EvaluationError:
            return False
        return True

    return is_one


def _holds(network: Any, other: Any) -> bool:  # noqa: ANN401 - addresses and networks
    address = _ip(other) if isinstance(other, str) else other
    return address.version == network.version and address in network


Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
NETWORK_FUNCTIONS: Final[Mapping[str, Overload]] = {
    "ip": (_ip, (str,)),
    "isIP": (_is(_ip), (str,)),
    "cidr": (_network, (str,)),
    "isCIDR": (_is(_network), (str,)),
}
NETWORK_METHODS: Final[Mapping[tuple[type, str], Sequence[Overload]]] = {
    **{(each, "family"): [(lambda address: address.version, ())] for each in Address.__args__},
    **{
        (each, "containsIP"): [(_holds, (str,)), *((_holds, (one,)) for one in Address.__args__)]
        for each in Network.__args__
    },
    **{(each, "prefixLength"): [(lambda network: network.prefixlen, ())] for each in Network.__args__},
}
"""Addresses: apiserver/pkg/cel/library/{ip,cidr}.go of Kubernetes."""


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


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(left: object, right: object) -> bool:
    """Equality of CEL: values of different types are not equal, but numbers compare with numbers."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if type(left) is type(right) or (is_number(left) and is_number(right)):
        return left == right
    return False


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    def ordered(left: object, right: object) -> bool:
        if (is_number(left) and is_number(right)) or (isinstance(left, str | bool) and type(left) is type(right)):
            return compare(left, right)
        raise EvaluationError("values of different types have no order")

    return ordered


def within(left: object, right: object) -> bool:
    if isinstance(right, list):
        return any(equal(left, each) for each in right)
    if isinstance(right, dict):
        return isinstance(left, str) and left in right
    raise EvaluationError("`in` needs a list")


RELATIONS: Final[Mapping[str, Callable[[object, object], bool]]] = {
    "==": equal,
    "!=": lambda left, right: not equal(left, right),
    "<": _ordered(operator.lt),
    "<=": _ordered(operator.le),
    ">": _ordered(operator.gt),
    ">=": _ordered(operator.ge),
    "in": within,
}


def calculated(sign: str) -> Callable[[object, object], object]:
    """An operation of two values."""

    def result(left: Any, right: Any) -> object:  # noqa: ANN401 - numbers, texts or lists
        if type(left) is not type(right) or type(left) not in (
            (int, float, str, list) if sign == "+" else (int, float)
        ):
            raise EvaluationError(f"`{sign}` of these values")
        if isinstance(left, str):
            return bounded(left + right)
        if isinstance(left, list):
            if len(left) + len(right) > LONGEST_TEXT:
                raise NotEvaluated("a long list")
            return left + right
        if isinstance(left, float):
            return _of_floats(sign, left, right)
        if sign in "/%" and not right:
            raise EvaluationError("a division by zero")
        return _within_64_bits(ARITHMETIC[sign](left, right))

    return result


def _of_floats(sign: str, left: float, right: float) -> float:
    if sign == "%":
        raise EvaluationError("`%` of these values")
    if sign == "/" and not right:
        return math.nan if not left or math.isnan(left) else math.copysign(math.inf, left) * math.copysign(1, right)
    try:
        return (
            left + right
            if sign == "+"
            else left - right
            if sign == "-"
            else left * right
            if sign == "*"
            else left / right
        )
    except OverflowError:
        raise NotEvaluated("a large number") from None


def _within_64_bits(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise EvaluationError("the number is too large")
    return value


def whole_number(value: object) -> int:
    if isinstance(value, float):
        if not -(2.0**63) < value < 2.0**63:
            raise EvaluationError("int() of this value")
        return int(value)
    if isinstance(value, bool) or not re.fullmatch(r"[-+]?[0-9]{1,19}", str(value), re.ASCII):
        raise EvaluationError("int() of this value")
    return _within_64_bits(int(str(value)))


def double(value: object) -> float:
    if isinstance(value, str) and re.fullmatch(r"[-+]?[0-9]{1,19}(\.[0-9]{1,19})?", value, re.ASCII):
        return float(value)
    if not is_number(value):
        raise NotEvaluated("double() of this value")
    return float(value)  # type: ignore[arg-type]


def text_of(value: object) -> str:
    if isinstance(value, str | int):
        return str(value).lower() if isinstance(value, bool) else str(value)
    raise NotEvaluated("string() of this value")


def _place_of(values: list[Any], wanted: object, *, last: bool = False) -> int:
    found = [index for index, each in enumerate(values) if equal(each, wanted)]
    return found[-1 if last else 0] if found else -1


def _extreme(best: Callable[[Any, Any], bool]) -> Callable[[list[Any]], object]:
    def extreme(values: list[Any]) -> object:
        if not values:
            raise EvaluationError("the list is empty")
        found = values[0]
        for each in values[1:]:
            found = each if _ordered(best)(each, found) else found
        return found

    return extreme


LIST_METHODS: Final[Mapping[str, Sequence[Overload]]] = {
    "join": [(lambda values, by="": bounded(by.join(map(text_of, values))), types) for types in ((), (str,))],
    "size": [(len, ())],
    "isSorted": [(lambda values: all(starmap(RELATIONS["<="], pairwise(values))), ())],
    "sum": [(lambda values: reduce(calculated("+"), values) if values else 0, ())],
    "min": [(_extreme(operator.lt), ())],
    "max": [(_extreme(operator.gt), ())],
    "indexOf": [(_place_of, (object,))],
    "lastIndexOf": [(partial(_place_of, last=True), (object,))],
}
"""Methods of lists: apiserver/pkg/cel/library/lists.go of Kubernetes."""
