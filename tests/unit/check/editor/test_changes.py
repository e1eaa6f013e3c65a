"""The changes that an editor offers: whose they are, and the edit that makes the new text of the old one."""

from collections.abc import Collection

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import builders
import editors
from usher.check.batches import Batch
from usher.check.editor import documents, session
from usher.check.editor.documents import Encoding, Point, Range, Text
from usher.check.editor.session import Cancelled, Session
from usher.policy.evaluator import Evaluator

GRINNING = "\U0001f600"
UNEQUAL = builders.pod(builders.container(requests={builders.GPU: 1}, limits={builders.GPU: 2}))
KEY = "resources/gpu_requests_equal_limits"
EVERYWHERE = Range(Point(0, 0), Point(99, 0))

contents = st.text(alphabet=st.sampled_from(f"ab:\n\r {GRINNING}"), max_size=30)


class Writer:
    """Writes the request of a Pod as the limit, where that is wanted, and marks what a mutation would add."""

    def __init__(self) -> None:
        self.asked = list[frozenset[str]]()

    def __call__(
        self, batch: Batch, content: bytes, *, judge: documents.Judge, evaluator: Evaluator, keys: Collection[str]
    ) -> bytes:
        self.asked.append(frozenset(keys))
        report = judge([batch])
        assert report.results[0].change is None or report.results[0].change.before
        assert evaluator.catalogue.checks
        if not keys or KEY in keys:
            content = content.replace(b"requests:\n        nvidia.com/gpu: 1", b"requests:\n        nvidia.com/gpu: 2")
        mutates = not keys or not keys & editors.CATALOGUE.checks.keys()
        return content + b"# added\n" if mutates else content


@pytest.fixture
def writer() -> Writer:
    return Writer()


@pytest.fixture
def asked(evaluator: Evaluator, writer: Writer) -> Session:
    return editors.session(lambda: evaluator, write=writer)


def applied(text: Text, edit: documents.Edit) -> str:
    """The text after an edit, as a client makes it."""
    start, end = text.offset(edit.range.start), text.offset(edit.range.end)
    return text.content[:start] + edit.text + text.content[end:]


def test_a_finding_offers_its_remedy(asked: Session) -> None:
    opened = editors.document(editors.manifest(UNEQUAL))
    (found,) = asked.remedies(editors.analysed(asked, opened), EVERYWHERE, {}, check=editors.wanted)
    assert (found.title, found.rule) == ("USH103 gpu-requests-equal-limits: write the remedy", KEY)
    assert applied(opened.text, found.edit) == opened.text.content.replace("gpu: 1", "gpu: 2")
    assert found.edit.range.start.line == found.edit.range.end.line - 1


def test_a_place_without_a_finding_offers_no_remedy(asked: Session) -> None:
    analysis = editors.analysed(asked, editors.document(editors.manifest(UNEQUAL)))
    beginning = Range(Point(0, 0), Point(0, 3))
    assert list(asked.remedies(analysis, beginning, {}, check=editors.wanted)) == []


def test_a_document_offers_what_the_webhook_adds_and_all_changes(asked: Session, writer: Writer) -> None:
    opened = editors.document(editors.manifest(UNEQUAL))
    first, second = asked.whole_changes(opened, {}, check=editors.wanted)
    assert applied(opened.text, first.edit) == opened.text.content + "# added\n"
    assert applied(opened.text, second.edit) == opened.text.content.replace("gpu: 1", "gpu: 2") + "# added\n"
    assert all(editors.CATALOGUE.mutations[key].silent is False for key in writer.asked[0])
    assert writer.asked[1] == frozenset()


def test_a_light_bulb_at_each_move_of_the_cursor_writes_once(asked: Session, writer: Writer) -> None:
    analysis = editors.analysed(asked, editors.document(editors.manifest(UNEQUAL)))
    for _ in range(3):
        assert list(asked.remedies(analysis, EVERYWHERE, {}, check=editors.wanted))
    assert len(writer.asked) == 1


def test_usher_yaml_and_charts_offer_no_changes(asked: Session) -> None:
    opened = editors.document("apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n")
    assert list(asked.whole_changes(opened, {}, check=editors.wanted)) == []


def test_without_a_writer_no_changes_are_offered(evaluator: Evaluator) -> None:
    asked = editors.session(lambda: evaluator)
    opened = editors.document(editors.manifest(UNEQUAL))
    assert not asked.offers_changes
    assert list(asked.whole_changes(opened, {}, check=editors.wanted)) == []


def test_writing_stops_when_its_answer_is_not_wanted_any_more(asked: Session) -> None:
    def check() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        list(asked.whole_changes(editors.document(editors.manifest(UNEQUAL)), {}, check=check))


def test_an_unchanged_text_needs_no_edit() -> None:
    assert documents.edit_between(Text("a\nb\n"), "a\nb\n") is None


def test_an_edit_holds_only_the_lines_that_differ() -> None:
    edit = documents.edit_between(Text("a\nb\nc\nd\n"), "a\nx\ny\nc\nd\n")
    assert edit == documents.Edit(range=Range(Point(1, 0), Point(2, 0)), text="x\ny\n")


@given(contents, contents, st.sampled_from(Encoding))
@example("a\na\n", "a\na\na\n", Encoding.UTF_16)
@example("a\r\nb", "a\nb", Encoding.UTF_16)
def test_an_edit_makes_the_new_text_of_the_old_one(old: str, new: str, encoding: Encoding) -> None:
    text = Text(old, encoding=encoding)
    edit = documents.edit_between(text, new)
    assert (old if edit is None else applied(text, edit)) == new


def test_what_usher_fix_writes_is_offered(evaluator: Evaluator) -> None:
    asked = editors.session(lambda: evaluator, write=session.write_changes)
    content = "# ours\n" + editors.manifest(UNEQUAL)
    opened = editors.document(content)
    (remedy,) = asked.remedies(editors.analysed(asked, opened), EVERYWHERE, {}, check=editors.wanted)
    assert applied(opened.text, remedy.edit) == content.replace("gpu: 1", "gpu: 2")
    added, both = (applied(opened.text, each.edit) for each in asked.whole_changes(opened, {}, check=editors.wanted))
    assert content.splitlines()[0] == added.splitlines()[0]
    assert "tolerations:" in added
    assert "gpu: 1" in added
    assert "tolerations:" in both
    assert "gpu: 1" not in both
