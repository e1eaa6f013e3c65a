"""usher.yaml from a file: every mistake is named with its line and its key."""

from pathlib import Path

import pytest

from usher import errors
from usher.cli import inputs
from usher.config.load import load

HEAD = "\napiVersion: gpu-usher.io/v1alpha1\nkind: Config\n"
EXAMPLE = Path(__file__).parents[3] / "examples" / "usher.yaml"


def refused(tmp_path: Path, text: str) -> list[tuple[int, str, str]]:
    file = tmp_path / "usher.yaml"
    # Behind it, so that the lines are those of the text.
    file.write_text(text + HEAD if text[0] not in "-{" else text)
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


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "null\n", "\n\n"])
def test_an_empty_file_is_refused_and_is_not_the_defaults(tmp_path: Path, text: str) -> None:
    """Half a write of a file, or a mistake of a tool that fills it in, would start to deny."""
    file = tmp_path / "usher.yaml"
    file.write_text(text)
    with pytest.raises(errors.ConfigError, match=r"the file is empty; begin it with apiVersion: .* and kind: Config"):
        load(file)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("{}", ["apiVersion", "kind"]),
        ("enforcement: {preset: observe}\n", ["apiVersion", "kind"]),
        ("kind: Config\npools: []\n", ["apiVersion"]),
        ("apiVersion: gpu-usher.io/v1alpha1\n", ["kind"]),
        ("kind: Config\npoools: []\n", ["apiVersion", "poools"]),
    ],
)
def test_a_file_that_does_not_say_what_it_is_is_refused(tmp_path: Path, text: str, missing: list[str]) -> None:
    file = tmp_path / "usher.yaml"
    file.write_text(text)
    with pytest.raises(errors.ConfigError) as caught:
        load(file)

    assert [key for _, key, _ in caught.value.problems] == missing
    assert "begin it with apiVersion: gpu-usher.io/v1alpha1 and kind: Config" in str(caught.value)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"
    file.write_text("apiVersion: v1\nkind: ConfigMap\n")
    with pytest.raises(errors.ConfigError, match=r"apiVersion: expected gpu-usher.io/v1alpha1, found 'v1'"):
        load(file)


RULE = "    - {check: gpu-requests-equal-limits, action: warn, namespaces: [team-%d-*]}\n"


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        ("enforcement:\n  rules:\n" + "".join(RULE % number for number in range(13_000)), "", "bytes"),
        ("enforcement:\n  rules:\n" + "".join(RULE % number for number in range(1001)), "enforcement.rules", "1001"),
        ("exemptNamespaces: [" + "a, " * 1000 + "a]\n", "exemptNamespaces", "1001 entries"),
        ("fabrics:\n" + "".join(f"  f{number}: {{}}\n" for number in range(1001)), "fabrics", "1001 entries"),
        (
            "enforcement:\n  rules:\n" + f"    - {{check: '*', action: warn, namespaces: [{'a, ' * 998}a]}}\n" * 21,
            "",
            "values, and usher reads at most 20000",
        ),
        (
            "pools:\n" + "".join(f"  - {{name: p{n}, nodeSelector: {{p: p{n}}}}}\n" for n in range(201)),
            "pools",
            "has 201 entries, and usher reads at most 200",
        ),
    ],
    ids=["1 MB of rules", "rules", "a list", "a mapping", "values", "pools"],
)
def test_a_file_that_would_slow_every_review_down_is_refused(tmp_path: Path, text: str, key: str, reason: str) -> None:
    (problem,) = refused(tmp_path, text)

    assert problem[1] == key
    assert reason in problem[2]
    assert "join" in problem[2] or key == "pools"


def test_a_thousand_rules_are_read(tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"
    file.write_text("enforcement:\n  rules:\n" + "".join(RULE % number for number in range(1000)) + HEAD)

    enforcement = load(file).enforcement

    assert len(enforcement.rules) == 1000
    assert enforcement.rules_in("team-7-a") == (enforcement.rules[7],)


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    problems = refused(
        tmp_path,
        "pools:\n  - name: h100\n    nodeSelector: {gpu: h100}\n    taintz: []\nenforcement:\n  preset: hard\n",
    )

    assert problems == [
        (4, "pools[0].taintz", "unknown key; did you mean taints?"),
        (6, "enforcement.preset", "expected observe, baseline, recommended or strict, found 'hard'"),
    ]


EIGHTEEN_MISTAKES = """\
pools:
  - name: H100
    nodeSelector: {gpu: h100}
    fabric: infinband
    for: {roles: [trainer], minAcceleratorsPerPod: 8, maxAcceleratorsPerPod: 4}
    gpu: {perNode: 4, migStrategy: nothing}
  - name: a100
    nodeSelector: {gpu: a100}
    fabric: rails
    scalesFromZero: true
    maxNodes: 0
    colour: green
  - name: a100
    nodeSelector: {gpu: 1}
fabrics:
  rails: {base: carrier-pigeons}
queues:
  - localQueue: a
    roles: [Training]
    minAccelerators: 8
    maxAccelerators: 4
audit:
  prices:
    rules:
      - {product: "A 100", perGpuHour: 1, perNodeHour: 8}
lifecycle:
  - namespaces: [A]
    terminationGracePeriod: 10s
    preStop: {signal: KILL, command: [a], wait: 5s}
"""


def test_a_wrong_field_hides_no_contradiction_between_the_others(tmp_path: Path) -> None:
    """One round: fields, contradictions between fields, and names that do not exist."""
    problems = refused(tmp_path, EIGHTEEN_MISTAKES)

    assert sorted((line, key) for line, key, _ in problems) == [
        (2, "pools[0].name"),
        (4, "pools[0].fabric"),
        (5, "pools[0].for"),
        (5, "pools[0].for.roles[0]"),
        (6, "pools[0].gpu.migStrategy"),
        (7, "pools[1]"),
        (7, "pools[1].name"),
        (12, "pools[1].colour"),
        (13, "pools[2].name"),
        (14, "pools[2].nodeSelector.gpu"),
        (16, "fabrics.rails.base"),
        (18, "queues[0]"),
        (19, "queues[0].roles[0]"),
        (25, "audit.prices.rules[0]"),
        (25, "audit.prices.rules[0].product"),
        (27, "lifecycle[0]"),
        (27, "lifecycle[0].namespaces[0]"),
        (29, "lifecycle[0].preStop.signal"),
    ]


def test_a_misspelt_key_is_not_also_missed(tmp_path: Path) -> None:
    problems = refused(tmp_path, "roles: [{namespaces: [a], rolle: training}]\n")

    assert [key for _, key, _ in problems] == ["roles[0].rolle"]


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
        ("quotas: [{name: a, namespaces: [a], limits: []}]", "must not be empty"),
        ("gangs: []", "expected a mapping of keys to values, found a list"),
        ('enforcement: {preset: "\\e[31m"}', "expected observe, baseline, recommended or strict, found '\\x1b[31m'"),
        (
            "pools: [{name: a, nodeSelector: {a: b}, labels: {a: b}}]",
            "unknown key; did you mean nodeSelector?",
        ),
        (
            "quotas: [{name: a, namespaces: [a], limits: [{hard: {gpus: 1}, quokka: 1}]}]",
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
        "    - {check: gpus-per-workloads, action: deny}\n" + HEAD
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
    assert refused(tmp_path, "pools: []\n---\npools: []\n") == [(3, "", "expected one document, found several")]


def test_the_error_names_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(errors.ConfigError, match=r"nowhere\.yaml: cannot be read: No such file"):
        load(tmp_path / "nowhere.yaml")
