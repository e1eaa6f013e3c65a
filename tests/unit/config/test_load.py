"""usher.yaml from a file: every mistake is named with its line and its key."""

from pathlib import Path

import pytest

from usher import errors
from usher.config import models
from usher.config.load import load

EXAMPLE = Path(__file__).parents[3] / "examples" / "usher.yaml"


def refused(tmp_path: Path, text: str) -> list[tuple[int, str, str]]:
    file = tmp_path / "usher.yaml"
    file.write_text(text)
    with pytest.raises(errors.ConfigError) as caught:
        load(file)
    assert str(caught.value).startswith(str(file))
    return caught.value.problems


def test_the_example_is_good_and_uses_every_section() -> None:
    config = load(EXAMPLE)

    assert config.pools
    assert config.fabrics
    assert config.queues
    assert config.routing


def test_an_empty_file_gives_the_defaults(tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"
    file.write_text("# nothing yet\n")

    assert load(file) == models.Config()


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    problems = refused(
        tmp_path,
        "pools:\n  - name: h100\n    nodeSelector: {gpu: h100}\n    taintz: []\nenforcement:\n  preset: hard\n",
    )

    assert problems == [
        (4, "pools[0].taintz", "unknown key"),
        (6, "enforcement.preset", "Input should be 'baseline', 'recommended' or 'strict'"),
    ]


def test_a_missing_key_is_named_at_the_nearest_place(tmp_path: Path) -> None:
    assert refused(tmp_path, "pools:\n  - name: h100\n") == [(2, "pools[0].nodeSelector", "Field required")]


def test_the_refusal_names_the_line_that_is_not_valid_yaml(tmp_path: Path) -> None:
    ((line, key, reason),) = refused(tmp_path, "pools:\n  - name: a\n    name: b\n")

    assert (line, key) == (3, "")
    assert "name" in reason


def test_facts_cannot_be_asked_to_be_newer_than_a_silent_watch_can_tell(tmp_path: Path) -> None:
    ((line, key, reason),) = refused(tmp_path, "facts:\n  staleAfter: 89s\n")

    assert (line, key) == (2, "facts.staleAfter")
    assert "at least 90s" in reason


def test_a_second_document_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, "kind: Config\n---\nkind: Config\n") == [(3, "", "expected one document, found several")]


def test_the_error_names_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(errors.ConfigError, match=r"nowhere\.yaml: cannot be read: No such file"):
        load(tmp_path / "nowhere.yaml")
