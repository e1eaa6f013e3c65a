"""usher.yaml from a file: every mistake is named with its line and its key."""

from pathlib import Path

import pytest

from usher import errors
from usher.cli import inputs
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
        (4, "pools[0].taintz", "unknown key; did you mean taints?"),
        (6, "enforcement.preset", "expected observe, baseline, recommended or strict, found 'hard'"),
    ]


def test_a_missing_key_is_named_at_the_nearest_place(tmp_path: Path) -> None:
    assert refused(tmp_path, "pools:\n  - name: h100\n") == [(2, "pools[0].nodeSelector", "this key is required")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("pools: [{name: a, nodeSelector: {a: b}, gpus: {perNode: 8}}]", "unknown key; did you mean gpu?"),
        (
            "pools: [{name: a, nodeSelector: {a: b}, gpu: {pernode: 8, perNode: 8}}]",
            "unknown key; did you mean perNode?",
        ),
        ("fabrics: {ib: {envs: {A: b}}}", "unknown key; did you mean env?"),
        ("queue: []", "unknown key; did you mean queues?"),
        ("enforcement: {preset: recomended}", "did you mean recommended?"),
        ("queues: [{localQueue: a, roles: [Training]}]", "did you mean training?"),
        ("pools: [{name: a, nodeSelector: {a: b}, fabric: infiniban}]", "did you mean infiniband?"),
        ("quokka: []", "unknown key"),
    ],
)
def test_a_misspelt_word_gets_the_nearest_known_word(tmp_path: Path, text: str, reason: str) -> None:
    ((_, _, found),) = refused(tmp_path, text)

    assert found.endswith(reason) or f"{reason};" in found or reason in found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("exemptNamespaces: kube-system", "expected a list, as in [one, other], found 'kube-system'"),
        ("pools: [{name: a, nodeSelector: {a: 1}}]", "expected a text; put a number, true or false in quotes, found 1"),
        ("pools: {a: {}}", "expected a list, as in [one, other], found a mapping"),
        ("facts: {staleAfter: 5 minutes}", "expected a number with s, m or h, as in 90s or 5m, found '5 minutes'"),
        ("quotas: [{name: a, limits: []}]", "must not be empty"),
        ("gangs: []", "expected a mapping of keys to values, found a list"),
        ('enforcement: {preset: "\\e[31m"}', "expected observe, baseline, recommended or strict, found '\\x1b[31m'"),
        (
            "pools: [{name: a, nodeSelector: {a: b}, labels: {a: b}}]",
            "unknown key; did you mean nodeSelector?",
        ),
        (
            "quotas: [{name: a, limits: [{hard: {gpus: 1}, quokka: 1}]}]",
            "unknown key; this section has hard, priorityClasses",
        ),
    ],
)
def test_a_mistake_is_said_in_the_words_of_its_writer(tmp_path: Path, text: str, reason: str) -> None:
    ((_, _, found),) = refused(tmp_path, text)

    assert found == reason


def test_a_long_value_is_shown_in_part(tmp_path: Path) -> None:
    ((_, _, found),) = refused(tmp_path, f"queues: [{{localQueue: {'Q' * 5000}}}]")

    assert len(found) < 200


def test_a_file_that_holds_a_list_is_refused_without_a_key(tmp_path: Path) -> None:
    assert refused(tmp_path, "- pools\n") == [(1, "", "expected a mapping of keys to values, found a list")]


def test_mistakes_of_meaning_are_named_beside_others(tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"
    file.write_text(
        "queues:\n"
        "  - localQueue: Research\n"
        "  - localQueue: research\n"
        "    kinds: [PyTorchJobs]\n"
        "enforcement:\n"
        "  rules:\n"
        "    - {check: gpus-per-workload, action: refuse}\n"
        "    - {check: gpus-per-workloads, action: deny}\n"
    )
    with pytest.raises(errors.ConfigError) as caught:
        inputs.load_config(file)

    assert [(line, key) for line, key, _ in caught.value.problems] == [
        (2, "queues[0].localQueue"),
        (4, "queues[1].kinds[0]"),
        (7, "enforcement.rules[0].action"),
        (8, "enforcement.rules[1].check"),
    ]


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
