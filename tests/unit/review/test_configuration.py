"""A review of the ConfigMap with usher.yaml: what no server could load does not get in."""

import base64
from typing import Any

import pytest

from reviews import body
from unit.review.answering import answered
from usher import paths
from usher.config import load
from usher.policy.evaluator import Evaluator
from usher.review import webhooks

HEAD = "apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n"
GOOD = HEAD + "pools:\n  - {name: h100, nodeSelector: {gpu: h100}}\n"
BROKEN = HEAD + "poools: []\nenforcement:\n  preset: strictest\n  rules:\n    - {check: no-such-check, action: warn}\n"


def config_map(text: str | None, **fields: Any) -> paths.Object:
    data: dict[str, paths.Json] = {} if text is None else {"usher.yaml": text}
    metadata: paths.Json = {"name": "gpu-usher", "namespace": "gpu-usher"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data, **fields}


def judged(evaluator: Evaluator, value: paths.Object | None, **request: Any) -> Any:
    return answered(webhooks.judge_configuration(body(value, **request), evaluator))


def test_a_good_file_gets_in_without_a_message(evaluator: Evaluator) -> None:
    response = judged(evaluator, config_map(GOOD))

    assert response["allowed"]
    assert "warnings" not in response


def test_a_broken_file_is_denied_with_all_mistakes_and_their_lines(evaluator: Evaluator) -> None:
    """The denial has the mistakes that the schema finds, and those that only the policies know."""
    status = judged(evaluator, config_map(BROKEN))["status"]

    assert (status["code"], status["reason"]) == (422, "Invalid")
    first, *mistakes = status["message"].splitlines()
    assert first == "no server could start with this usher.yaml; the last good one stays in use. Correct it:"
    assert [mistake.split(": ")[:2] for mistake in mistakes] == [
        ["  usher.yaml:3", "poools"],
        ["  usher.yaml:5", "enforcement.preset"],
        ["  usher.yaml:7", "enforcement.rules[0].check"],
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEAD + "enforcement:\n  rules:\n    - {check: no-such-check, action: warn}\n", "usher.yaml:5: enforcement"),
        ("pools: [", "usher.yaml:"),
        (GOOD + "---\n" + GOOD, "expected one document"),
        (None, "data has no key usher.yaml"),
    ],
    ids=["meaning", "syntax", "two documents", "no file"],
)
def test_every_way_to_break_it_is_denied(evaluator: Evaluator, text: str | None, reason: str) -> None:
    assert reason in judged(evaluator, config_map(text))["status"]["message"]


@pytest.mark.parametrize("text", ["", "# nothing yet", "enforcement: {preset: observe}"])
def test_a_file_that_does_not_say_what_it_is_is_denied(evaluator: Evaluator, text: str) -> None:
    message = judged(evaluator, config_map(text))["status"]["message"]

    assert "begin it with apiVersion: gpu-usher.io/v1alpha1 and kind: Config" in message


def test_bytes_are_read_as_a_pod_would_see_them(evaluator: Evaluator) -> None:
    def of(text: str) -> paths.Object:
        return config_map(None, binaryData={"usher.yaml": base64.b64encode(text.encode()).decode()})

    assert judged(evaluator, of(GOOD))["allowed"]
    assert not judged(evaluator, of(BROKEN))["allowed"]
    assert not judged(evaluator, config_map(None, binaryData={"usher.yaml": "not base64!"}))["allowed"]


def test_a_change_beside_the_file_is_allowed_even_if_the_file_is_broken(evaluator: Evaluator) -> None:
    labels: paths.Json = {"team": "platform"}
    metadata: paths.Json = {"name": "gpu-usher", "labels": labels}
    labelled: paths.Object = {**config_map(BROKEN), "metadata": metadata}

    assert judged(evaluator, labelled, operation="UPDATE", old_value=config_map(BROKEN))["allowed"]
    assert not judged(evaluator, config_map(BROKEN), operation="UPDATE", old_value=config_map(GOOD))["allowed"]
    assert judged(evaluator, None, operation="DELETE", old_value=config_map(GOOD))["allowed"]


def test_a_likely_mistake_is_a_warning(evaluator: Evaluator) -> None:
    exempt = HEAD + "queues:\n  - {localQueue: a, namespaces: [kube-system]}\n"

    response = judged(evaluator, config_map(exempt))

    assert response["allowed"]
    assert response["warnings"]


def test_hundreds_of_mistakes_make_an_answer_of_a_bounded_size(evaluator: Evaluator) -> None:
    text = HEAD + "".join(f"wrong\x1bkey{number}: 1\n".replace("\x1b", "-") for number in range(900))

    message = judged(evaluator, config_map(text))["status"]["message"]

    assert len(message.encode()) <= 8 * 1024
    assert " more" in message.splitlines()[-1]


def test_a_file_too_large_to_read_in_time_is_denied(evaluator: Evaluator) -> None:
    message = judged(evaluator, config_map(GOOD + "#" * load.MOST_BYTES))["status"]["message"]

    assert "usher reads at most 262144" in message


def test_lists_whose_entries_take_too_long_to_compare_are_denied(evaluator: Evaluator) -> None:
    """The API server waits three seconds, and then lets the file in."""
    queues = "".join(f"  - {{localQueue: q{n}, namespaces: [team-{n}]}}\n" for n in range(501))
    quotas = "".join(
        f"  - {{name: q{n}, namespaces: [a{n}, b{n}], limits: [{{hard: {{gpus: 1}}}}]}}\n" for n in range(251)
    )

    message = judged(evaluator, config_map(f"{HEAD}queues:\n{queues}quotas:\n{quotas}"))["status"]["message"]

    assert "queues: names 501 namespaces, and usher compares at most 500; join them by patterns (team-*)" in message
    assert "quotas: names 502 namespaces" in message


@pytest.mark.parametrize("hostile", ["\x1b[31mred: 1", "a: &a [*a]", "? {}\n: 1", "\ud800"], ids=repr)
def test_hostile_text_is_an_answer_of_printable_lines(evaluator: Evaluator, hostile: str) -> None:
    value = config_map(
        None, binaryData={"usher.yaml": base64.b64encode(hostile.encode(errors="surrogatepass")).decode()}
    )

    message = judged(evaluator, value)["status"]["message"]

    assert all(line.isprintable() for line in message.splitlines())
