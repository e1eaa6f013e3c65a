"""The definition of GPUQuota has the limits and patterns of the code that reads its objects."""

from typing import Any

import yaml

from usher.authorities.gpu_quota import entries, ledger
from usher.authorities.gpu_quota.definitions import GROUP, KIND, VERSION
from usher.cli.manifests import QUOTA_DEFINITION
from usher.config import pools

SPEC: Any = yaml.safe_load(QUOTA_DEFINITION.read_text())["spec"]
SCHEMA: Any = SPEC["versions"][0]["schema"]["openAPIV3Schema"]["properties"]


def test_it_defines_the_kind_that_the_code_reads() -> None:
    assert (SPEC["group"], SPEC["names"]["kind"], SPEC["versions"][0]["name"]) == (GROUP, KIND, VERSION)


def test_a_limit_takes_the_units_and_amounts_of_the_code() -> None:
    limits = SCHEMA["spec"]["properties"]["limits"]
    hard = limits["items"]["properties"]["hard"]
    (rule,) = hard["x-kubernetes-validations"]

    assert limits["maxItems"] == pools.MOST_LIMITS
    assert hard["maxProperties"] == pools.MOST_UNITS
    assert hard["additionalProperties"]["pattern"] == pools.AMOUNT_PATTERN
    assert hard["additionalProperties"]["maximum"] == pools.MOST
    assert pools.UNIT_PATTERN.replace("\\", "\\\\") in rule["rule"]


def test_the_status_holds_as_many_entries_and_parts_as_the_code_writes() -> None:
    status = SCHEMA["status"]["properties"]
    charged = status["used"]["items"]

    assert status["charges"]["maxItems"] == status["removed"]["maxItems"] == ledger.MOST_ENTRIES
    assert status["parts"]["maxItems"] == entries.MOST_PARTS
    assert status["used"]["maxItems"] == pools.MOST_LIMITS
    assert charged["maxProperties"] == pools.MOST_UNITS
    assert status["charges"]["items"]["properties"]["amounts"] == status["sums"]["properties"]["amounts"] == charged
