"""The mistakes in usher.yaml, completion of its keys and values, and what its keys mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import editors
from usher.check.editor import completion, session
from usher.check.editor.completion import Hover
from usher.check.editor.documents import Severity, Text
from usher.config.models import Config

HEAD = "apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n"
CURSOR = "|"


def problems(content: str) -> list[tuple[str, str]]:
    """The underlined text and the message of each problem."""
    opened = editors.document(HEAD + content)
    found = session.config_diagnostics(opened.text, editors.CATALOGUE)
    return [(editors.underlined(each, opened), each.message) for each in found]


def offered(content: str) -> dict[str, completion.Completion]:
    text = Text(content.replace(CURSOR, "", 1))
    point = text.point(content.index(CURSOR))
    return {each.label: each for each in completion.completions(text, point, editors.CATALOGUE)}


def explained(content: str) -> Hover | None:
    text = Text(content.replace(CURSOR, "", 1))
    return completion.hover_of_key(text, text.point(content.index(CURSOR)))


def test_a_good_file_has_no_problems() -> None:
    assert problems("enforcement:\n  preset: strict\n") == []
    assert session.config_diagnostics(Text(""), editors.CATALOGUE) == []


def test_all_mistakes_are_shown_at_their_places() -> None:
    found = problems("enforcement:\n  preset: strickt\nenforcment: {}\n")
    assert [text for text, _ in found] == ["strickt", "enforcment"]
    assert "strict" in found[0][1]
    assert "enforcement" in found[1][1]


def test_an_unknown_key_is_underlined_and_not_its_value() -> None:
    assert [text for text, _ in problems("facts:\n  staleAfterr: 90s\n")] == ["staleAfterr"]


def test_a_mistake_of_meaning_is_shown_beside_one_of_form() -> None:
    found = problems("enforcement:\n  preset: 7\n  rules:\n  - {check: gpu-requests-equal-limit, action: deny}\n")
    assert [text for text, _ in found] == ["7", "gpu-requests-equal-limit"]


def test_a_missing_key_is_shown_at_its_mapping() -> None:
    ((text, message),) = problems("pools:\n- name: a100\n")
    assert text == "name: a100"
    assert message == "pools[0].nodeSelector: this key is required"


def test_a_likely_mistake_is_a_warning() -> None:
    opened = editors.document(HEAD + "lifecycle:\n- {namespaces: [kube-system], ttlAfterFinished: 1h}\n")
    (found,) = session.config_diagnostics(opened.text, editors.CATALOGUE)
    assert found.severity is Severity.WARNING
    assert editors.underlined(found, opened) == "kube-system"


def test_broken_yaml_is_one_problem_at_its_place() -> None:
    content = HEAD + "enforcement:\n  preset: [strict\n"
    (found,) = session.config_diagnostics(Text(content), editors.CATALOGUE)
    assert found.severity is Severity.ERROR
    assert found.range.start.line >= 3


def test_a_second_document_is_named() -> None:
    ((text, message),) = problems("---\nkind: Pod\n")
    assert text == "kind: Pod"
    assert "one document" in message


def test_a_place_behind_a_character_beyond_the_basic_plane_is_exact() -> None:
    ((text, _),) = problems('enforcement: {"\U0001f600": 1}\n')
    assert text == '"\U0001f600"'


def test_keys_are_offered_with_their_meaning_and_without_those_that_stand_there() -> None:
    found = offered("enforcement:\n  preset: strict\n  |\n")
    assert set(found) == {"rules", "exceptions", "suppressions"}
    assert found["rules"].description == "The last rule that matches a finding decides."
    assert found["rules"].text == "rules:"


def test_all_keys_of_the_top_are_offered_in_an_empty_file() -> None:
    fields = {field.alias or name for name, field in Config.model_fields.items()}
    assert set(offered("|")) == fields


def test_a_required_key_says_so() -> None:
    assert offered("pools:\n- name: a\n  |\n")["nodeSelector"].detail == "required"


def test_the_values_of_an_enumeration_are_offered() -> None:
    assert list(offered("enforcement:\n  preset: |\n")) == ["observe", "baseline", "recommended", "strict"]
    assert list(offered("pools:\n- scalesFromZero: |\n")) == ["true", "false"]
    assert "training" in offered("mutations:\n  rules:\n  - roles: [inference, |]\n")


def test_a_completion_replaces_the_part_of_the_word_before_the_cursor() -> None:
    found = offered("enforcement:\n  preset: str|\n")["strict"]
    assert (found.range.start.column, found.range.end.column) == (10, 13)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("enforcement:\n  rules:\n  - check: |\n", "gpu-requests-equal-limits"),
        ("enforcement:\n  rules:\n  - check: |\n", "queueing"),
        ("enforcement:\n  exceptions:\n  - checks: [|]\n", "gpu-requests-equal-limits"),
        ("enforcement:\n  exceptions:\n  - checks:\n    - |\n", "gpu-requests-equal-limits"),
        ("mutations:\n  rules:\n  - mutation: |\n", "gpu-toleration"),
        ("pools:\n- fabric: |\n", "infiniband"),
    ],
)
def test_checks_mutations_and_fabrics_are_offered_by_name(content: str, word: str) -> None:
    found = offered(content)
    assert word in found
    assert found[word].description


def test_a_star_is_written_in_quotes() -> None:
    assert offered("enforcement:\n  rules:\n  - check: |\n")["*"].text == '"*"'


def test_the_site_chooses_the_keys_of_some_mappings() -> None:
    assert offered("fabrics:\n  |\n") == {}
    assert "base" in offered("fabrics:\n  ours:\n    |\n")


def test_nothing_is_offered_where_the_file_has_no_place() -> None:
    assert offered("unknown:\n  deeper:\n    |\n") == {}
    assert offered("# |\n") == {}


def test_a_hover_on_a_key_shows_its_meaning_values_and_default() -> None:
    found = explained("enforcement:\n  pre|set: strict\n")
    assert found is not None
    assert found.title == "preset"
    assert found.paragraphs[1:] == ("One of: observe, baseline, recommended, strict.", 'Default: "recommended".')


def test_a_hover_on_an_unknown_key_shows_nothing() -> None:
    assert explained("unkn|own: 1\n") is None
    assert explained("|\n") is None


def test_every_key_of_the_schema_has_a_meaning() -> None:
    missing = [keys for keys, field in every() if not field.description]
    assert missing == []


def every(keys: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], completion.Field]]:
    """All keys below a place that the schema names, without those of items of lists."""
    found = []
    for name, field in completion.fields_below(keys).items():
        found += [((*keys, name), field), *every((*keys, name))]
    return found


@given(st.text(alphabet=st.sampled_from("apiVersion: gpu-usher/v1{}[]-\n\"'&*!\U0001f600\ud800"), max_size=80))
def test_any_text_has_an_answer(content: str) -> None:
    text = Text(content)
    for each in session.config_diagnostics(text, editors.CATALOGUE):
        assert each.message
    completion.completions(text, text.point(len(content)), editors.CATALOGUE)
