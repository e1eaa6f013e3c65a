"""Everyday warnings: the rule on the page about operations silences one check, in some namespaces, at the webhooks."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from builders import container, pod
from reviews import body
from server_process import ServerProcess, running
from usher import paths

pytestmark = pytest.mark.process

PAGE = Path(__file__).parents[2] / "docs/operations.md"


def rule_of_the_page() -> paths.Object:
    part = PAGE.read_text(encoding="utf-8").partition("### Silence a warning\n")[2]
    (example,) = re.findall(r"```yaml\n(.*?)```", part.partition("\n## ")[0], re.DOTALL)
    found: paths.Object = yaml.safe_load(example)
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running(tmp_path_factory.mktemp("silenced"), config=rule_of_the_page()) as server:
        yield server


def answer(server: ServerProcess, namespace: str) -> Any:
    return server.review("validate", body(pod(container(gpus=1), namespace=namespace), uid=namespace))


def test_other_namespaces_are_warned(server: ServerProcess) -> None:
    assert any("USH301" in warning for warning in answer(server, "research")["warnings"])


def test_a_silenced_check_gives_no_warning_and_stays_in_the_decision_log(server: ServerProcess) -> None:
    warnings = answer(server, "ml-research").get("warnings", [])

    assert not any("USH301" in warning for warning in warnings)
    assert server.decision("ml-research")["findings"]["gpu-toleration-present"] == "audit"
