"""`usher check` in trees of strangers: git, helm and kustomize run nothing, hide nothing and read nothing else."""

import http.server
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import builders
from integration import command
from integration.work_tree import GREEDY, TOOLS, Git, greedy, names, needs_git, needs_helm, needs_kubectl, write
from usher import errors
from usher.check import programs

pytestmark = pytest.mark.costly

SECRET = "hunter2-of-the-runner"


def check(*arguments: str, cwd: Path, **variables: str) -> command.Run:
    """A run whose search path begins with the tools of this repository."""
    env = command.environment(**{"PATH": f"{TOOLS}:{os.environ['PATH']}", **variables})
    return command.usher("check", "--format", "json", *arguments, cwd=cwd, env=env)


def reasons(run: command.Run) -> str:
    problems: list[Any] = run.json["problems"]
    return "\n".join(each["reason"] for each in problems)


def bare_repository(folder: Path, mark: Path) -> None:
    """A repository without a work tree in a folder of manifests, as a commit may hold it."""
    subprocess.run(["git", "init", "--quiet", "--bare", os.fspath(folder)], check=True, capture_output=True)
    hooks = folder / "hooks"
    shutil.rmtree(hooks)
    (folder / "refs" / "heads" / "kept").write_text("")
    (folder / "objects" / "kept").write_text("")
    (folder / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n"
        f'\tfsmonitor = "touch {mark}; false"\n\tsshCommand = "touch {mark}"\n'
    )
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info" / "exclude").write_text("*.yaml\n")


@needs_git
@pytest.mark.parametrize("place", [".", "manifests", "manifests/deep"])
def test_a_bare_repository_in_the_tree_hides_no_manifest_and_runs_nothing(work: Path, git: Git, place: str) -> None:
    bare_repository(work / "manifests", work / "executed")
    write(work / "manifests" / "bad.yaml", greedy("bad"))
    write(work / "manifests" / "deep" / "worse.yaml", greedy("worse"))
    git("add", ".")
    git("commit", "--quiet", "--message=second")

    wanted = {"worse"} if place == "manifests/deep" else {"bad", "worse"}
    assert names(check(place, cwd=work)) == wanted
    assert names(check(".", cwd=work / place)) == wanted
    assert names(check(".", "--changed-since", "HEAD~1", cwd=work / place)) == wanted
    assert not (work / "executed").exists()


@needs_git
def test_an_unpacked_archive_without_a_repository_is_read_whole(work: Path, tmp_path: Path) -> None:
    bare_repository(work, tmp_path / "executed")
    write(work / "bad.yaml", greedy("bad"))

    assert names(check(".", cwd=work)) == {"bad"}
    assert not (tmp_path / "executed").exists()


@needs_git
def test_no_program_of_the_configuration_of_a_repository_runs(work: Path, git: Git) -> None:
    mark = work / "executed"
    write(work / "one.yaml", greedy("one"))
    (work / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    git("add", ".")
    git("commit", "--quiet", "--message=second")
    write(work / "one.yaml", builders.pod(GREEDY, GREEDY | {"name": "more"}, name="one"))
    touch = f"touch {mark}; false"
    for key in (
        *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy"),
        *("core.alternateRefsCommand", "diff.external", "diff.evil.command", "diff.evil.textconv", "merge.evil.driver"),
        *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "pager.ls-files", "alias.ls-files"),
        *("credential.helper", "gpg.program", "uploadpack.packObjectsHook", "alias.rev-parse", "sequence.editor"),
    ):
        git("config", key, touch)
    git("config", "filter.evil.required", "true")
    git("config", "core.hooksPath", "hooks")
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        file = work / "hooks" / hook
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\ntouch {mark}\n")
        file.chmod(0o755)

    run = check(".", "--changed-since", "HEAD", cwd=work)

    assert names(run) == {"one"}
    assert not mark.exists()


@needs_git
def test_a_partial_clone_fetches_nothing_by_the_program_of_its_configuration(work: Path, git: Git) -> None:
    write(work / "one.yaml", greedy("one"))
    git("add", ".")
    git("commit", "--quiet", "--message=second")
    blob = git("rev-parse", "HEAD:one.yaml").strip()
    (work / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::sh -c touch% {work}/executed",
        "protocol.ext.allow": "always",
        "protocol.allow": "always",
    }.items():
        git("config", key, value)
    write(work / "one.yaml", greedy("two"))

    run = check(".", "--changed-since", "HEAD", cwd=work)

    assert run.code == 2
    assert not (work / "executed").exists()


@needs_git
@pytest.mark.parametrize("attribute", ["ident", "text eol=crlf", "filter=gone", "working-tree-encoding=UTF-16"])
def test_no_attribute_hides_a_change(work: Path, git: Git, attribute: str) -> None:
    before = builders.pod(GREEDY, name="one", annotations={"a": "$Id$"})
    write(work / "one.yaml", before)
    git("add", ".")
    git("commit", "--quiet", "--message=second")
    (work / ".gitattributes").write_text(f"*.yaml {attribute}\n")
    write(work / "one.yaml", builders.replaced(before, "/metadata/annotations/a", "$Id: changed $"))

    assert names(check(".", "--changed-since", "HEAD", cwd=work)) == {"one"}


@needs_git
@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_no_flag_of_the_index_hides_a_change(work: Path, git: Git, flag: str) -> None:
    write(work / "one.yaml", greedy("one"))
    git("add", ".")
    git("commit", "--quiet", "--message=second")
    git("update-index", flag, "one.yaml")
    write(work / "one.yaml", greedy("changed"))

    assert names(check(".", "--changed-since", "HEAD", cwd=work)) == {"changed"}


@needs_git
@pytest.mark.parametrize("replaced", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF", "GIT_PAGER"])
def test_variables_of_git_do_not_choose_another_repository_or_program(
    work: Path, git: Git, tmp_path: Path, replaced: str
) -> None:
    bare_repository(tmp_path / "other", tmp_path / "executed")
    write(work / "one.yaml", greedy("one"))
    git("add", ".")

    run = check(".", "--changed-since", "HEAD", cwd=work, **{replaced: os.fspath(tmp_path / "other")})

    assert names(run) == {"one"}


@needs_git
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_repository_of_another_user_hides_nothing_and_compares_nothing(work: Path, git: Git) -> None:
    write(work / "one.yaml", greedy("one"))
    (work / ".git" / "info" / "exclude").write_text("*.yaml\n")
    assert git("status", "--porcelain") == ""
    for path in (work, work / ".git"):
        os.chown(path, 12345, 12345)

    assert names(check(".", cwd=work)) == {"one"}
    run = check(".", "--changed-since", "HEAD", cwd=work)
    assert run.code == 2
    assert "dubious ownership" in run.err


@needs_git
@pytest.mark.parametrize("revision", ["-h", "--help", "--upload-pack=touch executed", "-", "HEAD --", "HEAD\n--all"])
def test_a_revision_that_looks_like_an_option_is_refused(work: Path, git: Git, revision: str) -> None:
    write(work / "a.yaml", greedy("a"))
    git("add", ".")

    run = check(".", f"--changed-since={revision}", cwd=work)

    assert run.code == 2
    assert not (work / "executed").exists()


@needs_git
def test_a_path_that_begins_with_a_dash_is_a_path(work: Path, git: Git) -> None:
    write(work / "--output=x.yaml", greedy("file"))
    write(work / "-C" / "inside.yaml", greedy("folder"))
    git("add", ".")

    assert names(check("--", "--output=x.yaml", "-C", cwd=work)) == {"file", "folder"}
    assert names(check(".", "--changed-since", "HEAD", cwd=work)) == {"file", "folder"}


def test_a_program_in_the_tree_is_never_started(work: Path) -> None:
    for name in ("git", "helm", "kustomize", "kubectl"):
        (work / name).write_text(f"#!/bin/sh\ntouch {work}/executed\n")
        (work / name).chmod(0o755)
    (work / "kustomization.yaml").write_text("resources: []\n")
    write(work / "Chart.yaml", {"apiVersion": "v2", "name": "chart", "version": "1.0.0"})
    (work / ".git").mkdir()

    for path in (".:/nonexistent", ":/nonexistent", "./.", ""):
        check(".", "-k", ".", "--helm", ".", cwd=work, PATH=path)

    assert not (work / "executed").exists()


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("named", [True, False])
def test_a_link_out_of_the_tree_is_a_problem_and_is_not_read(
    work: Path, tmp_path: Path, kind: str, named: bool
) -> None:
    write(tmp_path / "elsewhere" / "pod.yaml", greedy(SECRET))
    (work / ".git").mkdir()
    target = tmp_path / "elsewhere" / ("pod.yaml" if kind == "file" else "")
    (work / "link.yaml").symlink_to(os.path.relpath(target, work))

    run = check("link.yaml" if named else ".", cwd=work)

    assert run.code == 2
    assert "leads out of the tree" in reasons(run)
    assert SECRET not in run.out


def test_a_link_inside_the_tree_is_followed(work: Path) -> None:
    write(work / "shared" / "pod.yaml", greedy("shared"))
    (work / ".git").mkdir()
    (work / "jobs").mkdir()
    (work / "jobs" / "link.yaml").symlink_to("../shared/pod.yaml")

    assert names(check("jobs", cwd=work)) == {"shared"}


class Server(http.server.BaseHTTPRequestHandler):
    """Answers every request with a Pod."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(yaml.safe_dump(greedy("from-a-server")).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
        """Nothing: tests print nothing."""


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and the paths that clients asked for."""
    asked: list[str] = []
    handler = type("Handler", (Server,), {"asked": asked})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}", asked
        running.shutdown()
        thread.join()


def chart(folder: Path, template: str = "") -> Path:
    """A chart that renders a Pod."""
    write(folder / "Chart.yaml", {"apiVersion": "v2", "name": "chart", "version": "1.0.0"})
    (folder / "templates").mkdir()
    (folder / "templates" / "pod.yaml").write_text(template or yaml.safe_dump(greedy("rendered")))
    return folder


@needs_helm
def test_a_chart_reads_nothing_outside_of_the_tree(work: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    template = yaml.safe_dump(builders.pod(GREEDY, name="a", annotations={"a": "X"})).replace(
        "X", '{{ .Files.Get "secret" | quote }}{{ .Files.Get "../../secret" | quote }}'
    )
    made = chart(work / "chart", template)
    (made / "secret").symlink_to(tmp_path / "secret")

    run = check("--helm", "chart", cwd=work)
    assert run.code == 2
    assert "leads out of the tree" in reasons(run)
    assert SECRET not in run.out

    (made / "secret").unlink()
    (made / "inner").mkdir()
    (made / "inner" / "far").symlink_to(tmp_path)
    assert "leads out of the tree" in reasons(check("--helm", "chart", cwd=work))


@needs_helm
def test_links_of_a_chart_to_folders_beside_it_are_followed(work: Path) -> None:
    (work / ".git").mkdir()
    made = chart(work / "charts" / "one")
    (work / "shared").mkdir()
    shutil.move(made / "templates" / "pod.yaml", work / "shared" / "pod.yaml")
    (made / "templates" / "pod.yaml").symlink_to("../../../shared/pod.yaml")

    assert names(check("--helm", "charts/one", cwd=work)) == {"rendered"}


@needs_helm
@pytest.mark.parametrize("scheme", ["file", "http"])
def test_the_schema_of_a_chart_refers_to_nothing(
    work: Path, tmp_path: Path, scheme: str, server: tuple[str, list[str]]
) -> None:
    address, asked = server
    (tmp_path / "schema.json").write_text(json.dumps({"required": [SECRET]}))
    reference = f"file://{tmp_path}/schema.json" if scheme == "file" else f"{address}/schema.json"
    made = chart(work / "chart")
    (made / "values.schema.json").write_text(json.dumps({"$ref": reference}))

    run = check("--helm", "chart", cwd=work)

    assert names(run) == {"rendered"}
    assert SECRET not in run.out
    assert asked == []


@needs_helm
def test_neither_a_chart_nor_values_are_fetched(work: Path, server: tuple[str, list[str]]) -> None:
    address, asked = server
    chart(work / "chart")

    for arguments in (
        ("--helm", f"{address}/chart.tgz"),
        ("--helm", "oci://127.0.0.1/chart"),
        ("--helm", "repo/chart"),
        ("--helm=-h",),
        ("--helm", "chart", "--values", f"{address}/values.yaml"),
        ("--helm", "chart", "--values=-"),
    ):
        run = check(*arguments, cwd=work)
        assert run.code == 2, arguments
        assert "fetches no" in reasons(run), arguments
    assert asked == []


@needs_helm
def test_paths_of_charts_and_values_are_never_options_or_lists(work: Path, server: tuple[str, list[str]]) -> None:
    address, asked = server
    chart(work / "--post-renderer=x")
    write(work / f"a,{address}/v.yaml", {"a": 1})

    run = check("--helm=--post-renderer=x", f"--values=a,{address}/v.yaml", cwd=work)

    assert names(run) == {"rendered"}
    assert asked == []


@needs_helm
def test_plugins_of_helm_do_not_run(work: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "plugins" / "evil"
    plugin.mkdir(parents=True)
    write(
        plugin / "plugin.yaml",
        {
            "name": "evil",
            "version": "1.0.0",
            "command": f"touch {tmp_path}/executed",
            "downloaders": [{"command": "run", "protocols": ["evil"]}],
        },
    )
    (plugin / "run").write_text(f"#!/bin/sh\ntouch {tmp_path}/executed\n")
    (plugin / "run").chmod(0o755)
    chart(work / "chart")

    check("--helm", "chart", "--values", "evil://x", cwd=work, HELM_PLUGINS=os.fspath(plugin.parent))
    check("--helm", "evil://x", cwd=work, HELM_PLUGINS=os.fspath(plugin.parent))
    assert names(check("--helm", "chart", cwd=work, HELM_PLUGINS=os.fspath(plugin.parent))) == {"rendered"}
    assert not (tmp_path / "executed").exists()


@needs_helm
@pytest.mark.parametrize(
    "template",
    [
        '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}',
        '{{ repeat 2100000000 "aaaa" }}',
    ],
)
def test_a_chart_that_grows_without_end_is_a_problem(work: Path, template: str) -> None:
    chart(work / "chart", template)

    run = check("--helm", "chart", cwd=work)

    assert run.code == 2
    assert "helm" in reasons(run)


def test_a_program_that_prints_too_much_ends(work: Path) -> None:
    (work / "loud").write_text("#!/bin/sh\nexec yes\n")
    (work / "loud").chmod(0o755)

    with pytest.raises(errors.InputError, match="printed more than"):
        programs.program_output([os.fspath(work / "loud")], environment={"PATH": os.environ["PATH"]})


def test_a_program_that_takes_too_long_ends_with_what_it_started(work: Path) -> None:
    (work / "slow").write_text("#!/bin/sh\nsleep 60 &\necho $! >child\nwait\n")
    (work / "slow").chmod(0o755)

    with pytest.raises(errors.InputError, match=r"did not end within 0\.5 s"):
        programs.program_output(
            [os.fspath(work / "slow")], where=work, environment={"PATH": os.environ["PATH"]}, seconds=0.5
        )

    child = int((work / "child").read_text())
    until = time.monotonic() + 30
    while is_running(child) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_running(child)


def is_running(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    try:
        return state.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


KUSTOMIZATIONS = {
    "resource": "resources: ['{address}/pod.yaml']",
    "capitals": "RESOURCES: ['{address}/pod.yaml']",
    "repository": "resources: ['github.com/o/r//base?ref=main']",
    "scp": "resources: ['git@127.0.0.1:o/r.git']",
    "component": "components: ['{address}/pod.yaml']",
    "patch": "resources: [pod.yaml]\npatches: [{{path: '{address}/patch.yaml'}}]",
    "generator": "configMapGenerator: [{{name: a, files: ['{address}/a']}}]",
    "named": "configMapGenerator: [{{name: a, files: ['key={address}/a']}}]",
    "env": "secretGenerator: [{{name: a, envs: ['{address}/a']}}]",
    "schema": "resources: [pod.yaml]\nopenapi: {{path: '{address}/a'}}",
    "crds": "resources: [pod.yaml]\ncrds: ['{address}/a']",
    "transformer": "resources: [pod.yaml]\ntransformers: ['{address}/a']",
    "inline": "resources: [pod.yaml]\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n"
    "  metadata: {{name: a}}\n  path: {address}/a\n",
    "replacement": "resources: [pod.yaml]\nreplacements: [{{path: '{address}/a'}}]",
    "above": "resources: [../../outside]",
    "link": "resources: [link]",
    "linked": "resources: [pod.yaml]\nconfigMapGenerator: [{{name: a, files: [secret]}}]",
    "absolute": "resources: ['{outside}']",
    "second": "resources: [base]",
    "exec": "resources: [pod.yaml]\ntransformers: [exec.yaml]",
    "helm": "helmCharts: [{{name: a, repo: '{address}', version: '1'}}]",
}


@needs_kubectl
@pytest.mark.parametrize("name", KUSTOMIZATIONS)
def test_a_kustomization_reads_no_server_and_nothing_outside_of_the_tree(
    work: Path, tmp_path: Path, name: str, server: tuple[str, list[str]]
) -> None:
    address, asked = server
    tree = work / "tree"
    (tree / ".git").mkdir(parents=True)
    for folder in (work / "outside", tmp_path / "far"):
        write(folder / "pod.yaml", greedy(SECRET))
        (folder / "kustomization.yaml").write_text("resources: [pod.yaml]\n")
    write(tree / "k" / "pod.yaml", greedy("inside"))
    (tree / "k" / "link").symlink_to(tmp_path / "far")
    (tree / "k" / "secret").symlink_to(tmp_path / "far" / "pod.yaml")
    (tree / "k" / "base").mkdir()
    (tree / "k" / "base" / "kustomization.yml").write_text(f"resources: ['{address}/pod.yaml']\n")
    (tree / "k" / "run").write_text(f"#!/bin/sh\ntouch {tmp_path}/executed\ncat\n")
    (tree / "k" / "run").chmod(0o755)
    function = f"exec: {{path: {tree}/k/run}}"
    write(
        tree / "k" / "exec.yaml",
        builders.custom("v1", "A", {}, annotations={"config.kubernetes.io/function": function}),
    )
    text = KUSTOMIZATIONS[name].format(address=address, outside=tmp_path / "far")
    (tree / "k" / "kustomization.yaml").write_text(f"{text}\n")

    run = check("-k", "k", cwd=tree)

    assert run.code == 2, run.out
    assert SECRET not in run.out
    assert asked == []
    assert not (tmp_path / "executed").exists()


@needs_kubectl
def test_a_kustomization_with_bases_generators_and_addresses_in_its_texts_is_rendered(work: Path) -> None:
    (work / ".git").mkdir()
    write(work / "base" / "pod.yaml", greedy("pod"))
    (work / "base" / "kustomization.yaml").write_text("resources: [pod.yaml]\n")
    (work / "overlays" / "prod").mkdir(parents=True)
    (work / "overlays" / "prod" / "kustomization.yaml").write_text(
        "resources: [../../base]\nnamePrefix: prod-\ncommonAnnotations: {docs: 'https://example.com/a'}\n"
        "configMapGenerator: [{name: a, literals: ['URL=https://example.com']}]\n"
        "patches:\n- target: {kind: Pod}\n  patch: |-\n    - {op: add, path: /metadata/labels, value: {a: b}}\n"
    )

    assert "prod-pod" in names(check("-k", "overlays/prod", cwd=work))


def config(file: Path, *, preset: str) -> None:
    write(file, {"apiVersion": "gpu-usher.io/v1alpha1", "kind": "Config", "enforcement": {"preset": preset}})


@needs_git
def test_the_rules_of_a_revision_decide_and_those_of_the_tree_do_not(work: Path, git: Git, tmp_path: Path) -> None:
    write(work / "bad.yaml", greedy("bad"))
    config(work / "usher.yaml", preset="recommended")
    git("add", ".")
    git("commit", "--quiet", "--message=second")
    config(work / "usher.yaml", preset="observe")
    config(tmp_path / "usher.yaml", preset="observe")
    (work / "linked.yaml").symlink_to(tmp_path / "usher.yaml")
    git("add", ".")
    git("commit", "--quiet", "--message=third")

    assert check("bad.yaml", cwd=work).code == 0
    run = check("bad.yaml", "--rules-from", "HEAD~1", cwd=work)
    assert run.code == 1
    assert run.json["configuration"] == {"preset": "recommended", "source": "usher.yaml of HEAD~1"}
    assert [each["reason"] for each in run.json["notes"]] == ["the one of HEAD~1 decides; here it is another one"]

    assert check("bad.yaml", "--rules-from", "HEAD~1", cwd=work, USHER_CONFIG="usher.yaml").code == 1
    assert check("bad.yaml", "--rules-from", "HEAD", cwd=work).code == 0
    run = check("bad.yaml", "--rules-from", "HEAD~2", cwd=work)
    assert (run.code, run.json["configuration"]) == (1, {"preset": "recommended", "source": "defaults"})
    assert "decides nothing" in run.json["notes"][0]["reason"]
    outside = check("bad.yaml", "--rules-from", "HEAD~1", "--config", str(tmp_path / "usher.yaml"), cwd=work)
    assert outside.code == 0, "no pull request changes a file outside of the repository"
    assert check("bad.yaml", "--rules-from", "HEAD", "--config", "linked.yaml", cwd=work).code == 2
    assert check("bad.yaml", "--rules-from", "--output=x", cwd=work).code == 2


@needs_git
def test_policies_a_baseline_and_facts_of_the_tree_do_not_decide(work: Path, git: Git) -> None:
    write(work / "bad.yaml", greedy("bad"))
    made = check("bad.yaml", "--write-baseline", "known.json", cwd=work)
    assert made.code == 0, made.err
    write(work / "facts.yaml", builders.custom("kueue.x-k8s.io/v1beta1", "ResourceFlavor", {}, name="a"))
    write(work / "more" / "empty.yaml", greedy("not-a-policy"))

    for option in ("--baseline=known.json", "--facts=facts.yaml", "--policies=more"):
        run = check("bad.yaml", "--rules-from", "HEAD", option, cwd=work)
        assert run.code == 1, (option, run.err)
        assert "decides nothing" in run.json["notes"][0]["reason"], option
    assert check("bad.yaml", "--rules-from", "HEAD", "--verify-key=k.pem", "--policies=more", cwd=work).code == 2

    git("add", ".")
    git("commit", "--quiet", "--message=second")
    assert check("bad.yaml", "--rules-from", "HEAD", "--baseline=known.json", cwd=work).code == 0
    assert check("bad.yaml", "--rules-from", "HEAD", "--baseline=known.json", "--ratchet", cwd=work).code == 2
