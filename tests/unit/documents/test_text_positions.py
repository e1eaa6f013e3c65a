"""Every value of a document is found in its text."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import shared_files
from shared_files import OWN, Corpus
from usher import errors, paths
from usher.documents import reader

POD = """\
# A comment.
---
apiVersion: v1
kind: Pod   # not a Deployment
metadata:
  name: "trainer"
  labels: {app: trainer, "a/b": x~y}
spec:
  containers:
  - name: main
    command: [python, -m,
      train]
    args:
    - |
      one
      two

    # A comment at the end.
  tolerations:
---
kind: Next
"""


def only(content: str) -> reader.Document:
    (document, *_) = reader.parse(content, source="test.yaml")
    return document


def slice_of(content: str, span: reader.Span) -> str:
    lines = content.split("\n")
    chosen = lines[span.line - 1 : span.end_line]
    chosen[-1] = chosen[-1][: span.end_column - 1]
    chosen[0] = chosen[0][span.column - 1 :]
    return "\n".join(chosen)


def pointers(value: paths.Json, pointer: str = paths.ROOT) -> set[str]:
    items: Any = ()
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
    return {pointer}.union(*(pointers(item, paths.join(pointer, key)) for key, item in items))


@pytest.mark.parametrize(
    ("pointer", "text", "key"),
    [
        ("/apiVersion", "v1", "apiVersion"),
        ("/kind", "Pod", "kind"),
        ("/metadata", 'name: "trainer"\n  labels: {app: trainer, "a/b": x~y}', "metadata"),
        ("/metadata/name", '"trainer"', "name"),
        ("/metadata/labels", '{app: trainer, "a/b": x~y}', "labels"),
        ("/metadata/labels/a~1b", "x~y", '"a/b"'),
        ("/spec/containers/0/command", "[python, -m,\n      train]", "command"),
        ("/spec/containers/0/command/2", "train", None),
        ("/spec/containers/0/args/0", "|\n      one\n      two", None),
        ("/spec/containers/0/args", "- |\n      one\n      two", "args"),
        ("/spec/tolerations", "", "tolerations"),
    ],
)
def test_a_value_and_its_key_are_found(pointer: str, text: str, key: str | None) -> None:
    position = reader.Places(only(POD))[pointer]
    assert slice_of(POD, position) == text
    assert (slice_of(POD, position.key) if position.key else None) == key


def test_lines_and_columns_count_from_one() -> None:
    position = reader.Places(only(POD))["/metadata/name"]
    assert position == reader.Position(
        line=6, column=9, end_line=6, end_column=18, key=reader.Span(line=6, column=3, end_line=6, end_column=7)
    )


def test_the_document_itself_has_a_place_without_the_comments_around_it() -> None:
    position = reader.Places(only(POD))[paths.ROOT]
    assert (position.line, position.column, position.end_line, position.key) == (3, 1, 19, None)


def test_a_pointer_to_nothing_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        reader.Places(only(POD))["/spec/volumes"]


@pytest.mark.parametrize(
    ("pointer", "nearest"),
    [
        ("/spec/volumes/0/name", "/spec"),
        ("/spec/containers/0/name", "/spec/containers/0/name"),
        ("/spec/containers/7/name", "/spec/containers"),
        ("/status", paths.ROOT),
    ],
)
def test_what_is_missing_is_placed_where_it_would_be(pointer: str, nearest: str) -> None:
    found = reader.Places(only(POD))
    assert found.nearest(pointer) == found[nearest]


ALIASES = """\
base: &base {cpu: 1}
extra: &extra
  memory: 2
same: *base
merged: {<<: [*base, *extra], cpu: 3}
inline:
  <<: {cpu: 4}
number: &number 0777
again: *number
*number : eight
"""


@pytest.mark.parametrize(
    ("pointer", "line", "text"),
    [
        ("/same", 4, "*base"),
        ("/same/cpu", 1, "1"),
        ("/merged", 5, "{<<: [*base, *extra], cpu: 3}"),
        ("/merged/memory", 3, "2"),
        ("/merged/cpu", 5, "3"),
        ("/inline/cpu", 7, "4"),
        ("/inline", 7, "<<: {cpu: 4}"),
        ("/number", 8, "&number 0777"),
        ("/again", 9, "*number"),
        ("/511", 10, "eight"),
    ],
)
def test_what_an_alias_stands_for_is_found_where_it_is_written(pointer: str, line: int, text: str) -> None:
    position = reader.Places(only(ALIASES))[pointer]
    assert position.line == line
    assert slice_of(ALIASES, position) == text


def test_json_values_that_share_a_line_are_found() -> None:
    content = '{"kind": "X"} {"kind": "Z",\n "a": [1, {"b": null}]}\n{"kind": "W"}'
    first, second, third = (reader.Places(each) for each in reader.parse(content, source="test.json"))
    assert slice_of(content, first["/kind"]) == '"X"'
    assert slice_of(content, second["/kind"]) == '"Z"'
    assert slice_of(content, second["/a/1/b"]) == "null"
    assert slice_of(content, third["/kind"]) == '"W"'
    assert third["/kind"].line == 3
    assert second.excerpt(second["/kind"]).text == '{"kind": "Z",'
    assert second.excerpt(second["/kind"]).column == 10


def underlined(excerpt: reader.Excerpt) -> str:
    return excerpt.text[excerpt.column - 1 : excerpt.end_column - 1]


def test_an_excerpt_is_the_line_and_what_to_underline() -> None:
    found = reader.Places(only(POD.replace("\n", "\r\n")))
    excerpt = found.excerpt(found["/kind"])
    assert (excerpt.line, excerpt.text, underlined(excerpt)) == (4, "kind: Pod   # not a Deployment", "Pod")


def test_of_several_lines_the_first_is_underlined() -> None:
    found = reader.Places(only(POD))
    excerpt = found.excerpt(found["/spec/containers/0/command"])
    assert (excerpt.text, underlined(excerpt)) == ("    command: [python, -m,", "[python, -m,")


def test_where_nothing_is_written_the_place_is_still_shown() -> None:
    found = reader.Places(only(POD))
    excerpt = found.excerpt(found["/spec/tolerations"])
    assert excerpt.end_column - excerpt.column == 1


@pytest.mark.parametrize("number", [0, 1, 40, 500, 998, 999])
def test_a_long_line_is_cut_around_the_underlined_part(number: int) -> None:
    document = only(json.dumps({f"key{index}": f"value{index}" for index in range(1000)}))
    found = reader.Places(document)
    excerpt = found.excerpt(found[f"/key{number}"])
    assert underlined(excerpt) == f'"value{number}"'
    assert len(excerpt.text) <= 162


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=30)
documents = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(texts, children, max_size=4),
    max_leaves=20,
)


def assert_all_found(content: str, document: reader.Document) -> None:
    """The text at each place, read alone, is the value; the text of the key is the last part of the pointer."""
    found = reader.Places(document)
    assert set(found) == pointers(document.value)
    assert len(found) == len(pointers(document.value))
    for pointer, position in found.items():
        value = paths.resolve(document.value, pointer)
        text = slice_of(content, position)
        is_plain = position.line == position.end_line and not text.startswith(("*", "|", ">"))
        if is_plain and not isinstance(value, dict | list):
            assert only(f"[{text}]" if document.is_json else f"- {text}").value == [value]
        if position.key is not None and position.key.line == position.key.end_line:
            key = slice_of(content, position.key)
            assert only(f"{{{key}: 1}}" if document.is_json else f"{key}: 1").value == {paths.split(pointer)[-1]: 1}


@given(documents, st.sampled_from([{}, {"default_flow_style": True}, {"default_style": '"'}, {"indent": 4}]))
def test_every_value_that_pyyaml_writes_is_found(value: Any, style: dict[str, Any]) -> None:
    content = "# first\n---\n" + yaml.safe_dump([value], allow_unicode=True, width=10**6, **style)
    assert_all_found(content, only(content))


@given(documents, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_every_json_value_is_found(value: Any, indent: int | str | None, ascii_only: bool) -> None:
    content = "\n" + json.dumps([value], indent=indent, ensure_ascii=ascii_only)
    assert_all_found(content, only(content))


@pytest.mark.costly
@pytest.mark.parametrize("corpus", shared_files.thorough_corpora)
def test_every_value_of_the_manifests_of_a_corpus_is_found(corpus: Corpus) -> None:
    every = 1 if corpus is OWN else 5
    for path in sorted(corpus.folder.rglob("*.yaml"))[::every]:
        content = path.read_text(encoding="utf-8")
        try:
            found = reader.parse(content, source=path.name)
        except errors.ManifestError:
            continue
        for document in found:
            assert_all_found(content, document)
