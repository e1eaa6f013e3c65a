"""`usher explain`: one rule, or every rule for one file."""

from pathlib import Path

import builders
from integration.command import BAD_EXAMPLE, EXAMPLES, manifest, usher
from integration.command import config as write_config
from usher.audit.standing.situation import ENTRIES


def test_a_code_and_a_name_give_the_same_page() -> None:
    by_code, by_name = usher("explain", "USH1301"), usher("explain", "gpus-per-workload")

    assert by_code.out == by_name.out
    assert "One typing error in a replica count can take every GPU of the cluster." in by_code.out
    assert "  maximum  512" in by_code.out


def test_a_finding_of_audits_has_a_page_by_code_and_by_name() -> None:
    by_code, by_name = usher("explain", "usa001"), usher("explain", "never-runs")

    assert by_code.code == 0
    assert by_code.out == by_name.out
    assert "A workload waits that can never run\n" in by_code.out
    assert "Remedy: " in by_code.out


def test_each_finding_of_audits_is_explained_as_json() -> None:
    for entry in ENTRIES:
        done = usher("explain", entry.code, "--format", "json")

        assert (done.json["code"], done.json["why"], done.json["remedy"]) == (entry.code, entry.why, entry.remedy)


def test_a_misspelt_code_of_audits_leads_to_the_nearest() -> None:
    assert "did you mean USA034?" in usher("explain", "USA0345").err


def test_a_file_is_explained_by_every_rule() -> None:
    done = usher("explain", BAD_EXAMPLE, "--all")

    assert done.code == 0
    assert "PyTorchJob research-nlp/bert-pretraining" in done.out
    for heading in (
        "  found as written, before the mutations below\n",
        "  mutations that apply\n",
        "  passed\n",
        "  left out\n",
    ):
        assert heading in done.out
    assert "deny: container pytorch of Worker requests 8 of nvidia.com/gpu, but limits it to 4" in done.out


def test_a_file_is_explained_on_one_screen() -> None:
    done = usher("explain", BAD_EXAMPLE)

    assert len(done.out.splitlines()) <= 40
    assert "  found as written, before the mutations below\n" in done.out
    assert "  passed\n" not in done.out
    assert done.out.endswith("--all lists them\n")


def test_what_cannot_be_told_from_the_file_says_why() -> None:
    done = usher("explain", EXAMPLES / "good-pytorchjob.yaml")

    (_, _, not_evaluated) = done.out.partition("  not evaluated\n    USH405 integration-not-enabled\n")
    assert not_evaluated.lstrip().startswith("usher does not know whether Kueue queues PyTorchJobs")


def test_standard_input_is_explained_too() -> None:
    done = usher("explain", "-", stdin=manifest(builders.pod(builders.container(gpus=1), name="one")))

    assert "Pod ml-research/one" in done.out


def test_the_json_accounts_for_every_rule() -> None:
    listed = {entry["code"] for entry in usher("policies", "list", "--format=json").json}

    (explained,) = usher("explain", BAD_EXAMPLE, "--format=json").json

    assert {entry["code"] for entry in explained["entries"]} == listed


def test_an_argument_that_names_neither_a_rule_nor_a_file_is_refused(tmp_path: Path) -> None:
    done = usher("explain", tmp_path / "nope.yaml")
    misspelt = usher("explain", "gpus-per-workloads")

    assert (done.code, misspelt.code) == (2, 2)
    assert "no such file, and no check or mutation has that name" in done.err
    assert "did you mean gpus-per-workload?" in misspelt.err


def test_a_file_that_no_rule_reads_is_said_to_be_one() -> None:
    done = usher("explain", "-", stdin=manifest({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"}}))

    assert done.code == 2
    assert "no rule reads any object in it" in done.err


def test_hostile_names_reach_the_terminal_escaped() -> None:
    done = usher("explain", "-", stdin=manifest(builders.pod(builders.container(), name="\x1b[31mred")))

    assert "\x1b" not in done.out


def test_a_file_shows_the_role_with_its_reason_and_the_label_that_does_not_count(tmp_path: Path) -> None:
    config = tmp_path / "usher.yaml"
    write_config(config, queues=[{"namespaces": ["*"], "roles": ["inference"], "localQueue": "serving"}])
    value = builders.job(builders.template(builders.container(gpus=1)), labels={"gpu-usher.io/role": "inference"})

    done = usher("explain", "-", "--config", config, stdin=manifest(value))
    (explained,) = usher("explain", "-", "--config", config, "--format=json", stdin=manifest(value)).json

    assert "  role batch: its kind, Job; its label gpu-usher.io/role: inference does not count" in done.out
    assert explained["role"] == "batch"
    assert "because queues[0] of usher.yaml depends on the role" in explained["roleReason"]
