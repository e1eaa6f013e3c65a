"""Numbers, names and hostile texts as people see them."""

from decimal import Decimal

import pytest

from usher import model
from usher.check import devices as scan_devices
from usher.check import findings
from usher.check.formats import wording

GPU = "nvidia.com/gpu"
MIG = "nvidia.com/mig-1g.10gb"


def amount(number: int, *, unbounded: bool = False) -> scan_devices.Amount:
    return scan_devices.Amount(number=number, unbounded=unbounded)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain name", "plain name"),
        ("größe-模型", "größe-模型"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("one\ntwo\r\tthree", "one\\ntwo\\r\\tthree"),
        ("safe\u202eexe.lmay", "safe\\u202eexe.lmay"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\x9b31m", "\\x9b31m"),
        ("half \ud800", "half \\ud800"),
        ("[red]markup[/red]", "[red]markup[/red]"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_instead(text: str, shown: str) -> None:
    assert wording.printable(text) == shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("  41:35  error", "  41:35  error"),
        ("::error file=a::b", "| ::error file=a::b"),
        ("   ::stop-commands::x", "|    ::stop-commands::x"),
        ("a ::debug:: b", "a ::debug:: b"),
        ("x ##vso[task.setvariable]y", "x # #vso[task.setvariable]y"),
        ("x ##[error]y", "x # #[error]y"),
        ("## heading", "## heading"),
    ],
)
def test_lines_that_a_ci_system_would_run_as_commands_are_made_harmless(line: str, shown: str) -> None:
    assert wording.harmless(line) == shown


@pytest.mark.parametrize(
    ("devices", "shown"),
    [
        ({}, "0 GPUs"),
        ({GPU: amount(1)}, "1 GPU"),
        ({GPU: amount(1, unbounded=True)}, "1+ GPUs"),
        ({GPU: amount(1200), "amd.com/gpu": amount(34)}, "1,234 GPUs"),
        ({MIG: amount(4)}, f"4 {MIG}"),
        ({"google.com/tpu": amount(0), GPU: amount(8), MIG: amount(2, unbounded=True)}, f"8 GPUs, 2+ {MIG}"),
        ({GPU: scan_devices.Amount(number=3, extra=1)}, "2 to 3 GPUs"),
        ({"gpu-fraction": scan_devices.Amount(number=Decimal("1.50"))}, "1.5 GPUs in parts (gpu-fraction)"),
        ({"gpu-fraction": scan_devices.Amount(number=Decimal("2.000"))}, "2 GPUs in parts (gpu-fraction)"),
        ({"gpu-memory": amount(20000)}, "20,000 MiB of GPU memory (gpu-memory)"),
        ({"shares of nvidia.com/gpu": amount(4096)}, "4,096 shares of nvidia.com/gpu"),
        ({"evil\x1b[2J": amount(3)}, "3 evil\\x1b[2J"),
    ],
)
def test_accelerators_are_named_gpus_first(devices: scan_devices.Devices, shown: str) -> None:
    assert wording.devices(devices) == shown


@pytest.mark.parametrize(
    ("number", "thing", "shown"),
    [
        (1, "Topology", "1 Topology"),
        (2, "Topology", "2 Topologies"),
        (3, "PriorityClass", "3 PriorityClasses"),
        (1200, "key", "1,200 keys"),
    ],
)
def test_kinds_have_their_plural(number: int, thing: str, shown: str) -> None:
    assert wording.count(number, thing) == shown


@pytest.mark.parametrize(
    ("minimum", "maximum", "shown"),
    [(1, 1, "1 pod"), (8, 8, "8 pods"), (2, 8, "2 to 8 pods"), (0, None, "0 or more pods")],
)
def test_pods_are_counted_as_far_as_is_known(minimum: int, maximum: int | None, shown: str) -> None:
    assert wording.pods(model.Count(minimum=minimum, maximum=maximum)) == shown


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [
        ((0, 0, 0), "no errors, no warnings"),
        ((0, 2, 0), "no errors, 2 warnings"),
        ((1, 1, 3), "1 error (in workloads of 8 GPUs), 1 warning, 3 notes"),
    ],
)
def test_findings_are_counted_by_what_follows_from_them(numbers: tuple[int, int, int], shown: str) -> None:
    errors, warnings, notes = numbers
    totals = findings.Totals(
        accelerators={},
        accelerators_with_errors={GPU: amount(8)} if errors else {},
        errors=errors,
        warnings=warnings,
        notes=notes,
    )

    assert wording.finding_counts(totals) == shown


def test_parts_of_a_sentence_are_joined_as_people_do() -> None:
    assert wording.sentence(["a"]) == "a"
    assert wording.sentence(["a", "b", "c"]) == "a, b and c"


def test_a_range_of_pods_says_why() -> None:
    rollout = model.Count(minimum=2, maximum=3, reason="1 more during a rollout")

    assert wording.pods_with_reason(rollout) == "2 to 3 pods: 1 more during a rollout"
    assert wording.pods_with_reason(model.Count(minimum=2, maximum=2)) == "2 pods"


def test_device_files_are_not_called_accelerators() -> None:
    files = {"devices.gke.io/container": scan_devices.Amount(number=16)}

    assert wording.devices(files) == "16 device files in annotations of GKE"
