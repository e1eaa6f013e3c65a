"""The document of `usher check --format json`."""

from decimal import Decimal
from typing import Any

import pytest

import builders
from integration import command
from unit.check.formats import made
from usher.check.devices import Amount
from usher.check.formats import json_report

GPU = builders.GPU


def accelerators(amount: Amount) -> Any:
    found = json_report.document(made.made(made.result(accelerators={GPU: amount})))
    return found["workloads"][0]["accelerators"][GPU]


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (Amount(number=8), {"number": 8, "unbounded": False}),
        (Amount(number=3, extra=1), {"number": 3, "least": 2, "unbounded": False}),
        (Amount(number=3, extra=3), {"number": 3, "least": 0, "unbounded": False}),
        (Amount(number=Decimal("1.5"), extra=Decimal("0.5")), {"number": 1.5, "least": 1, "unbounded": False}),
        (Amount(number=4, unbounded=True), {"number": 4, "unbounded": True}),
        (Amount(number=7, extra=1, unbounded=True), {"number": 7, "least": 6, "unbounded": True}),
    ],
)
def test_the_least_is_there_where_it_differs_from_the_most(amount: Amount, expected: Any) -> None:
    assert accelerators(amount) == expected


def test_check_and_audit_say_the_same_of_a_rollout(tmp_path: Any) -> None:
    deployment = builders.deployment(builders.template(builders.container(gpus=1)), name="serve", replicas=4)
    file = command.write(tmp_path / "serve.yaml", deployment)

    checked = command.usher("check", file, "--allow-unknown", "--format", "json").json
    audited = command.usher("audit", file, "--format", "json").json

    amount = checked["workloads"][0]["accelerators"][GPU]
    (workload,) = audited["workloads"]
    assert (amount["least"], amount["number"]) == (workload["gpusLeast"], workload["gpus"])
    assert (checked["summary"]["gpus"]["least"], checked["summary"]["gpus"]["number"]) == (4, 5)
