"""Documents of YAML as people write them, each with its value: comments, styles, anchors and odd indentation."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

KEYS: Final = ("name", "value", "a", "b", "c", "nvidia.com/gpu", "n", "1", "limits", "x y", "é")
TEXTS: Final = (
    "m",
    "8Gi",
    "true",
    "",
    "a: b",
    "it's",
    'say "no"',
    "two words",
    "# no",
    "- x",
    "1.5",
    "é☃",
    "{{x}}",
    "a\nb\n",
)
_COMMENTS: Final = ("# note", "#", "# key: value", "# - item", "# 'quote \"")

leaves: Final = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 100), st.sampled_from([0.5, 1e21]), st.sampled_from(TEXTS)
)
values: Final = st.recursive(
    leaves,
    lambda children: st.one_of(
        st.lists(children, max_size=3), st.dictionaries(st.sampled_from(KEYS), children, max_size=4)
    ),
    max_leaves=12,
)


@dataclass(kw_only=True)
class Writer:
    """Writes one document in styles that it draws."""

    draw: Draw
    anchors: dict[str, Any] = field(default_factory=dict)
    has_aliases: bool = True

    def one_in(self, number: int) -> bool:
        return bool(self.draw(st.integers(1, number)) == number)

    def document(self, value: Any) -> str:
        if isinstance(value, dict | list) and value and not self.one_in(8):
            return self.fillers(0) + self.block(value, 0)
        return f"{self.flow(value, 0)}\n"

    def fillers(self, margin: int) -> str:
        """Blank lines and comments between two lines."""
        if not self.one_in(4):
            return ""
        comment = self.draw(st.sampled_from(_COMMENTS))
        indentation = " " * self.draw(st.sampled_from([0, margin, margin, margin + 2, max(margin - 1, 0)]))
        return str(self.draw(st.sampled_from(["\n", f"{indentation}{comment}\n", f"\n{indentation}{comment}\n\n"])))

    def end(self) -> str:
        return f"  {self.draw(st.sampled_from(_COMMENTS))}\n" if self.one_in(6) else "\n"

    def block(self, value: Any, margin: int, *, first: bool = False) -> str:
        """Lines of a mapping or list with entries; `first` is true where the indentation stands there already."""
        lines = []
        for number, key in enumerate(value if isinstance(value, dict) else range(len(value))):
            start = "" if first and not number else self.fillers(margin) * bool(number) + " " * margin
            lines.append(start + self.entry(value, key, margin))
        return "".join(lines)

    def entry(self, value: Any, key: Any, margin: int) -> str:
        item = value[key]
        if isinstance(value, list):
            gap = self.draw(st.sampled_from([1, 1, 1, 3]))
            if isinstance(item, dict | list) and item and self.one_in(2) and not self._alias(item):
                return "-" + " " * int(gap) + self.block(item, margin + 1 + gap, first=True)
            return "-" + self.value(item, margin, in_list=True)
        return f"{self.text(key)}:" + self.value(item, margin, in_list=False)

    def value(self, item: Any, margin: int, *, in_list: bool) -> str:
        if alias := self._alias(item):
            return f" *{alias}{self.end()}"
        anchor = f" &{self._anchor(item)}" if self.one_in(6) else ""
        if isinstance(item, dict | list) and item and not self.one_in(4):
            least = 1 if in_list or isinstance(item, dict) else 0
            step = self.draw(st.sampled_from([least, 2, 2, 4]))
            return f"{anchor}{self.end()}{self.block(item, margin + step)}"
        if isinstance(item, str) and item and self.one_in(3) and self._fits_lines(item):
            return f"{anchor} {self.literal(item, margin)}"
        if item is None and not anchor and self.one_in(2):
            return self.end()
        return f"{anchor} {self.flow(item, margin + 2)}{self.end()}"

    def literal(self, text: str, margin: int) -> str:
        style = str(self.draw(st.sampled_from("|>"))) if "\n" not in text else "|"
        body = "".join(" " * (margin + 2) + line + "\n" for line in text.removesuffix("\n").split("\n"))
        if not text.endswith("\n"):
            return f"{style}-\n{body}" + "\n" * int(self.draw(st.integers(0, 2)))
        if self.one_in(2):
            return f"{style}+\n{body}"
        return f"{style}\n{body}" + "\n" * int(self.draw(st.integers(0, 2)))

    def flow(self, value: Any, margin: int) -> str:
        if not isinstance(value, dict | list):
            return self.text(value)
        spread = bool(value) and self.one_in(4)
        margin = max(margin, 1)
        space = "\n" + " " * (margin + 2) if spread else ""
        parts = [
            f"{space}{self.text(key)}: {self.flow(value[key], margin + 2)}"
            if isinstance(value, dict)
            else f"{space}{self.flow(key, margin + 2)}"
            for key in value
        ]
        comma = "," if parts and self.one_in(5) else ""
        inner = ("," if spread else self.draw(st.sampled_from([", ", ", ", " , "]))).join(parts) + comma
        last = "\n" + " " * margin if spread else ""
        return f"{{{inner}{last}}}" if isinstance(value, dict) else f"[{inner}{last}]"

    def text(self, value: Any) -> str:
        if value is None:
            return str(self.draw(st.sampled_from(["null", "~"])))
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, str):
            return repr(value)
        plain = (value.isidentifier() and value not in {"true", "n"}) or value in {"nvidia.com/gpu", "8Gi", "x y"}
        styles = ["plain"] * 2 if plain else []
        styles += [] if "\n" in value else ["single"]
        style = self.draw(st.sampled_from([*styles, "double"]))
        if style == "plain":
            return value
        if style == "single":
            return "'" + value.replace("'", "''") + "'"
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

    def _alias(self, item: Any) -> str:
        if not self.has_aliases or not isinstance(item, dict | list | str) or not item:
            return ""
        return next((name for name, value in self.anchors.items() if value == item and type(value) is type(item)), "")

    def _anchor(self, item: Any) -> str:
        name = f"q{len(self.anchors)}"
        self.anchors[name] = item
        return name

    def _fits_lines(self, text: str) -> bool:
        return text[0] not in " #" and all(line.strip() for line in text.removesuffix("\n").split("\n"))


@st.composite
def streams(draw: Draw) -> tuple[bytes, list[Any]]:
    """A file of one to three documents, and their values."""
    texts, found = [], []
    for _ in range(draw(st.integers(1, 3))):
        value = draw(st.dictionaries(st.sampled_from(KEYS), values, min_size=1, max_size=5))
        if draw(st.booleans()):
            # Twice the same, so that the second can be an alias.
            value = {"first": value, "second": {"b": value, "c": 1}, "third": [value]}
        if draw(st.integers(1, 10)) == 1:
            value = draw(values.filter(lambda each: each is not None))
        texts.append(Writer(draw=draw).document(value))
        found.append(value)
    separator = draw(st.sampled_from(["---\n", "--- # next\n", "\n---\n\n", "...\n---\n"]))
    text = draw(st.sampled_from(["", "---\n", "# head\n", "# head\n---\n"])) + separator.join(texts)
    if draw(st.booleans()) and text.endswith("\n") and not text.endswith(("\n\n", "---\n")):
        text = text[:-1]
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + text.encode(), found
