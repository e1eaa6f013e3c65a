"""docs/roles-and-pools.md shows what usher does with the files of examples/roles-and-pools.

After an intended change, `USHER_UPDATE_GOLDEN=1 pytest` of this file writes what the commands print into the page.
"""

import os
import re
from pathlib import Path

import pytest
import yaml

from integration.command import usher
from usher.config import models
from usher.config.load import load

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/roles-and-pools.md"
FOLDER = ROOT / "examples/roles-and-pools"

_COMMAND = re.compile(r"```\n\$ usher ([^\n]+)\n(.*?)```", re.DOTALL)
_YAML = re.compile(r"```yaml\n(.*?)```", re.DOTALL)


def commands() -> list[str]:
    return [found[1] for found in _COMMAND.finditer(PAGE.read_text())]


@pytest.mark.parametrize("command", commands())
def test_a_command_prints_what_the_page_shows(command: str) -> None:
    done = usher(*command.split(), cwd=FOLDER)
    text = PAGE.read_text()
    (shown,) = (found for found in _COMMAND.finditer(text) if found[1] == command)
    if os.environ.get("USHER_UPDATE_GOLDEN"):
        PAGE.write_text(text[: shown.start(2)] + done.out + text[shown.end(2) :])
        shown = next(found for found in _COMMAND.finditer(PAGE.read_text()) if found[1] == command)

    assert (done.code, shown[2]) == (0, done.out)


def test_every_configuration_of_the_page_is_good() -> None:
    for found in _YAML.finditer(PAGE.read_text()):
        models.Config.model_validate(yaml.safe_load(found[1]))


def test_the_pool_of_the_page_is_the_one_of_the_example() -> None:
    shown = [yaml.safe_load(found[1]) for found in _YAML.finditer(PAGE.read_text())]
    (pool,) = (models.Config.model_validate(each).pools[0] for each in shown if "pools" in each)

    assert pool == load(FOLDER / "usher.yaml").pools[0]


def test_the_example_places_training_and_inference_apart() -> None:
    mutated = {name: usher("check", "--diff", f"{name}.yaml", cwd=FOLDER).out for name in ("training", "serving")}

    added = "\n".join(line.removeprefix("+").strip() for line in mutated["training"].splitlines())
    assert "key: dedicated\noperator: Equal\nvalue: training\neffect: NoSchedule" in added
    assert "key: example.com/pool\noperator: In\nvalues:\n- training" in added
    assert "key: NCCL_SOCKET_IFNAME" not in added
    assert "name: NCCL_SOCKET_IFNAME" in added
    assert "dedicated" not in mutated["serving"]
    assert "NCCL" not in mutated["serving"]
