"""`parse` refuses faulty documents quickly, and says where the fault is."""

import json
import tracemalloc
from pathlib import Path

import pytest

from generated_examples import in_turn
from unit.documents import kubectl
from usher import errors
from usher.documents import chunks, composing, reader

Fault = tuple[str | bytes, int, int, str]

# What kubectl refuses too: content, line and column (from 1) of the fault, and part of the reason.
REFUSED_BY_KUBECTL: dict[str, Fault] = {
    "a tab as indentation": ("kind: X\na:\n\tb: 1\n", 3, 1, "a tab where YAML wants spaces; indent with spaces"),
    "a tab after a value": ("kind: X\na: b\n\tc: 1\n", 3, 1, "a tab where YAML wants spaces"),
    "a tab after a dash": ("kind: X\na:\n-\tb\n", 3, 2, "a tab where YAML wants spaces"),
    "an at sign": ("kind: X\na: @b\n", 2, 4, "a value cannot start with @; quote it"),
    "a backtick": ("kind: X\na: `b`\n", 2, 4, "a value cannot start with `; quote it"),
    "a colon in a value": ("kind: X\na: b: c\n", 2, 5, "quote the value if its colon belongs to it"),
    "indentation that fits nothing": ("kind: X\na:\n    b: 1\n  c: 2\n", 4, 3, "check the indentation"),
    "a list that loses its dash": ("kind: X\na:\n  - b: 1\n   c: 2\n", 4, 4, "the - is missing"),
    "a list on the line of its key": ("kind: X\na: - b\n", 2, 4, "move the - to the next line"),
    "an open quote": ('kind: X\na: "b\nc: d\n', 2, 4, "the quote that opens here is never closed"),
    "a quote over a separator": ("kind: X\na: 'b\n---\nc'\n", 2, 4, "the quote that opens here is never closed"),
    "text after a quote": ("kind: X\na: 'b' c\n", 2, 8, "check the indentation and the quotes"),
    "an open bracket": ("kind: X\na: [b, c\nd: e\n", 3, 2, "misses a , or its ]"),
    "an open brace": ("kind: X\na: {b: 1\nc: 2\n", 3, 2, "misses a , or its }"),
    "a comma too many": ("kind: X\na: [b,,c]\n", 2, 7, "a value is missing here"),
    "an unknown escape": ('kind: X\na: "\\d"\n', 2, 5, "no such escape in double quotes"),
    "a surrogate escape in YAML": ('kind: X\na: "\\ud83d"\n', 2, 7, "the escape names no character"),
    "a glob": ("kind: X\na: *.example.com\n", 2, 4, "quote the value if text is meant"),
    "an undefined alias": ("kind: X\na: *b\n", 2, 4, "no &b stands before this alias; define it"),
    "an alias of another document": ("kind: X\na: &b 1\n---\nkind: X\na: *b\n", 5, 4, "no &b stands before this alias"),
    "an alias of itself": ("kind: X\na: &b [*b]\n", 2, 8, "the value of &b contains itself"),
    "a merge of text": ("kind: X\n<<: a\n", 2, 5, "<< takes a mapping or a list of mappings"),
    "a merge of nothing": ("kind: X\n<<:\n", 2, 4, "<< takes a mapping"),
    "a merge of an aliased list": ("kind: X\na: &a [{b: 1}]\n<<: *a\n", 3, 5, "<< takes a mapping"),
    "a merge of a list of texts": ("kind: X\n<<: [a]\n", 2, 7, "<< takes a mapping"),
    "a list as a key": ("kind: X\n? [a]\n: b\n", 2, 3, "a key is a list or a mapping"),
    "an alias of a list as a key": ("kind: X\na: &a [b]\n*a : c\n", 3, 1, "a key is a list or a mapping"),
    "null as a key": ("kind: X\n~: 1\n", 2, 1, "a key is null; quote it"),
    "a large number as a key": ("kind: X\n9223372036854775808: 1\n", 2, 1, "a number beyond 64 bits; quote it"),
    "infinity": ("kind: X\na: -.inf\n", 2, 4, "'-.inf' is a number that JSON does not have; quote it"),
    "no number": ("kind: X\na: [.nan]\n", 2, 5, "'.nan' is a number that JSON does not have"),
    "a wrong int": ("kind: X\na: !!int 1.0\n", 2, 4, "'1.0' is not a !!int"),
    "a wrong bool": ("kind: X\na: !!bool 1\n", 2, 4, "'1' is not a !!bool"),
    "a wrong null": ("kind: X\na: !!null a\n", 2, 4, "'a' is not a !!null"),
    "a wrong float": ("kind: X\na: !!float 18446744073709551615\n", 2, 4, "is not a !!float"),
    "a wrong binary": ("kind: X\na: !!binary a\n", 2, 4, "not base64"),
    "a NUL": ("kind: X\na: é\0\n", 2, 5, "the control character U+0000 is not allowed"),
    "a bell": (b"kind: X\na: b\x07\n", 2, 5, "the control character U+0007 is not allowed"),
    "a delete": ("kind: X\na: 'é\x7f'\n", 2, 6, "the control character U+007F is not allowed"),
    "content after a separator": ("kind: X\n--- {kind: X}\n", 2, 1, "nothing but a comment after ---"),
    "a directive": ("%YAML 1.1\n---\nkind: X\n", 2, 1, "kubectl takes no directives"),
    "two lists in a row": ("kind: X\n- a\n", 2, 1, "neither a key nor part of the value before it"),
    "a JSON number too large": ('{"kind": "X",\n "a": [1e400]}', 2, 8, "the number 1e400 is too large"),
    "JSON without a comma": ('{"kind": "X"\n "a": "\\ud83d\\ude00"}', 2, 2, "not JSON: Expecting ',' delimiter"),
    "JSON lines with a broken one": ('{"kind":"X"}\n{"kind":"X"}\n{"kind":}\n', 3, 9, "not JSON: Expecting value"),
    "a template": ("kind: X\na:\n  {{- toYaml .Values.a | nindent 2 }}\n", 3, 3, "looks like an unrendered template"),
}

# What kubectl lets pass, and what becomes of it there.
STRICTER_THAN_KUBECTL: dict[str, Fault] = {
    # One of the two is dropped.
    "a key twice": ("kind: X\na: 1\nb: 2\na: 3\n", 4, 1, "the key 'a' stands twice in one mapping, first on line 2"),
    "a key twice in a list": ("kind: X\na:\n- {b: 1, 'b': 2}\n", 3, 10, "the key 'b' stands twice"),
    "a key twice once it is text": ("kind: X\n1: a\n'1': b\n", 3, 1, "the key '1' stands twice"),
    "a key twice around a merge": ("kind: X\na: 1\n<<: {a: 2}\na: 3\n", 4, 1, "first on line 2; keep one"),
    "a key twice in JSON": ('{"kind": "X", "a": {"b": 1,\n  "b": 2}}', 2, 3, "the key 'b' stands twice"),
    "a key twice in JSON lines": ('{"kind":"X"}\n {"kind":"X","a":1,"a":1}', 2, 20, "the key 'a' stands twice"),
    # The number is rounded.
    "a number beyond 64 bits": ("kind: X\na: 12345678901234567890\n", 2, 4, "would be sent as 1.2345678901234567e+19"),
    "a hexadecimal beyond 63 bits": ("kind: X\na: 0xffffffffffffffff\n", 2, 4, "does not fit into 64 bits"),
    "a large number in JSON": ('{"kind": "X", "a": -9223372036854775809}', 1, 20, "does not fit into 64 bits"),
    # U+FFFD is put for what is no character.
    "half a surrogate pair in JSON": ('{"kind": "X",\n "a": "\\ud83d"}', 2, 7, "half a surrogate pair"),
    "the other half as a key": ('{"kind": "X", "\\ude00": 1}', 1, 15, "half a surrogate pair"),
    "binary that is no text": ("kind: X\na: !!binary /w==\n", 2, 4, "not UTF-8 text"),
    "no UTF-8": (b"kind: X\na: \xc3\xa9\xff\n", 2, 5, "byte 0xff is not UTF-8; save the file as UTF-8"),
    # The mark becomes part of the key.
    "a byte order mark inside": ("kind: X\n\ufeffa: 1\n", 2, 1, "a byte order mark inside the document"),
    # The tag is ignored.
    "a tag of Python": (
        "kind: X\na: !!python/object:os.system x\n",
        2,
        4,
        "the tag !!python/object:os.system has no mean",
    ),
    "a tag on a mapping": ("kind: X\na: !!set {b}\n", 2, 4, "the tag !!set does not belong on a list or mapping"),
    "a tag of one's own": ("kind: X\na: !vault b\n", 2, 4, "the tag !vault has no meaning"),
    "no tag": ("kind: X\na: ! 12\n", 2, 4, "the tag ! has no meaning"),
    # The second document is dropped.
    "a document without ---": ("kind: X\n...\nkind: X\n", 3, 1, "the document ends before this; put ---"),
    "a --- after a carriage return": ("kind: X\r---\rkind: X\n", 1, 9, "kubectl ends lines at line feeds only"),
}

REFUSED = {**REFUSED_BY_KUBECTL, **STRICTER_THAN_KUBECTL}


def refusal(content: str | bytes) -> errors.ManifestError:
    with pytest.raises(errors.ManifestError) as caught:
        reader.parse(content, source="test.yaml")
    return caught.value


@pytest.mark.parametrize(("content", "line", "column", "reason"), REFUSED.values(), ids=REFUSED)
def test_an_error_names_its_place(content: str | bytes, line: int, column: int, reason: str) -> None:
    error = refusal(content)
    assert reason in error.reason
    assert (error.source, error.line, error.column) == ("test.yaml", line, column)
    assert str(error) == f"test.yaml:{line}:{column}: {error.reason}"


@pytest.mark.parametrize("content", [fault[0] for fault in REFUSED.values()], ids=REFUSED)
def test_a_reason_is_one_line_with_a_remedy(content: str | bytes) -> None:
    reason = refusal(content).reason
    assert reason.isprintable()
    assert ";" in reason or ": render it first" in reason


@kubectl.needs_kubectl
@pytest.mark.parametrize("fault", in_turn(REFUSED_BY_KUBECTL.values(), every=6), ids=REFUSED_BY_KUBECTL)
def test_kubectl_refuses_it_too(fault: Fault, tmp_path: Path) -> None:
    with pytest.raises(kubectl.RefusedError):
        kubectl.sent_of(fault[0], tmp_path)


@kubectl.needs_kubectl
@pytest.mark.parametrize("fault", in_turn(STRICTER_THAN_KUBECTL.values(), every=6), ids=STRICTER_THAN_KUBECTL)
def test_kubectl_lets_it_pass(fault: Fault, tmp_path: Path) -> None:
    assert kubectl.sent_of(fault[0], tmp_path)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("{{- if .Values.gpu }}\nkind: X\n{{- end }}\n", 1),
        ("kind: X\na: {{ .Values.a }}\n", 2),
        ("kind: X\na: {{ .Values.a | quote }}\n", 2),
        ("kind: X\na: {{ .Values.a }}/b\n", 2),
        ("kind: X\nmetadata:\n  {{- include `labels` . | nindent 2 }}\nspec: {}\n", 3),
        ("kind: X\n---\n{{/*\n  a comment\n*/}}\nkind: Z\n", 3),
        ("{% if gpu %}\nkind: X\n{% endif %}\n", 1),
        ("kind: X\nspec:\n  replicas: 1\n{{ toYaml .Values.spec }}\n", 4),
    ],
)
def test_an_unrendered_template_is_called_one(content: str, line: int) -> None:
    error = refusal(content)
    assert error.reason == (
        f"looks like an unrendered template (line {line}): render it first, e.g. helm template | usher check -"
    )
    assert error.line == line


@pytest.mark.parametrize(
    "content",
    [
        "kind: X\na: '{{ inputs.a }}'\nb: @c\n",
        "kind: X\n# {{ a comment }}\nb: @c\n",
        "kind: X\na: |\n  {{ inputs.a }}\nb: @c\n",
    ],
)
def test_a_fault_elsewhere_is_not_put_down_to_a_template(content: str) -> None:
    assert "a value cannot start with @" in refusal(content).reason


def test_a_text_that_holds_templates_is_not_refused() -> None:
    (document,) = reader.parse("a: '{{ inputs.a }}'\nb: x{{ inputs.b }}\n", source="test.yaml")
    assert document.value == {"a": "{{ inputs.a }}", "b": "x{{ inputs.b }}"}


def test_half_a_character_in_a_text_is_refused() -> None:
    error = refusal("a: b\nc: \ud83d")
    assert (error.line, error.column) == (2, 4)
    assert error.reason.startswith("U+D83D is half a character")


def test_utf_16_is_called_by_its_name() -> None:
    assert refusal("kind: X\n".encode("utf-16")).reason == "the file is UTF-16; save it as UTF-8"


def test_nesting_is_refused_beyond_the_limit_only() -> None:
    depth = composing.MAX_DEPTH
    for deepest in ("[" * depth + "]" * depth, "- " * depth + "a\n"):
        assert len(reader.parse(deepest, source="test.yaml")) == 1
    too_deep = refusal("[" * 100_000 + "]" * 100_000)
    assert (too_deep.line, too_deep.column) == (1, depth + 1)
    assert too_deep.reason == f"nested deeper than {depth} levels; flatten it"
    for content in ('{"a":' * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000, "- " * 100_000, "a: " + "{b: " * depth):
        assert "nested deeper" in refusal(content).reason


def test_aliases_count_towards_the_nesting() -> None:
    content = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 1000))
    assert "nested deeper" in refusal(content).reason


def test_an_alias_bomb_is_refused() -> None:
    levels = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 18))
    assert "the aliases of this file stand for more than 4 MiB" in refusal("a0: &a0 [x]\n" + levels).reason


def test_a_bomb_of_merge_keys_is_refused() -> None:
    levels = "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 19))
    assert "the aliases of this file stand for more than 4 MiB" in refusal("a0: &a0 {k: v}\n" + levels).reason


def test_aliases_of_all_documents_count_together() -> None:
    document = "a: &a " + "x" * 100_000 + "\nb: [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n---\n"
    assert len(reader.parse(document * 4, source="test.yaml")) == 4
    assert refusal(document * 5).line > 4 * 3


@pytest.mark.costly
@pytest.mark.parametrize("content", ["a: b\n---\n", '{"a": "b"}\n', "---\n"])
def test_a_stream_of_a_million_documents_is_refused(content: str) -> None:
    assert refusal(content * 1_000_000).reason == "more than 100000 documents in one stream; split it"


@pytest.mark.costly
def test_documents_are_counted_over_yaml_and_json() -> None:
    content = '{"a": 1}\n' * (chunks.MAX_DOCUMENTS - 1) + "---\na: 1\n---\na: 1\n"
    error = refusal(content)
    assert (error.line, error.column) == (chunks.MAX_DOCUMENTS + 3, 1)


def test_a_large_list_is_refused_without_the_memory_of_its_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_DOCUMENT_BYTES", 20_000)
    items = [{"metadata": {"name": f"pod-{number}", "labels": {"app": f"a{number}"}}} for number in range(20_000)]
    content = json.dumps({"kind": "List", "items": items}, indent=1)

    tracemalloc.start()
    try:
        error = refusal(content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert error.reason.startswith("the document is larger than")
    # Copies of the text; its objects take several times as much.
    assert peak < 4 * len(content)


@pytest.mark.parametrize("content", ["a: 1\n---\nb: {}\n", '{{"a": 1}}\n{{"b": "{}"}}'])
def test_a_document_is_refused_beyond_its_limit(content: str) -> None:
    error = refusal(content.format("é" * (chunks.MAX_DOCUMENT_BYTES // 2)))
    assert error.reason.startswith("the document is larger than 8 MiB; split it: of a List in JSON, jq -c '.items[]' ")
    assert error.line == content.count("\n", 0, content.index("b")) + 1


@pytest.mark.parametrize("filler", [b"a", "a", "é"])
def test_a_file_is_refused_beyond_its_limit(filler: str | bytes) -> None:
    error = refusal(filler * (chunks.MAX_FILE_BYTES // len(filler.encode() if isinstance(filler, str) else filler) + 1))
    assert error.reason == "larger than 64 MiB; split the file"


def test_the_place_counts_characters_and_not_bytes() -> None:
    assert refusal("é: 😀\nß: 'ü': 1\n").column == 7
    assert refusal(json.dumps({"é": 1})[:-1] + ', "b": "\\ud800"}').column == len('{"\\u00e9": 1, "b": ') + 1


@pytest.mark.costly
def test_all_characters_are_refused_that_yaml_has_not() -> None:
    """YAML 1.2, c-printable."""
    taken = (range(0x20, 0x7F), range(0xA0, 0xD800), range(0xE000, 0xFFFE), range(0x10000, 0x110000))
    expected = {0x9, 0xA, 0xD, 0x85, *(each for part in taken for each in part)}

    assert {each for each in range(0x110000) if not chunks._FORBIDDEN.match(chr(each))} == expected
