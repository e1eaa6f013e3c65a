"""An audit as metrics: promtool accepts them, their number is bounded, and what was not measured has no series."""

import io
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from builders import audit_documents as audits
from usher.audit.document import Audit, Group, GroupTable, Measurement, Prevented, Summary
from usher.audit.reports import data_tables

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def written(audit: Audit) -> str:
    stream = io.StringIO()
    data_tables.write_metrics(audit, stream)
    return stream.getvalue()


def series(audit: Audit) -> Series:
    families = text_string_to_metric_families(written(audit))
    return {
        (sample.name.removeprefix("gpu_usher_audit_"), frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def value(found: Series, name: str, **labels: str) -> float | None:
    return found.get((name, frozenset({"cluster": "prod-eu", **labels}.items())))


FULL: Final = series(audits.full())


def test_the_headline_numbers_are_in_base_units() -> None:
    assert value(FULL, "gpus", state="allocated") == 8
    assert value(FULL, "gpu_seconds", state="idle") == 900.25 * 3600
    assert value(FULL, "activity_ratio") == 0.200385
    assert value(FULL, "cost", currency="USD", part="idle") == 2250.625
    assert value(FULL, "window_seconds") == 7 * 24 * 3600
    assert value(FULL, "complete") == 0


@pytest.mark.parametrize(
    ("measurement", "expected"),
    [
        ({"source": "prometheus"}, 1.0),
        ({"source": "prometheus", "failures": ("it cannot be reached",)}, 0.0),
        ({"source": "none"}, None),
    ],
    ids=["measured", "failed", "not asked for"],
)
def test_an_alert_can_tell_usage_that_failed_from_usage_that_was_not_asked_for(
    measurement: dict[str, Any], expected: float | None
) -> None:
    audit = audits.full().model_copy(update={"measurement": Measurement(**measurement)})

    assert value(series(audit), "usage_measured") == expected


def test_groups_have_a_series_each() -> None:
    assert value(FULL, "group_gpu_seconds", by="team", group="nlp", state="allocated") == 1344 * 3600
    assert value(FULL, "group_gpus", by="team", group="(unassigned)") == 0


def test_other_accelerators_have_series_by_resource() -> None:
    assert value(FULL, "accelerators", resource="google.com/tpu", state="capacity") == 12
    assert value(FULL, "accelerators", resource="google.com/tpu", state="waiting") == 8
    # No node says how many of these there are.
    assert value(FULL, "accelerators", resource="volcano.sh/vgpu-number", state="capacity") is None


def test_what_rules_would_have_prevented_has_series_by_rule() -> None:
    assert value(FULL, "prevented_workloads", rule="USH301") == 2
    # The row of the same rule that only warns is no part of it.
    assert value(FULL, "prevented_workloads", rule="USH502") == 1
    assert value(FULL, "prevented_gpu_seconds", rule="USH502", state="idle") == 900.25 * 3600
    assert value(FULL, "prevented_gpu_seconds", rule="USH502", state="stuck") == 208.5 * 3600
    assert value(FULL, "prevented_cost", rule="USH502", currency="USD") == 2250.625
    assert value(FULL, "prevented_gpu_seconds", rule="USH301", state="idle") is None
    assert value(FULL, "prevented_cost", rule="USH301", currency="USD") is None


def test_rules_beyond_the_bound_have_no_series() -> None:
    rows = tuple(Prevented(code=f"OWN{number}", title="own check", workloads=1) for number in range(60))
    found = [name for name, _ in series(audits.audit(prevented=rows)) if name == "prevented_workloads"]

    assert len(found) == 50


def test_a_number_that_was_not_measured_has_no_series() -> None:
    found = series(audits.audit(summary=Summary(gpus=16, idle=0.0)))

    assert value(found, "gpu_seconds", state="idle") == 0
    assert value(found, "gpu_seconds", state="used") is None
    assert value(found, "window_seconds") is None
    assert value(found, "gpus", state="free") is None


def test_groups_beyond_the_bound_are_one_group_with_their_sum() -> None:
    rows = tuple(Group(name=f"team-{number}", workloads=1, usage=audits.USED) for number in range(1000))
    found = series(audits.audit(usage=(GroupTable(by="team", rows=rows),)))

    assert value(found, "group_gpus", by="team", group="(others)") == 950 * 8
    assert len(found) < 500


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool (Debian package prometheus)")
def test_promtool_accepts_the_metrics(tmp_path: Path) -> None:
    (tmp_path / "audit.prom").write_text(written(audits.full()))

    with (tmp_path / "audit.prom").open() as metrics:
        done = subprocess.run(
            ["promtool", "check", "metrics"], stdin=metrics, capture_output=True, text=True, check=False
        )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@given(text=st.text(max_size=200) | st.sampled_from(['"}\ngpu_usher_audit_gpus 1', "\\", "\ud800", "a" * 100_000]))
def test_no_name_becomes_a_series_of_its_own(text: str) -> None:
    group = Group(name=text, workloads=1, usage=audits.USED)
    found = series(audits.audit(usage=(GroupTable(by="team", rows=(group,)),)))

    assert len(found) == len(
        series(audits.audit(usage=(GroupTable(by="team", rows=(group.model_copy(update={"name": "a"}),)),)))
    )
