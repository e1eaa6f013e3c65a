"""An audit of some of the pods of a cluster does not know what the others leave free."""

from pathlib import Path

from builders.existing import running
from integration.test_audit_dumps import audit, cluster, list_of, numbers, write


def test_the_gpus_of_other_namespaces_are_not_free(tmp_path: Path) -> None:
    """A namespace does not know what pods of others leave."""
    other = running("b", 3, node="gpu-0", namespace="other")
    file = write(tmp_path / "dump.json", *cluster(), other)

    whole, part = audit(file), audit(file, "--in-namespace", "ml-research")

    assert (numbers(whole)["gpusAllocated"], numbers(whole)["gpusFree"]) == (7, 1)
    assert numbers(part) == {**numbers(whole), "gpus": None, "gpusAsked": 6, "gpusAllocated": 4, "gpusFree": None,
                             "workloads": 1, "findings": part["summary"]["findings"]}  # fmt: skip
    assert part["cluster"]["nodes"] is None
    assert part["readiness"] == []
    assert {each["subject"]["namespace"] for each in part["findings"]} <= {"ml-research"}


def test_a_list_of_pods_that_was_cut_leaves_no_gpu_free(tmp_path: Path) -> None:
    write(tmp_path / "dump.json", list_of(*cluster(), **{"continue": "ey"}))

    found = audit(tmp_path)

    assert (numbers(found)["gpusAllocated"], numbers(found)["gpusFree"]) == (4, None)
