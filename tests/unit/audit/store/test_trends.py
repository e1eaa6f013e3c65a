"""A fleet beside earlier ones: what changed, and which clusters came and went."""

from pathlib import Path

import pytest

from builders import fleets
from unit.audit.store import written
from usher.audit.document.fleet_document import Fleet

pytestmark = pytest.mark.costly

OLDER = "2026-11-16T06:00:00Z"


def week_before(folder: Path) -> Fleet:
    for seed in (1, 2):
        written.part(folder, fleets.cluster(seed, workloads=20, taken=OLDER), cluster_id=f"id-{seed}")
    return written.merged(folder)


def test_the_first_fleet_has_one_point(tmp_path: Path) -> None:
    trend = week_before(tmp_path).trend

    assert trend.previous == ""
    assert [each.taken for each in trend.points] == [OLDER]
    assert trend.clusters_new == ()


def test_clusters_are_known_again_by_their_ids(tmp_path: Path) -> None:
    before = week_before(tmp_path / "before")
    for seed in (2, 3):
        written.part(tmp_path / "now", fleets.cluster(seed, name=f"renamed-{seed}"), cluster_id=f"id-{seed}")

    now = written.merged(tmp_path / "now", earlier=[before])

    assert now.trend.previous == OLDER
    assert now.trend.clusters_new == ("renamed-3",)
    assert now.trend.clusters_gone == ("cluster-1",)
    old = {each.id: each.findings for each in before.clusters}
    assert {each.id: each.findings_before for each in now.clusters} == {"id-2": old["id-2"], "id-3": None}
    assert {each.code: each.before for each in now.findings} == {each.code: each.findings for each in before.findings}


def test_points_of_several_documents_are_in_order_and_once(tmp_path: Path) -> None:
    before = week_before(tmp_path / "before")
    written.part(tmp_path / "now", fleets.cluster(1))
    now = written.merged(tmp_path / "now", earlier=[before])

    again = written.merged(tmp_path / "now", earlier=[before, now])

    assert [each.taken for each in again.trend.points] == [OLDER, fleets.TAKEN]
    assert again.trend.points[0].idle == before.summary.usage.idle


def test_a_document_is_read_as_it_is_written(tmp_path: Path) -> None:
    fleet = week_before(tmp_path)

    assert Fleet.model_validate_json(fleet.model_dump_json(by_alias=True)) == fleet
