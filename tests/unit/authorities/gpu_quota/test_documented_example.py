"""docs/quota.md: the example in numbers is what happens."""

import re
from pathlib import Path
from typing import Any, Final

import yaml

import builders
from unit.authorities.gpu_quota.charged import charge
from usher import paths
from usher.authorities.gpu_quota import charge as gpu_quota_charge
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import ledger
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Granted, Ledger, Refused
from usher.quantities import NANO

PAGE: Final = (Path(__file__).parents[4] / "docs" / "quota.md").read_text()
BLOCKS: Final = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)]


def quota() -> Quota:
    found = gpu_quota_definitions.of_object(BLOCKS[0])
    assert isinstance(found, Quota)
    return found


def training(workers: int) -> paths.Object:
    template = builders.template(builders.container(gpus=8))
    return builders.pytorch_job(template, workers=workers, namespace="research-nlp", name="llm")


def gang(pods: int) -> paths.Object:
    template = builders.template(builders.container(gpus=8))
    return builders.job_set(
        builders.replicated_job("workers", template, parallelism=pods), namespace="research-nlp", name="gang"
    )


NOTEBOOKS: Final = builders.deployment(
    builders.template(builders.container(limits={"nvidia.com/mig-1g.10gb": 1})),
    replicas=6,
    namespace="research-nlp",
    name="notebooks",
)
EVALUATION: Final = builders.job(
    builders.template(builders.container(gpus=8), priorityClassName="research-high"),
    namespace="research-nlp",
    name="evaluation",
)


def entry(value: paths.Object) -> Entry:
    group, _, _ = str(value["apiVersion"]).rpartition("/")
    metadata: Any = value["metadata"]
    return Entry(
        group=group,
        kind=str(value["kind"]),
        namespace=metadata["namespace"],
        name=metadata["name"],
        amounts=charge(value, assumption=quota().assumption).amounts,
        reserved_until=1798000000,
    )


def rows() -> list[tuple[str, str]]:
    """The used amounts of all and of research-high, row by row."""
    table = PAGE.partition("## An example in numbers")[2].partition("\n## ")[0]
    cells = [[cell.strip() for cell in line.split("|")] for line in table.splitlines() if line.startswith("|")]
    return [(row[3], row[4]) for row in cells[2:]]


def row(found: Ledger) -> tuple[str, str]:
    of_all, of_high = ledger.used_of(found, quota().limits)
    numbers = (gpu_quota_definitions.number(of_all[unit]) for unit in ("gpus", "slices", "profiles.1g.10gb"))
    return " / ".join(numbers), gpu_quota_definitions.number(of_high["gpus"])


def granted(found: Ledger, value: paths.Object) -> Ledger:
    outcome = ledger.charge(found, entry(value), quota().limits)
    assert isinstance(outcome, Granted)
    return outcome.ledger


def message(found: Ledger, value: paths.Object) -> str:
    outcome = ledger.charge(found, entry(value), quota().limits)
    assert isinstance(outcome, Refused)
    (excess,) = outcome.excesses
    asks = f"asks for {gpu_quota_definitions.text(excess.unit, excess.asks)}; {quota()}"
    free, hard, used = (gpu_quota_definitions.number(each) for each in (excess.free, excess.hard, excess.used))
    return (
        f"{asks} can never give more than {hard}" if excess.never else f"{asks} has {free} of {hard} free ({used} used)"
    )


def settled(found: Ledger, value: paths.Object) -> Ledger:
    each = entry(value)
    return ledger.settle(found, each.key, ledger.relevant_amounts(each.amounts, quota().limits))


def test_the_example_is_what_happens() -> None:
    first = granted(ledger.EMPTY, training(2))
    seen = settled(first, training(2))
    notebooks = settled(granted(seen, NOTEBOOKS), NOTEBOOKS)
    evaluation = settled(granted(notebooks, EVALUATION), EVALUATION)
    grown = granted(evaluation, training(3))
    asked_to_shrink = granted(grown, training(1))
    shrunk = settled(asked_to_shrink, training(1))
    deleted = ledger.release(shrunk, entry(training(1)).key)
    steps = [first, seen, notebooks, evaluation, evaluation, evaluation, grown, asked_to_shrink, shrunk, deleted]

    assert list(map(row, steps)) == rows()
    assert message(evaluation, gang(2)) in PAGE
    assert message(evaluation, gang(5)) in PAGE


def test_the_status_is_what_a_quota_of_these_workloads_holds() -> None:
    found = settled(settled(granted(granted(ledger.EMPTY, NOTEBOOKS), EVALUATION), EVALUATION), NOTEBOOKS)

    assert gpu_quota_status.encode(granted(found, training(2)), quota().limits) == BLOCKS[1]["status"]


def test_what_a_gpu_and_a_slice_are_is_what_the_page_says() -> None:
    found = gpu_quota_charge.amounts_of_classes(entry(training(1)).amounts, ())

    assert found == {"gpus": 8 * NANO, "slices": 56 * NANO, "memoryGiB": 640 * NANO}
