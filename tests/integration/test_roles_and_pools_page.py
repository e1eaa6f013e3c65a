"""docs/roles-and-pools.md is about the files of examples/roles-and-pools."""

import re
from pathlib import Path

import yaml

from integration.command import usher
from usher.config import models
from usher.config.load import load

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/roles-and-pools.md"
FOLDER = ROOT / "examples/roles-and-pools"

_YAML = re.compile(r"```yaml\n(.*?)```", re.DOTALL)


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
