"""The line, and the part of it, that a finding points at."""

import io
import textwrap
from collections.abc import Iterator
from unittest.mock import Mock

import pytest

import shared_files
from shared_files import Corpus
from usher import paths
from usher.check import batches, findings, sources
from usher.check.batches import Item, Pointer
from usher.documents import reader

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    spec:
      containers:
        - name: main
          resources:
            limits: {nvidia.com/gpu: "4"}
          args: [a,
            b]
          command: |
            one
            two
"""


def item(text: str, *, number: int = 0) -> Item:
    (document,) = reader.parse(text, source="job.yaml")
    prefix, value = list(batches.flatten(document.value))[number]
    assert isinstance(value, dict)
    return Item(value=value, document=document, prefix=prefix)


def underlined(place: findings.Place | None) -> tuple[int, int, str]:
    assert place is not None
    excerpt = place.excerpt
    return place.line, place.column, excerpt.text[excerpt.column - 1 : excerpt.end_column - 1]


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu", (11, 38, '"4"')),
        ("/spec/template/spec/containers/0/resources/requests/nvidia.com~1gpu", (10, 11, "resources")),
        ("/spec/template/spec/containers/0/resources", (10, 11, "resources")),
        ("/spec/template/spec/containers/0", (9, 11, "name: main")),
        ("/spec/template/spec/containers/7", (8, 7, "containers")),
        ("/spec/template/spec/containers/0/args", (12, 11, "args")),
        ("/spec/template/spec/containers/0/command", (14, 11, "command")),
        ("/spec/template/spec/schedulerName", (7, 5, "spec")),
        ("/metadata/labels", (3, 1, "metadata")),
        ("/status", (2, 7, "Job")),
        ("", (2, 7, "Job")),
    ],
)
def test_a_finding_points_at_its_value_or_at_the_key_that_is_nearest(
    pointer: str, expected: tuple[int, int, str]
) -> None:
    assert underlined(Pointer(item(JOB)).place(pointer)) == expected


def test_places_inside_a_list_are_those_of_the_item() -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n- kind: ConfigMap\n  apiVersion: v1\n- " + textwrap.indent(
        JOB, "  "
    ).removeprefix("  ")
    pointer = Pointer(item(text, number=1))

    assert underlined(pointer.place("/spec/template/spec/schedulerName")) == (12, 7, "spec")
    assert underlined(pointer.place("/nowhere")) == (7, 9, "Job")


def test_an_item_without_a_kind_of_its_own_is_shown_by_its_first_line() -> None:
    text = "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n  spec: {}\n"

    assert underlined(Pointer(item(text)).place("/nowhere")) == (4, 3, "metadata: {name: a}")


def test_an_object_without_text_has_no_places() -> None:
    assert Pointer(Item(value={})).place("/spec") is None


def test_the_text_of_a_list_is_read_once_for_all_its_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    # The exact reader takes it, because its texts go on in the next line.
    one = textwrap.indent("apiVersion: v1\nkind:\n  Service\nmetadata: {name: a}\n", "    ").replace("    ", "  - ", 1)
    (document,) = reader.parse("apiVersion: v1\nkind: List\nitems:\n" + one * 3, source="list.yaml")
    items = [Item(value={}, document=document, prefix=prefix) for prefix, _ in batches.flatten(document.value)]
    trace = Mock(wraps=reader.trace)
    monkeypatch.setattr(reader, "trace", trace)

    lines = [place.line for each in items if (place := Pointer(each).place("/kind")) is not None]

    assert lines == [6, 10, 14]
    trace.assert_called_once_with(document)


def pointers(value: paths.Json, pointer: str = paths.ROOT) -> Iterator[str]:
    """The pointer to each part of a value, and to something missing in it."""
    yield pointer
    yield f"{pointer}/missing"
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from pointers(each, paths.join(pointer, key))


@pytest.mark.parametrize("corpus", shared_files.thorough_corpora)
def test_plainly_written_places_are_those_of_the_exact_reader(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    quick, number, share = 0, 0, 0.95 if corpus is shared_files.OWN else 0.5
    for batch in sources.read([str(corpus.folder)], stdin=io.BytesIO()):
        for each in batch.items:
            pointer, wanted = Pointer(each), list(pointers(each.value))
            found = [pointer.place(place) for place in wanted]
            document = each.document
            assert document is not None
            quick += sum(pointer._written(document, place) is not None for place in wanted)
            number += len(wanted)
            with monkeypatch.context() as patched:
                patched.setattr(Pointer, "_written", lambda *_: None)
                assert found == [pointer.place(place) for place in wanted]
    assert quick > number * share
