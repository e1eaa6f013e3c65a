"""The reader of plainly written manifests reads what the exact reader reads, or nothing."""

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import generated_examples
import shared_files
from shared_files import Corpus
from usher import errors
from usher.documents import chunks, composing, plain, reader

every_corpus = pytest.mark.parametrize("corpus", shared_files.thorough_corpora)

REFUSED = "refused"

POD = """\
# The pod of an example.
apiVersion: v1
kind: Pod
metadata:
  name: train-1
  labels: {app: train, "tier": 'gpu'}
  annotations:
    "example.com/owner": "somebody"   # by hand
    purpose: it is: no
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: registry.example.com:5000/train@sha256:0000
    command: ["sh", '-c', "echo [a] {b}"]
    args:
    - --epochs=10
    - |
      set -e

        indented
      done
    env: []
    resources:
      limits: { nvidia.com/gpu: 8, cpu: 0.5, memory: 1e3 }
    securityContext: {}
  nodeSelector:
  volumes:
    - name: shm
      emptyDir:
        medium: Memory
      # the end
"""
PLAIN = POD.replace("    purpose: it is: no\n", "")

TRAPS = [
    "a: b\n  c: d",
    "a: b\n  c",
    "a:\n- b\nc: d",
    "a:\n - b\n- c",
    "a:\n- b\n c: d",
    "a: 1\na: 2",
    "{a: 1}",
    "- a",
    "a: [b, b: c]",
    "a: {b, c}",
    "a: {b: 1, b: 2}",
    "a: {b: }",
    "a: [1,]",
    "a: [ ]",
    "a: { }",
    "a: [b,c]",
    "a: {b:c}",
    "a: [yes, 010, 1_0, 0x1F, .5, ~, null]",
    "a: {y: 1}",
    "y: 1",
    "on: 1",
    "1: a",
    "a: 1:30",
    "a: 99999999999999999999",
    "a: 9223372036854775808",
    "a: .inf",
    "a: 1e400",
    "a: 2024-01-01",
    "a: #b",
    "a: b#c",
    "a: b #c",
    "a: 'b' 'c'",
    'a: "b"c',
    'a: "b\\n"',
    "a: 'it''s'",
    "a: |\n  b\n c: d",
    "a: |\n\n   b\n  c\n",
    "a: |\n  b\n\n\n",
    "a: |-\n  b\n   \n",
    "a: |\n  b\n # c\n  d",
    "a: |\nb: c",
    "a: |2\n  b",
    "a: >\n  b\n  c",
    "a:\n  - |\n   b\n  - c",
    "a:\n- |\n b\n- c",
    "a:\n- b: |\n  c\n",
    "a:\n- b: |\n   c\n",
    "a: &b c\nd: *b",
    "<<: {a: 1}",
    "a: !!str 1",
    "? a\n: b",
    "a: - b",
    "- - a",
    "a:\n-\n  b: c",
    "a:\n- b: c\n  d: e\n-  f: g\n   h: i",
    "a:\n- b:\n  - c\n  d: e",
    "a:\n- b:\n    - c\n  d: e",
    "a: b\n...\nc: d",
    "%YAML 1.1\na: b",
    "a:\tb",
    "\ta: b",
    "a: b\r\nc: d\r\n",
    "a: b\u2028c: d",
    "a: \ufeffb",
    "a: b \nc: d  # e",
    '"a": b',
    '"y": b',
    "'a': b",
    '"a" : b',
    "a : b",
    "a:",
    "a:\n",
    "",
    "# nothing",
    "a: {{ .Values.b }}",
    "a: [{{ b }}]",
    "a: *",
    "a: @b",
    "a: `b`",
    "a: =",
    "=: a",
    "a: ?b",
    "a: -",
    "a: --",
    "a: -b",
    "a: - ",
    "a: ,b",
    "a: ]",
    "a: b]",
    "a: b, c",
    "a: é\nb: 日本語",
    "ab/c.d_e-f: g",
    "a:\n" + "".join(f"{'  ' * depth}a:\n" for depth in range(1, 140)),
    "a: " + "[" * 30 + "]" * 30,
    "a" * 1100 + ": b",
    "a: b\n---",
]


def exact(text: str) -> Any:
    """The value and its line as the exact reader finds them; None for an empty text."""
    chunk = chunks.Chunk(source="a.yaml", text=text, line=1)
    try:
        found = composing.compose(chunk, yaml.CBaseLoader(text).get_event)
    except (errors.ManifestError, yaml.YAMLError):
        return REFUSED
    return None if found is None else (found.value, chunk.place(found.start)[0] - 1)


def agrees(text: str) -> bool:
    """Whether the plain reader reads a text; fails if it reads it differently."""
    text += "" if text.endswith("\n") else "\n"
    found = plain.read(text)
    if found is None:
        return False
    ours = None if found.value is None else (found.value, found.line)
    assert repr(ours) == repr(exact(text)), text
    return True


@pytest.mark.parametrize("text", TRAPS)
def test_of_a_trap_it_reads_what_the_exact_reader_reads_or_nothing(text: str) -> None:
    agrees(text)


def test_a_text_without_a_last_line_feed_is_left_to_the_exact_reader() -> None:
    assert plain.read("a: |\n  b") is None


def test_a_usual_manifest_is_read_by_it() -> None:
    assert agrees(PLAIN)


def test_one_doubtful_line_leaves_the_whole_document_to_the_exact_reader() -> None:
    assert plain.read(POD) is None
    with pytest.raises(errors.ManifestError, match=r"line 9|:9:"):
        reader.parse(POD, source="pod.yaml")


def test_lists_and_mappings_on_equal_lines_are_different_objects() -> None:
    found = plain.read("a: [b]\nc:\n  a: [b]\n")

    assert found is not None
    assert found.value is not None
    first, second = found.value["a"], found.value["c"]
    assert isinstance(second, dict)
    assert first == second["a"]
    assert first is not second["a"]


@every_corpus
def test_on_published_manifests_it_agrees_and_reads_most(corpus: Corpus) -> None:
    found = [agrees(chunk.text) for path in files(corpus) for chunk in documents(path)]

    assert sum(found) > len(found) * 0.8


def files(corpus: Corpus) -> list[Path]:
    return sorted(path for suffix in ("yaml", "yml") for path in corpus.folder.rglob(f"*.{suffix}"))


def documents(path: Path) -> list[chunks.Chunk]:
    try:
        return list(chunks.split_documents(chunks.whole_file(path.read_bytes(), source=str(path))))
    except errors.ManifestError:
        return []


PIECES = ["a", "b:", "c: d", "- ", "-", " ", "  ", "\n", "\n  ", "\n- ", "|", "|-", ">", "[", "]", "{", "}", ",", ", "]
PIECES += ["#", " #", "'", '"', "&a", "*a", "!!str", "1", "0x1", "yes", "~", ".", ": ", ":", "?", "%", "\t", "\\", "é"]


@settings(max_examples=generated_examples.up_to(3000))
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_it_agrees_on_any_text_of_yaml_marks(text: str) -> None:
    agrees(text)


@settings(max_examples=generated_examples.up_to(1500))
@given(st.integers(0, len(PLAIN) - 1), st.integers(0, 8), st.sampled_from(PIECES), st.randoms(use_true_random=False))
def test_it_agrees_on_changed_manifests(at: int, length: int, piece: str, chance: random.Random) -> None:
    changed = PLAIN[:at] + piece + PLAIN[at + length :]
    lines = changed.split("\n")
    number = chance.randrange(len(lines))
    lines[number] = " " * chance.randrange(4) + lines[number].lstrip(" ")
    agrees(changed)
    agrees("\n".join(lines))


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.text("ab :#-'\"[]{}|>é~1.\n", max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc/.-_ 1", min_size=1, max_size=6), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.costly
@settings(max_examples=generated_examples.up_to(1500))
@given(st.dictionaries(st.text("abcxyz", min_size=1, max_size=5), values, max_size=4), st.sampled_from([None, False]))
def test_it_agrees_on_what_others_write(value: Any, flow: bool | None) -> None:
    agrees(yaml.dump(value, default_flow_style=flow, allow_unicode=True))


FORMS = [
    ("name: train-1", "name: train-2"),
    ("name: train-1", "name: 7"),
    ("name: train-1", "name: ~"),
    ("name: train-1", "name:"),
    ("name: train-1", "name: |"),
    ("name: train-1", "name: [a, b]"),
    ("name: train-1", "title: train-1"),
    ("name: train-1", " name: train-1"),
    ("name: train-1", "# name: train-1"),
    ("labels: {app: train, \"tier\": 'gpu'}", "labels: {app: other}"),
    ("labels: {app: train, \"tier\": 'gpu'}", "labels: other"),
    ("- --epochs=10", "- --epochs=20"),
    ("- --epochs=10", "- |"),
    ("- --epochs=10", "--epochs=10"),
    ("      set -e", "      set: e"),
    ("      done", "      # done"),
    ("      done", "      done: 1"),
    ("      done", "    - done"),
    ("# The pod of an example.", "# Another."),
    ("# The pod of an example.", "the: pod"),
    ("      # the end", "      medium: Memory"),
    ("emptyDir:", "emptyDir: # none"),
    ("    - |", "    - |-"),
    ("limits: { nvidia.com/gpu: 8, cpu: 0.5, memory: 1e3 }", "limits: { nvidia.com/gpu: 12345678901234567890 }"),
]


@pytest.mark.parametrize(("before", "after"), FORMS)
def test_a_document_is_read_as_if_it_were_the_first_of_its_form(before: str, after: str) -> None:
    """The reader starts from the last document with as many lines, and may take only values from it."""
    changed = PLAIN.replace(before, after)
    assert changed != PLAIN
    plain._FORMS.clear()
    alone = plain.read(changed)

    for first in (PLAIN, changed):
        plain._FORMS.clear()
        plain.read(first)
        plain.read(first.replace("nvidia.com/gpu: 8", "nvidia.com/gpu: 4"))
        assert plain.read(changed) == alone
        again = plain.read(PLAIN)
        plain._FORMS.clear()
        assert again == plain.read(PLAIN)


def test_documents_of_one_form_share_no_value() -> None:
    first, *others = (plain.read(PLAIN.replace("train-1", f"train-{number}")) for number in range(4))

    for found in others:
        value: Any = None if found is None else found.value
        value["metadata"]["labels"]["app"] = "changed"
    assert first == plain.read(PLAIN.replace("train-1", "train-0"))


def test_a_document_of_the_same_form_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    plain._FORMS.clear()
    for number in range(2):
        plain.read(PLAIN.replace("train-1", f"train-{number}"))
    monkeypatch.setattr(plain, "_Document", None)

    found = plain.read(PLAIN.replace("train-1", "train-7"))

    value: Any = None if found is None else found.value
    assert value["metadata"]["name"] == "train-7"
