"""`usher check` reads patterns, files that git does not ignore, kustomizations, charts, and changes in git."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

import builders
from integration import command
from integration.work_tree import GREEDY, TOOLS, Git, greedy, names, needs_git, needs_helm, needs_kubectl, write
from usher import paths


def check(*arguments: str, cwd: Path, path: str | None = None) -> command.Run:
    env = command.environment() if path is None else command.environment(PATH=path)
    return command.usher("check", *arguments, "--format", "json", cwd=cwd, env=env)


def failures(run: command.Run) -> list[Any]:
    problems: list[Any] = run.json["problems"]
    return problems


def test_a_pattern_that_no_shell_has_read_is_expanded(work: Path) -> None:
    write(work / "a" / "b" / "one.yaml", greedy("one"))
    write(work / "a" / "two.yaml", greedy("two"))
    write(work / "c" / "three.yaml", greedy("three"))

    assert names(check("a/**/*.yaml", cwd=work)) == {"one", "two"}


def test_a_pattern_without_a_match_is_an_error(work: Path) -> None:
    run = check("*.yaml", cwd=work)

    assert run.code == 2
    assert "*.yaml" in run.err


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(work: Path) -> None:
    write(work / "[a].yaml", greedy("bracket"))
    write(work / "a.yaml", greedy("other"))

    assert names(check("[a].yaml", cwd=work)) == {"bracket"}


@needs_git
def test_of_a_directory_what_git_ignores_is_left_out(work: Path, git: Git) -> None:
    write(work / "one.yaml", greedy("one"))
    write(work / "rendered" / "two.yaml", greedy("two"))
    (work / ".gitignore").write_text("rendered/\n")

    assert names(check(".", cwd=work)) == {"one"}
    assert names(check(str(work), cwd=Path("/"))) == {"one"}
    assert names(check("rendered", cwd=work)) == {"two"}, "a directory that is named is meant"
    assert names(check("rendered/two.yaml", cwd=work)) == {"two"}
    assert git("status", "--porcelain")


@needs_git
def test_a_tracked_manifest_cannot_hide_behind_a_gitignore(work: Path, git: Git) -> None:
    write(work / "bad.yaml", greedy("bad"))
    (work / ".gitignore").write_text("bad.yaml\n")
    git("add", "--force", "bad.yaml")

    assert names(check(".", cwd=work)) == {"bad"}


@needs_git
def test_a_repository_cannot_make_git_run_a_program_of_its_own(work: Path, git: Git) -> None:
    write(work / "one.yaml", greedy("one"))
    git("config", "core.fsmonitor", f"touch {work}/executed; false")

    check(".", "--changed-since", "HEAD", cwd=work)

    assert not (work / "executed").exists()


@needs_kubectl
def test_a_kustomization_is_rendered(work: Path) -> None:
    write(work / "base" / "pod.yaml", greedy("pod"))
    (work / "base" / "kustomization.yaml").write_text("resources: [pod.yaml]\nnamePrefix: prod-\n")

    run = check("-k", "base", cwd=work, path=f"{TOOLS}:{os.environ['PATH']}")

    assert names(run) == {"prod-pod"}
    assert run.code == 1


@needs_kubectl
def test_a_kustomization_that_cannot_be_rendered_says_why(work: Path) -> None:
    (work / "base").mkdir()
    (work / "base" / "kustomization.yaml").write_text("resources: [missing.yaml]\n")

    run = check("-k", "base", cwd=work, path=f"{TOOLS}:{os.environ['PATH']}")

    assert run.code == 2
    assert "missing.yaml" in failures(run)[0]["reason"]


@pytest.mark.parametrize(
    ("option", "told"), [("-k", "kustomize or kubectl"), ("--helm", "--helm needs helm, which is not installed")]
)
def test_without_the_program_its_option_says_what_to_install(work: Path, option: str, told: str) -> None:
    (work / "base").mkdir()
    (work / "base" / "kustomization.yaml").write_text("resources: []\n")

    run = check(option, "base", cwd=work, path="/nonexistent")

    assert run.code == 2
    assert told in failures(run)[0]["reason"]


def test_a_directory_without_a_kustomization_cannot_be_kustomized(work: Path) -> None:
    run = check("-k", ".", cwd=work)

    assert run.code == 2
    assert "kustomization.yaml" in failures(run)[0]["reason"]


@needs_helm
def test_a_chart_is_rendered_with_values(work: Path) -> None:
    write(work / "chart" / "Chart.yaml", {"apiVersion": "v2", "name": "chart", "version": "1.0.0"})
    (work / "chart" / "templates").mkdir()
    pod = yaml.safe_dump(greedy("NAME")).replace("NAME", "{{ .Values.name }}")
    (work / "chart" / "templates" / "pod.yaml").write_text(pod)
    write(work / "prod.yaml", {"name": "from-values"})

    run = check("--helm", "chart", "--values", "prod.yaml", cwd=work, path=f"{TOOLS}:{os.environ['PATH']}")

    assert names(run) == {"from-values"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "name a PATH"),
        (("--values", "a.yaml", "."), "--values is for charts"),
        (("--facts", "live", "--facts", "a.yaml", "."), "leave out the files"),
    ],
)
def test_options_that_contradict_each_other_are_refused(work: Path, arguments: tuple[str, ...], told: str) -> None:
    run = check(*arguments, cwd=work)

    assert run.code == 2
    assert told in run.err


def test_missing_facts_can_be_an_error(work: Path) -> None:
    write(work / "job.yaml", builders.job(builders.template(builders.container(gpus=1), restartPolicy="Never")))

    assert check("job.yaml", cwd=work).code == 0
    run = check("job.yaml", "--require-facts", cwd=work)
    assert run.code == 2
    assert "name them with --facts" in run.err


@needs_git
def test_only_changed_objects_are_judged(work: Path, git: Git) -> None:
    write(work / "many.yaml", greedy("old"), greedy("changed"))
    write(work / "gone.yaml", greedy("gone"))
    write(work / "same.yaml", greedy("same"))
    git("add", ".")
    git("commit", "--quiet", "--message=second")
    changed = builders.pod(GREEDY, GREEDY | {"name": "more"}, name="changed")
    write(work / "many.yaml", greedy("old"), changed, greedy("new"))
    write(work / "untracked.yaml", greedy("untracked"))
    (work / "gone.yaml").unlink()

    run = check(".", "--changed-since", "HEAD", cwd=work)

    assert names(run) == {"changed", "new", "untracked"}
    assert any("2 objects that did not change" in each["reason"] for each in run.json["notes"])


@needs_git
def test_files_that_git_does_not_track_are_new(work: Path, git: Git, tmp_path: Path) -> None:
    write(work / "same.yaml", greedy("same"))
    (work / ".gitignore").write_text("rendered.yaml\n")
    git("add", ".")
    git("commit", "--quiet", "--message=second")
    write(work / "rendered.yaml", greedy("rendered"))
    write(tmp_path / "elsewhere.yaml", greedy("elsewhere"))

    run = check(".", "rendered.yaml", "../elsewhere.yaml", "--changed-since", "HEAD", cwd=work)

    assert names(run) == {"rendered", "elsewhere"}


@needs_git
def test_a_stream_is_new(work: Path, git: Git) -> None:
    stream = yaml.safe_dump(greedy("streamed"))
    run = command.usher("check", "-", "--changed-since", "HEAD", "--format", "json", stdin=stream, cwd=work)

    assert git("status", "--porcelain") == ""
    assert names(run) == {"streamed"}


@needs_git
def test_an_object_that_only_moved_did_not_change(work: Path, git: Git) -> None:
    write(work / "a.yaml", greedy("one"), greedy("two"))
    git("add", ".")
    git("commit", "--quiet", "--message=second")
    (work / "a.yaml").unlink()
    write(work / "b" / "c.yaml", greedy("two"))
    write(work / "b" / "d.yaml", greedy("one"))

    assert names(check(".", "--changed-since", "HEAD", cwd=work)) == set()


@needs_git
def test_a_file_that_could_not_be_read_before_fails_no_change_of_others(work: Path, git: Git) -> None:
    (work / "old.yaml").write_text("apiVersion: v1\nkind: [\n")
    git("add", ".")
    git("commit", "--quiet", "--message=second")
    write(work / "new.yaml", greedy("one"))

    run = check(".", "--changed-since", "HEAD", cwd=work)
    assert (run.code, names(run), failures(run)) == (1, {"one"}, [])
    (note,) = run.json["notes"]
    assert note["reason"] == "1 problem of a file that did not change and cannot be read"

    (work / "old.yaml").write_text("apiVersion: v1\nkind: [[\n")
    assert [each["source"] for each in failures(check(".", "--changed-since", "HEAD", cwd=work))] == ["old.yaml"]


@needs_git
def test_an_object_that_names_a_changed_one_is_judged_too(work: Path, git: Git) -> None:
    template: paths.Object = {"spec": {"devices": {"requests": [{"name": "a"}]}}}
    claim = builders.custom("resource.k8s.io/v1", "ResourceClaimTemplate", template, name="gpus")
    user = builders.pod(name="user", resourceClaims=[{"name": "g", "resourceClaimTemplateName": "gpus"}])
    write(work / "claim.yaml", claim)
    write(work / "user.yaml", user)
    write(work / "other.yaml", greedy("other"))
    git("add", ".")
    git("commit", "--quiet", "--message=second")
    write(work / "claim.yaml", builders.replaced(claim, "/spec/spec/devices/requests", []))

    assert names(check(".", "--changed-since", "HEAD", cwd=work)) == {"user", "gpus"}
    (work / "claim.yaml").unlink()
    assert names(check(".", "--changed-since", "HEAD", cwd=work)) == {"user"}


@needs_git
def test_the_pods_that_a_changed_service_selects_are_judged_too(work: Path, git: Git) -> None:
    service = builders.custom("v1", "Service", {"selector": {"app": "chat"}}, name="front")
    chat = builders.template(builders.container(gpus=1), labels={"app": "chat", "tier": "a"}, annotations=None)
    other = builders.template(builders.container(gpus=1), labels={"app": "other"}, annotations=None)
    write(work / "service.yaml", service)
    write(work / "chat.yaml", builders.deployment(chat, name="chat"), builders.deployment(other, name="other"))
    git("add", ".")
    git("commit", "--quiet", "--message=second")
    write(work / "service.yaml", builders.replaced(service, "/spec/clusterIP", "None"))

    assert names(check(".", "--changed-since", "HEAD", cwd=work)) == {"chat"}


@needs_git
def test_what_the_other_branch_changed_since_is_not_ours(work: Path, git: Git) -> None:
    write(work / "a.yaml", greedy("a"))
    git("add", ".")
    git("commit", "--quiet", "--message=second")
    git("branch", "ours")
    write(work / "a.yaml", builders.pod(name="theirs"))
    git("commit", "--quiet", "--all", "--message=theirs")
    git("checkout", "--quiet", "ours")
    write(work / "b.yaml", greedy("ours"))

    assert names(check(".", "--changed-since", "main", cwd=work)) == {"ours"}


@needs_git
@pytest.mark.parametrize("revision", ["missing", "--output=x", "HEAD~9"])
def test_an_unknown_revision_is_an_error(work: Path, git: Git, revision: str) -> None:
    write(work / "a.yaml", greedy("a"))
    git("add", ".")

    run = check(".", f"--changed-since={revision}", cwd=work)

    assert run.code == 2
    assert "git knows no commit of this name" in run.err


def test_outside_a_repository_there_is_no_change_to_find(work: Path) -> None:
    write(work / "a.yaml", greedy("a"))

    run = check(".", "--changed-since", "HEAD", cwd=work)

    assert run.code == 2
    assert "git" in run.err


def test_files_without_objects_are_accepted_where_a_program_names_the_files(work: Path) -> None:
    (work / "values.yaml").write_text("replicas: 1\n")

    assert check("values.yaml", cwd=work).code == 2
    assert check("values.yaml", "--allow-empty", cwd=work).code == 0


def test_a_missing_file_and_a_broken_one_are_never_accepted_as_empty(work: Path) -> None:
    (work / "broken.yaml").write_text("kind: [\napiVersion: v1\n")

    assert check("gone.yaml", "--allow-empty", cwd=work).code == 2
    assert check("broken.yaml", "--allow-empty", cwd=work).code == 2


def test_require_match_still_wants_a_workload(work: Path) -> None:
    (work / "values.yaml").write_text("replicas: 1\n")

    assert check("values.yaml", "--allow-empty", "--require-match", cwd=work).code == 2
