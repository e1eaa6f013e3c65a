"""`usher check`: which configuration, which input, which changes."""

import json
from pathlib import Path

import pytest

import builders
from builders import queues
from integration.command import (
    BAD_EXAMPLE,
    EXAMPLES,
    SWITCHED_OFF,
    bad,
    bad_line,
    config,
    good,
    manifest,
    usher,
    warned,
    write,
)
from usher import paths


def test_the_configuration_is_the_file_that_is_named(tmp_path: Path) -> None:
    write(tmp_path / "bad.yaml", bad())
    config(tmp_path / "site" / "usher.yaml", **SWITCHED_OFF)

    run = usher("check", "bad.yaml", "--config", "site/usher.yaml", cwd=tmp_path)

    assert run.code == 0
    assert "configuration: site/usher.yaml (preset recommended)" in run.out


def test_a_queue_in_the_same_folder_denies_what_it_can_never_admit(tmp_path: Path) -> None:
    labels = {"kueue.x-k8s.io/queue-name": "team"}
    write(tmp_path / "job.yaml", builders.gpu_job(8, pods=4, namespace=queues.NAMESPACE, labels=labels))
    capacity = queues.cluster_queue("research", queues.gpu_group(16))
    write(tmp_path / "queues.yaml", capacity, queues.local_queue("team", "research"))

    run = usher("check", ".", cwd=tmp_path)
    without = usher("check", ".", "--facts", "none", cwd=tmp_path)

    assert run.code == 1
    assert "USH435 queue-never-admissible" in run.out
    assert "facts: 1 ClusterQueue and 1 LocalQueue of these files" in run.out
    assert "USH435" not in without.out
    assert "facts:" not in without.out


def test_without_one_the_variable_names_it(tmp_path: Path) -> None:
    write(tmp_path / "bad.yaml", bad())
    file = config(tmp_path / "site.yaml", **SWITCHED_OFF)

    run = usher("check", "bad.yaml", cwd=tmp_path, env={"USHER_CONFIG": str(file)})

    assert run.code == 0
    assert f"configuration: {file} (preset recommended)" in run.out


def test_without_either_it_is_the_one_in_the_working_directory(tmp_path: Path) -> None:
    write(tmp_path / "jobs" / "bad.yaml", bad())
    config(tmp_path / "usher.yaml", enforcement={"preset": "baseline", **SWITCHED_OFF["enforcement"]})

    run = usher("check", "jobs", cwd=tmp_path)

    assert run.code == 0
    assert "configuration: usher.yaml (preset baseline)" in run.out


def test_a_configuration_beside_the_manifests_is_never_used(tmp_path: Path) -> None:
    write(tmp_path / "pull-request" / "bad.yaml", bad())
    config(tmp_path / "pull-request" / "usher.yaml", **SWITCHED_OFF)

    run = usher("check", "pull-request", cwd=tmp_path)

    assert run.code == 1
    assert "no usher.yaml: `usher init --facts live` writes one" in run.out


def test_a_configuration_with_mistakes_stops_the_run_and_names_them_all(tmp_path: Path) -> None:
    write(tmp_path / "good.yaml", good())
    file = config(tmp_path / "wrong.yaml", enforcement={"preset": "lax"}, nonsense=1)

    run = usher("check", "good.yaml", "--config", file, cwd=tmp_path)

    assert run.code == 2
    assert run.out == ""
    lines = run.err.splitlines()
    assert all(line.startswith(f"usher: {file}:") for line in lines)
    assert any("enforcement.preset" in line for line in lines)
    assert any("nonsense" in line for line in lines)


def test_a_missing_file_in_usher_config_is_an_error_and_not_replaced_by_defaults(tmp_path: Path) -> None:
    run = usher(
        "check", write(tmp_path / "good.yaml", good()), cwd=tmp_path, env={"USHER_CONFIG": "/nonexistent/usher.yaml"}
    )

    assert run.code == 2
    assert run.err.startswith("usher: /nonexistent/usher.yaml")


def test_an_object_that_is_too_large_to_judge_fails_the_run_at_the_line_of_its_list(tmp_path: Path) -> None:
    """As in the cluster, where both webhooks deny it."""
    limits = "".join(f"      example.com/licence-{number}: 1\n" for number in range(251))
    text = f"""apiVersion: v1
kind: Pod
metadata: {{name: large, namespace: research-nlp}}
spec:
  containers:
  - name: main
    image: registry.example.com/tool:1
    securityContext: {{privileged: true}}
    resources:
     limits:
{limits}"""
    (tmp_path / "large.yaml").write_text(text, encoding="utf-8")

    run = usher("check", "large.yaml", cwd=tmp_path)

    assert run.code == 1
    assert "10:6   error  USH1480 too-large-to-judge  Pod research-nlp/large" in run.out


def test_standard_input_is_read_for_a_dash() -> None:
    run = usher("check", "-", stdin=manifest(bad()))

    assert run.code == 1
    assert run.out.startswith("<stdin>\n")


def test_objects_without_a_namespace_are_in_that_of_the_option(tmp_path: Path) -> None:
    file = write(tmp_path / "bad.yaml", bad(namespace=None))

    assert "Job default/bad" in usher("check", file, cwd=tmp_path).out
    assert "Job team-a/bad" in usher("check", file, "-n", "team-a", cwd=tmp_path).out


def test_findings_inside_a_list_point_at_their_own_lines(tmp_path: Path) -> None:
    file = write(tmp_path / "list.yaml", {"apiVersion": "v1", "kind": "List", "items": [good(), bad()]})
    line = bad_line(file)

    run = usher("check", "list.yaml", "--format", "json", cwd=tmp_path)

    lines = [each["line"] for entry in run.json["workloads"] for each in entry["findings"] if each["code"] == "USH103"]
    assert lines == [line]


def test_json_is_checked_like_yaml(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(json.dumps(bad()))

    assert usher("check", "bad.json", cwd=tmp_path).code == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: &a [x]\nb: [*a, *a]\nkind: Pod\nkind: Pod\n", "kind"),
        ("a: !!python/object/apply:os.system [id]\n", "<stdin>:1:"),
        ("a:\n\tb: 1\n", "<stdin>:2:1: a tab where YAML wants spaces; indent with spaces"),
    ],
)
def test_yaml_that_kubectl_would_not_take_is_refused(text: str, reason: str) -> None:
    run = usher("check", "-", "--format", "json", stdin=text)

    assert run.code == 2
    assert reason in run.err


def test_an_alias_bomb_is_refused_at_once() -> None:
    levels = [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 20)]

    run = usher("check", "-", stdin="\n".join(["a0: &a0 [lol, lol]", *levels]))

    assert run.code == 2
    assert "INCOMPLETE, 1 input could not be read" in run.out


def test_diff_shows_what_the_webhook_would_add_and_why(tmp_path: Path) -> None:
    run = usher("check", write(tmp_path / "warned.yaml", warned()), "--diff", cwd=tmp_path)

    assert run.code == 0
    assert "+  tolerations:\n+  - key: nvidia.com/gpu\n" in run.out
    assert "  applied   gpu-toleration: toleration of the pod: key=nvidia.com/gpu" in run.out


def test_diff_tells_in_json_the_patch_that_the_webhook_would_answer_with(tmp_path: Path) -> None:
    run = usher("check", write(tmp_path / "warned.yaml", warned()), "--diff", "--format", "json", cwd=tmp_path)

    mutation = run.json["workloads"][0]["mutation"]
    assert "/spec/tolerations" in [operation["path"] for operation in mutation["operations"]]
    assert [intent["mutation"] for intent in mutation["applied"]] == ["gpu-toleration"]


def test_what_the_webhook_adds_to_many_objects_is_shown_once(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        write(tmp_path / name, warned())

    lines = usher("check", ".", cwd=tmp_path).out.splitlines()

    assert lines.count("  1:1    note   Pod ml-research/warned: the mutating webhook adds this") == 1
    other = "the mutating webhook adds the same as to Pod ml-research/warned (a.yaml)"
    assert lines.count(f"  1:1    note   Pod ml-research/warned: {other}") == 1
    assert sum("+ gpu-toleration" in line for line in lines) == 1
    assert "mended: the mutating webhook changes 2 objects" in "\n".join(lines)


def test_a_note_says_in_one_line_what_each_mutation_adds(tmp_path: Path) -> None:
    file = write(tmp_path / "warned.yaml", warned())

    lines = usher("check", file, cwd=tmp_path).out.splitlines()

    assert "  1:1    note   Pod ml-research/warned: the mutating webhook adds this" in lines
    added = "         + gpu-toleration  toleration key=nvidia.com/gpu operator=Exists effect=NoSchedule in the pod"
    assert added in lines
    assert (
        "mended: the mutating webhook changes 1 object, and the findings are about the result; --diff shows how"
        in lines
    )


def test_findings_that_the_webhook_mends_appear_only_for_the_file_as_written(tmp_path: Path) -> None:
    file = write(tmp_path / "warned.yaml", warned())

    mended = usher("check", file, "--format", "json", cwd=tmp_path).json
    as_written = usher("check", file, "--as-written", "--format", "json", cwd=tmp_path).json

    assert (mended["admitted"], as_written["admitted"]) == (True, False)
    assert "USH301" in [each["code"] for each in as_written["workloads"][0]["findings"]]
    assert "mutation" not in as_written["workloads"][0]
    assert "USH301" not in [each["code"] for each in mended["workloads"][0]["findings"]]
    assert [each["mutation"] for each in mended["workloads"][0]["mutation"]["applied"]] == ["gpu-toleration"]


def test_a_mended_mistake_does_not_deny(tmp_path: Path) -> None:
    pool = {
        "name": "h100",
        "resources": ["nvidia.com/gpu"],
        "nodeSelector": {"gpu": "h100"},
        "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
    }
    rules: paths.Json = [{"check": "gpu-toleration-present", "action": "deny"}]
    strict = config(tmp_path / "usher.yaml", pools=[pool], enforcement={"rules": rules})
    file = write(tmp_path / "warned.yaml", warned())

    assert usher("check", file, "--config", strict).code == 0
    assert usher("check", file, "--config", strict, "--as-written").code == 1


def test_a_finding_about_what_the_user_wrote_keeps_its_line() -> None:
    """The webhook adds the missing requests before the wrong limit."""
    runs = [usher("check", BAD_EXAMPLE, "--format=json", *option).json for option in ([], ["--as-written"])]

    mended, as_written = (
        {(each["code"], each["line"], each["message"]) for each in run["workloads"][0]["findings"]} for run in runs
    )

    assert ("USH103", 96) in {place[:2] for place in mended}
    assert mended < as_written


def test_the_bad_example_is_wrong_in_seven_ways_as_written_and_in_six_as_mutated(tmp_path: Path) -> None:
    as_written, mended = (
        {
            finding["code"]
            for workload in usher("check", BAD_EXAMPLE, *option, "--format", "json", cwd=tmp_path).json["workloads"]
            for finding in workload["findings"]
        }
        for option in (["--as-written"], [])
    )

    assert as_written == {"USH101", "USH103", "USH201", "USH301", "USH302", "USH502", "USH601"}
    assert mended == as_written - {"USH301"}


@pytest.mark.parametrize(
    ("options", "not_evaluated"),
    [([], ["queueing/integration_not_enabled"]), (["--config", str(EXAMPLES / "usher.yaml")], [])],
)
def test_the_good_example_is_clean(tmp_path: Path, options: list[str], not_evaluated: list[str]) -> None:
    run = usher("check", EXAMPLES / "good-pytorchjob.yaml", *options, "--format", "json", cwd=tmp_path)

    (workload,) = run.json["workloads"]
    assert (run.code, workload["findings"]) == (0, [])
    assert [unknown["check"] for unknown in workload["unknowns"]] == not_evaluated


def test_the_example_configuration_lies_beside_the_manifests_without_being_in_the_way() -> None:
    run = usher("check", EXAMPLES, "--format", "json")

    assert run.json["problems"] == []
    assert run.json["summary"]["ignored"] == 0


UNKNOWN = """
apiVersion: example.com/v1
kind: Fleet
metadata: {name: fleet}
spec: {template: {spec: {containers: [{name: a, image: b}]}}}
"""


def test_an_unjudged_part_does_not_pass() -> None:
    done = usher("check", "-", stdin=UNKNOWN)

    assert done.code == 2
    assert "unrecognised kind Fleet" in done.out
    reason = "some parts could not be judged, so this does not pass (exit code 2); --allow-unknown accepts them"
    assert done.err == f"usher: {reason}\n"


def test_allow_unknown_accepts_an_unjudged_part() -> None:
    done = usher("check", "-", "--allow-unknown", stdin=UNKNOWN)

    assert (done.code, done.err) == (0, "")
    assert "1 part not judged" in done.out


def test_a_denial_counts_more_than_an_unjudged_part() -> None:
    done = usher("check", "-", BAD_EXAMPLE, stdin=UNKNOWN)

    assert done.code == 1


def test_an_unjudged_workload_has_the_outcome_unknown() -> None:
    (workload,) = usher("check", "-", "--format=json", stdin=UNKNOWN).json["workloads"]

    assert workload["outcome"] == "unknown"


def test_the_end_says_in_one_line_what_was_not_judged_and_what_would_change_that(tmp_path: Path) -> None:
    write(tmp_path / "bad.yaml", bad())
    config(tmp_path / "usher.yaml")

    lines = " ".join(usher("check", "bad.yaml", cwd=tmp_path).out.split())

    assert lines.count("not judged: ") == 1
    assert "not judged: USH302 and " in lines
    assert "; `usher snapshot` saves the facts of a cluster for --facts " in lines
    assert lines.count("`usher explain ") == 1


def test_checks_that_compare_with_a_cluster_are_reported_as_left_out_without_one(tmp_path: Path) -> None:
    write(tmp_path / "bad.yaml", bad())
    known: paths.Object = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "a"},
        "value": 1,
    }
    write(tmp_path / "classes.yaml", known)

    assert (
        "checks that compare with a cluster; no usher.yaml: `usher init --facts live` writes one"
        in usher("check", "bad.yaml", cwd=tmp_path).out
    )
    assert (
        "checks that compare with a cluster"
        not in usher("check", "bad.yaml", "--facts", "classes.yaml", cwd=tmp_path).out
    )


def test_nodes_among_the_files_are_wanted_as_facts(tmp_path: Path) -> None:
    write(tmp_path / "pod.yaml", builders.pod(builders.container(limits={"nvidia.com/gpu": "1"})))
    node: paths.Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    write(tmp_path / "node.yaml", {**node, "status": {"allocatable": {"cpu": "8"}}})

    both = usher("check", "pod.yaml", "node.yaml", cwd=tmp_path).out
    as_facts = usher("check", "pod.yaml", "--facts", "node.yaml", cwd=tmp_path).out

    assert "give the file with 1 Node to --facts too" in " ".join(both.split())
    assert "to --facts too" not in as_facts
    assert "USH330" in as_facts


def test_a_base_may_get_its_selector_from_its_kustomization(tmp_path: Path) -> None:
    containers: list[paths.Json] = [{"name": "main", "image": "registry.example.com/main:1"}]
    template: paths.Object = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": containers}}
    server: paths.Object = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}}
    write(tmp_path / "server.yaml", {**server, "spec": {"template": template}})

    assert usher("check", "server.yaml", cwd=tmp_path).code == 1
    (tmp_path / "kustomization.yaml").write_text("resources: [server.yaml]\ncommonLabels: {part: a}")
    run = usher("check", "server.yaml", cwd=tmp_path)

    assert run.code == 0
    assert "usher assumes that no kustomization adds or replaces it" in run.out


@pytest.mark.parametrize(
    ("patch", "found"), [("limits: {nvidia.com/gpu: 1}", False), ("limits: {memory: 64Gi}", True), (None, True)]
)
def test_a_base_gets_its_accelerators_from_the_patch_of_an_overlay(
    tmp_path: Path, patch: str | None, found: bool
) -> None:
    server: paths.Object = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {
                "metadata": {"labels": {"app": "a"}},
                "spec": {
                    "containers": [
                        {"name": "vllm", "image": "vllm/vllm-openai:v0.11.0", "args": ["--model", "Qwen/Qwen3-8B"]}
                    ]
                },
            },
        },
    }
    for folder, text in (
        ("base", "resources: [server.yaml]"),
        ("overlay", "resources: [../base]\npatches: [{path: p}]"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "kustomization.yaml").write_text(text)
    write(tmp_path / "base" / "server.yaml", server)
    (tmp_path / "overlay" / "p").write_text(patch or "")

    run = usher("check", "base/server.yaml", cwd=tmp_path)

    assert ("USH1042" in run.out) == found
