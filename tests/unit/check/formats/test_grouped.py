"""An audit of a large cluster still fits on a page."""

import io

from msgspec.structs import replace

from unit.check.formats import made
from usher.check import devices as scan_devices
from usher.check import findings
from usher.check.formats import text


def rendered(*results: findings.Result) -> list[str]:
    stream = io.StringIO()
    text.write(made.made(*results, command=findings.Command.AUDIT), stream, width=100)
    return stream.getvalue().splitlines()


def gpus(number: int) -> scan_devices.Devices:
    return {made.GPU: scan_devices.Amount(number=number)}


def test_one_mistake_in_a_thousand_workloads_is_reported_once() -> None:
    lines = rendered(*(made.result(made.finding(at=None), name=f"job-{number}") for number in range(1000)))

    assert len([line for line in lines if "nvidia.com/gpu requests 8, limits 4" in line]) == 1
    assert "              and 990 more workloads; --format json lists all" in lines
    assert len(lines) < 60


def test_a_thousand_different_messages_of_one_check_are_cut_too() -> None:
    lines = rendered(*(made.result(made.finding(f"requests {number}", at=None)) for number in range(1000)))

    assert "  and 990 more messages; --format json lists all" in lines
    assert len(lines) < 80


def test_where_most_gpus_hang_on_a_mistake_comes_first() -> None:
    lines = rendered(
        made.result(made.finding("small", at=None), name="a", accelerators=gpus(8)),
        made.result(made.finding("large", at=None), name="b", accelerators=gpus(512)),
        made.result(made.finding("large", at=None), name="c", accelerators=gpus(1024)),
    )

    assert [line.strip() for line in lines if line.strip() in ("small", "large")] == ["large", "small"]
    assert [line.split()[3].rstrip(",") for line in lines if "GPUs  PyTorchJob" in line] == [
        "ml-research/c",
        "ml-research/b",
        "ml-research/a",
    ]


def test_a_workload_with_two_findings_of_a_check_is_counted_once() -> None:
    lines = rendered(made.result(made.finding("one", at=None), made.finding("two", at=None), accelerators=gpus(8)))

    assert "error  USH103 gpu-requests-equal-limits  1 workload, 8 GPUs" in lines


def test_checks_of_one_outcome_come_in_the_order_of_their_numbers() -> None:
    lines = rendered(made.result(*(made.finding(code=code, at=None) for code in ("USH1220", "USH330", "USH9"))))

    paragraphs = [line.split()[1] for line in lines if line.startswith("error  USH")]
    assert paragraphs == ["USH9", "USH330", "USH1220"]
    assert [line.split()[0] for line in lines if line.startswith("  USH")] == paragraphs


def test_an_object_that_makes_no_pods_is_counted_as_an_object_without_devices() -> None:
    namespace = replace(
        made.result(made.finding(at=None, path=""), accelerators={}),
        identity=findings.Identity(api_version="v1", kind="Namespace", namespace="team", name="team"),
        makes_pods=False,
    )

    lines = rendered(namespace)

    assert "error  USH103 gpu-requests-equal-limits  1 object" in lines
    assert " " * 14 + "Namespace team" in lines
    mixed = rendered(namespace, made.result(made.finding(at=None), accelerators=gpus(8)))
    assert "error  USH103 gpu-requests-equal-limits  2 objects, 8 GPUs" in mixed


def test_unjudged_parts_are_grouped_by_reason() -> None:
    strange = made.not_judged("unrecognised kind Trainer", path="/spec")

    lines = rendered(*(made.result(unknowns=[strange], name=f"job-{number}") for number in range(30)))

    start = lines.index("unknown  unrecognised kind Trainer")
    assert lines[start + 1].strip() == "PyTorchJob ml-research/job-0, jobs/bert.yaml:1"
    assert lines[start + 11].strip() == "and 20 more workloads; --format json lists all"
