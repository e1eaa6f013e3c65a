"""Which files are read, which documents are objects, and which notes the rest gets."""

import io
import os
import subprocess
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import jsonpatch
import pytest
import yaml

import builders
from usher import paths
from usher.check import sources
from usher.check.batches import Batch
from usher.documents import chunks, reader


def written(file: Path, *objects: paths.Json) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump_all(objects, sort_keys=False))
    return file


def read(*arguments: Path | str, stdin: bytes = b"") -> list[Batch]:
    return list(sources.read([str(argument) for argument in arguments], stdin=io.BytesIO(stdin)))


def names(found: Iterable[Batch]) -> list[str]:
    return [str(paths.resolve(item.value, "/metadata/name")) for batch in found for item in batch.items]


def problems(found: Iterable[Batch]) -> list[tuple[str, str]]:
    return [(problem.source, problem.reason) for batch in found for problem in batch.problems]


def notes(found: Iterable[Batch]) -> list[tuple[str, str]]:
    return [(note.source, note.reason) for batch in found for note in batch.notes]


def test_a_directory_is_read_to_its_depths_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b.yaml", "a/z.yml", "a/deep/er/x.json", "c.txt", "README.md"):
        written(tmp_path / name, builders.pod(name=Path(name).stem))

    found = read(tmp_path)

    assert names(found) == ["x", "z", "b"]
    assert [batch.source for batch in found] == [
        f"{tmp_path}/a/deep/er/x.json",
        f"{tmp_path}/a/z.yml",
        f"{tmp_path}/b.yaml",
    ]


def test_a_file_that_is_named_is_read_whatever_its_name_ends_in(tmp_path: Path) -> None:
    assert names(read(written(tmp_path / "pod.tmpl", builders.pod(name="named")))) == ["named"]


def test_hidden_files_and_directories_are_left_out_of_a_directory(tmp_path: Path) -> None:
    written(tmp_path / ".git" / "pod.yaml", builders.pod(name="git"))
    written(tmp_path / ".gitlab-ci.yml", builders.pod(name="ci"))
    written(tmp_path / "pod.yaml", builders.pod(name="seen"))

    assert names(read(tmp_path)) == ["seen"]


def test_a_folder_that_begins_with_a_dot_is_read_if_git_tracks_it(tmp_path: Path) -> None:
    written(tmp_path / ".deploy" / "jobs" / "pod.yaml", builders.pod(name="tracked"))
    written(tmp_path / ".cache" / "pod.yaml", builders.pod(name="untracked"))
    for command in (["init", "--quiet"], ["add", ".deploy"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)

    assert names(read(tmp_path)) == ["tracked"]


def test_a_hidden_file_that_is_named_is_read(tmp_path: Path) -> None:
    assert names(read(written(tmp_path / ".pod.yaml", builders.pod(name="named")))) == ["named"]


def test_a_symbolic_link_to_a_directory_above_ends_nowhere(tmp_path: Path) -> None:
    written(tmp_path / "jobs" / "pod.yaml", builders.pod(name="once"))
    (tmp_path / "jobs" / "again").symlink_to(tmp_path)

    assert names(read(tmp_path)) == ["once"]


def test_symbolic_links_to_files_are_followed_as_a_mounted_config_map_has_them(tmp_path: Path) -> None:
    written(tmp_path / "..2026" / "pod.yaml", builders.pod(name="mounted"))
    (tmp_path / "pod.yaml").symlink_to("..2026/pod.yaml")

    assert names(read(tmp_path)) == ["mounted"]


def test_a_file_that_is_found_twice_is_read_once(tmp_path: Path) -> None:
    file = written(tmp_path / "pod.yaml", builders.pod(name="once"))

    assert names(read(tmp_path, file, file, tmp_path)) == ["once"]


def test_a_dangling_link_is_reported_and_the_other_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "gone.yaml").symlink_to("nothing.yaml")
    written(tmp_path / "pod.yaml", builders.pod(name="there"))

    found = read(tmp_path)

    assert problems(found) == [(f"{tmp_path}/gone.yaml", "cannot be read: no such file or directory")]
    assert names(found) == ["there"]


def test_a_path_that_does_not_exist_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    file = written(tmp_path / "pod.yaml", builders.pod(name="there"))

    found = read(tmp_path / "nothing", file)

    assert problems(found) == [(f"{tmp_path}/nothing", "cannot be read: no such file or directory")]
    assert names(found) == ["there"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission_is_reported(tmp_path: Path) -> None:
    written(tmp_path / "pod.yaml", builders.pod()).chmod(0)

    assert problems(read(tmp_path)) == [(f"{tmp_path}/pod.yaml", "cannot be read: permission denied")]


def test_a_file_that_is_broken_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: Pod\nkind: Pod\n")
    written(tmp_path / "b.yaml", builders.pod(name="good"))

    found = read(tmp_path)

    assert [(problem.line, problem.column) for batch in found for problem in batch.problems] == [(3, 1)]
    assert names(found) == ["good"]


def test_a_named_pipe_in_a_directory_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    written(tmp_path / "pod.yaml", builders.pod(name="there"))

    assert names(read(tmp_path)) == ["there"]


def test_a_named_pipe_that_nothing_is_written_into_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "PIPE_SECONDS", 0.05)
    os.mkfifo(tmp_path / "pipe")

    (batch,) = read(tmp_path / "pipe")

    assert [each.reason for each in batch.problems] == [
        "cannot be read: a pipe into which nothing was written for 0.05 s"
    ]


def test_a_named_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=["apiVersion: v1\nkind: Pod\n"])
    writer.start()

    (batch,) = read(tmp_path / "pipe")

    writer.join()
    assert [item.value["kind"] for item in batch.items] == ["Pod"]


def test_a_slow_writer_of_a_named_pipe_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "PIPE_SECONDS", 0.05)
    os.mkfifo(tmp_path / "pipe")

    def write_slowly() -> None:
        with (tmp_path / "pipe").open("w") as stream:
            for line in ("apiVersion: v1\n", "kind: Pod\n"):
                time.sleep(0.2)
                stream.write(line)
                stream.flush()

    writer = threading.Thread(target=write_slowly)
    writer.start()
    (batch,) = read(tmp_path / "pipe")

    writer.join()
    assert [item.value["kind"] for item in batch.items] == ["Pod"]


def test_a_broken_document_does_not_hide_the_others_of_its_file(tmp_path: Path) -> None:
    documents = [f"apiVersion: v1\nkind: Pod\nmetadata: {{name: pod-{number}}}\n" for number in range(1, 10)]
    documents[6] = "apiVersion: v1\nkind: [Pod\n"
    (tmp_path / "nine.yaml").write_text("---\n".join(documents))

    (batch,) = read(tmp_path / "nine.yaml")

    assert [paths.metadata(item.value)["name"] for item in batch.items] == [
        f"pod-{n}" for n in (1, 2, 3, 4, 5, 6, 8, 9)
    ]
    assert [each.line for each in batch.problems] == [27]


def test_a_file_of_broken_documents_is_given_up_after_some(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("---\n".join(["apiVersion: [\n"] * 1000))

    (batch,) = read(tmp_path / "bad.yaml")

    assert len(batch.problems) == reader.MAX_ERRORS + 1
    assert "the rest of the file is not read" in batch.problems[-1].reason


def test_standard_input_is_read_for_a_dash() -> None:
    found = read("-", stdin=yaml.safe_dump(builders.pod(name="piped")).encode())

    assert names(found) == ["piped"]
    assert found[0].source == "<stdin>"


def test_a_stream_that_never_ends_is_given_up_at_the_bound() -> None:
    class Endless(io.RawIOBase):
        def read(self, size: int | None = -1, /) -> bytes:
            assert size is not None
            assert size > 0
            return b"#" * size

    found = list(sources.read(["-"], stdin=Endless()))  # type: ignore[arg-type]  # all that is used of it

    assert problems(found) == [("<stdin>", f"larger than {chunks.MAX_FILE_BYTES // 2**20} MiB; split the file")]


def test_the_items_of_a_list_are_objects_with_their_place(tmp_path: Path) -> None:
    pods = [builders.pod(name=name) for name in ("a", "b")]
    nested: paths.Object = {"apiVersion": "v1", "kind": "List", "items": [pods[1]]}
    file = written(tmp_path / "list.yaml", {"apiVersion": "v1", "kind": "List", "items": [pods[0], nested]})

    found = read(file)

    assert names(found) == ["a", "b"]
    assert [item.prefix for item in found[0].items] == ["/items/0", "/items/1/items/0"]


def test_the_objects_of_a_template_of_openshift_are_objects(tmp_path: Path) -> None:
    template: paths.Object = {"apiVersion": "template.openshift.io/v1", "kind": "Template", "metadata": {"name": "t"}}
    file = written(tmp_path / "template.yaml", {**template, "objects": [builders.pod()], "parameters": []})

    (batch,) = read(file)

    assert [(each.prefix, each.value["kind"]) for each in batch.items] == [("/objects/0", "Pod")]


def test_items_of_a_typed_list_take_kind_and_version_from_it(tmp_path: Path) -> None:
    pod = {key: value for key, value in builders.pod(name="a").items() if key not in ("apiVersion", "kind")}
    file = written(tmp_path / "list.yaml", {"apiVersion": "v1", "kind": "PodList", "items": [pod]})

    (item,) = read(file)[0].items

    assert (item.value["apiVersion"], item.value["kind"]) == ("v1", "Pod")


def test_an_item_of_a_list_that_is_not_an_object_is_named_by_its_place(tmp_path: Path) -> None:
    file = written(tmp_path / "list.yaml", {"apiVersion": "v1", "kind": "List", "items": [builders.pod(), "text"]})

    assert notes(read(file)) == [
        (f"{file}:1", "items[1]: not a Kubernetes object: no mapping with apiVersion and kind")
    ]


def test_other_yaml_in_a_directory_is_counted_and_not_talked_about(tmp_path: Path) -> None:
    written(tmp_path / "values.yaml", {"replicas": 2, "image": {"tag": "1"}})
    written(tmp_path / "kustomization.yaml", {"resources": ["pod.yaml"]})
    written(tmp_path / "package.json", {"name": "site"})
    written(tmp_path / "pod.yaml", builders.pod(name="there"))

    found = read(tmp_path)

    assert names(found) == ["there"]
    assert sum(batch.ignored for batch in found) == 3
    assert notes(found) == []


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        ({"a": 1}, "no apiVersion and no kind"),
        ({"kind": "Pod"}, "no apiVersion"),
        ({"apiVersion": "v1"}, "no kind"),
        ({"apiVersion": 1, "kind": "Pod"}, "no apiVersion"),
        ({"apiVersion": "", "kind": "Pod"}, "no apiVersion"),
        (["a"], "no mapping with apiVersion and kind"),
        ({"apiVersion": "builtin", "kind": "LabelTransformer"}, "a transformer or a generator of kustomize"),
    ],
)
def test_the_note_on_a_named_file_without_an_object_says_which_field_is_missing(
    tmp_path: Path, value: paths.Json, missing: str
) -> None:
    file = written(tmp_path / "file.yaml", value)

    assert notes(read(file)) == [(f"{file}:1", f"not a Kubernetes object: {missing}")]


def test_a_workload_without_an_api_version_is_reported_even_in_a_directory(tmp_path: Path) -> None:
    pod = builders.pod()
    del pod["apiVersion"]
    written(tmp_path / "pod.yaml", pod)

    assert notes(read(tmp_path)) == [(f"{tmp_path}/pod.yaml:1", "not a Kubernetes object: no apiVersion")]


def test_files_of_our_own_are_left_out_quietly_even_when_named(tmp_path: Path) -> None:
    config = written(tmp_path / "usher.yaml", {"apiVersion": "gpu-usher.io/v1alpha1", "kind": "Config"})

    (batch,) = read(config)

    assert (batch.items, batch.notes, batch.problems, batch.ignored) == ((), (), (), 0)


def test_objects_of_our_own_kinds_are_objects(tmp_path: Path) -> None:
    quota = builders.custom("gpu-usher.io/v1alpha1", "GPUQuota", {}, name="research", namespace=None)
    file = written(tmp_path / "quota.yaml", quota)

    (batch,) = read(file)

    assert [item.value for item in batch.items] == [quota]


def test_a_helm_chart_is_named_once_with_the_way_to_render_it(tmp_path: Path) -> None:
    chart = tmp_path / "charts" / "llm"
    written(chart / "Chart.yaml", {"apiVersion": "v2", "name": "llm"})
    (chart / "templates").mkdir()
    (chart / "templates" / "deployment.yaml").write_text("replicas: {{ .Values.replicas }}\n")
    written(chart / "crds" / "pod.yaml", builders.pod(name="plain"))

    found = read(tmp_path)

    assert notes(found) == [
        (
            str(chart),
            f"a Helm chart, whose templates usher does not render; run: helm template {chart} | usher check -",
        )
    ]
    assert names(found) == ["plain"]
    assert problems(found) == []


def test_a_file_of_a_directory_that_is_not_yaml_and_names_no_api_version_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "tsconfig.json").write_text('{ // comments are allowed here\n "strict": true }')

    (batch,) = read(tmp_path)

    assert (batch.ignored, batch.problems) == (1, ())


@pytest.mark.parametrize(
    "content",
    [
        b"apiVersion: v1\nkind: Pod\nkind: Pod\n",
        b'"\\x61piVersion": v1\nkind: Pod\nkind: Pod\n',
        b"\xff\xfea\x00p\x00i\x00V\x00e\x00r\x00s\x00i\x00o\x00n\x00",
    ],
    ids=["named", "escaped", "UTF-16"],
)
def test_a_file_that_might_hold_an_object_is_never_passed_over(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "hidden.yaml").write_bytes(content)

    assert len(problems(read(tmp_path))) == 1


def test_a_file_name_that_is_not_utf8_can_still_be_reported(tmp_path: Path) -> None:
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.yaml"))
    file.write_text("a: [")

    ((source, _),) = problems(read(str(file)))

    assert source == f"{tmp_path}/\\xff.yaml"


PIPELINE: paths.Object = {"pipelineInfo": {"name": "nightly"}, "schemaVersion": "2.1.0", "root": {"dag": {"tasks": {}}}}
SETTINGS: paths.Object = {"platforms": {"kubernetes": {"deploymentSpec": {"executors": {"exec-train": {}}}}}}


def test_a_compiled_pipeline_is_an_object_although_it_says_no_kind(tmp_path: Path) -> None:
    (found,) = read(written(tmp_path / "pipeline.yaml", PIPELINE))

    assert [item.value for item in found.items] == [PIPELINE]
    assert (found.ignored, found.notes) == (0, ())


def test_the_settings_behind_a_pipeline_belong_to_it(tmp_path: Path) -> None:
    written(tmp_path / "pipeline.yaml", PIPELINE, SETTINGS, builders.pod(), PIPELINE)
    (found,) = read(tmp_path)

    assert [item.value for item in found.items] == [{**PIPELINE, **SETTINGS}, builders.pod(), PIPELINE]
    assert found.ignored == 0


def test_settings_behind_another_document_do_not_count_as_a_pipeline(tmp_path: Path) -> None:
    found = read(written(tmp_path / "pod.yaml", builders.pod(), SETTINGS))

    assert [reason for _, reason in notes(found)] == ["not a Kubernetes object: no apiVersion and no kind"]


@pytest.mark.parametrize(
    "value",
    [
        {"pipelineInfo": {"name": "nightly"}},
        {"pipelineInfo": "nightly", "root": {}},
        {**PIPELINE, "kind": "Pipeline"},
    ],
)
def test_a_document_that_only_resembles_a_pipeline_is_ignored(tmp_path: Path, value: paths.Object) -> None:
    (found,) = read(written(tmp_path / "pipeline.yaml", value))

    assert (found.items, found.ignored) == ((), 1)


def test_a_broken_pipeline_in_a_directory_is_reported(tmp_path: Path) -> None:
    (tmp_path / "pipeline.yaml").write_text("pipelineInfo: {name: nightly\n")

    assert len(problems(read(tmp_path))) == 1


PART: paths.Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "part"},
    "spec": {"replicas": 2},
}


@pytest.mark.parametrize(
    "fields",
    [
        {"patches": [{"path": "parts/replicas.yaml"}]},
        {"patches": ["parts/other.yaml", {"path": "./parts/../parts/replicas.yaml", "target": {"kind": "Deployment"}}]},
        {"patchesStrategicMerge": ["parts/replicas.yaml"]},
    ],
)
def test_a_patch_of_a_kustomization_is_not_an_object(tmp_path: Path, fields: paths.Object) -> None:
    written(tmp_path / "kustomization.yaml", {"resources": ["pod.yaml"], **fields})
    written(tmp_path / "pod.yaml", builders.pod(name="whole"))
    part = written(tmp_path / "parts" / "replicas.yaml", PART)

    (batch,) = read(part)
    assert names(read(tmp_path)) == ["whole"]
    assert names([batch]) == []
    assert notes([batch]) == [(f"{part}:1", f"a patch; `usher check -k {tmp_path}` judges what it makes")]


def test_an_object_that_could_be_applied_alone_is_judged_whatever_a_kustomization_calls_it(tmp_path: Path) -> None:
    written(tmp_path / "kustomization.yaml", {"patches": [{"path": "pod.yaml"}]})
    written(tmp_path / "pod.yaml", builders.pod(name="whole"), PART)

    assert names(read(tmp_path)) == ["whole"]


@pytest.mark.parametrize(
    ("part", "pointer", "value"),
    [
        (builders.job(name="part"), "/spec/template/spec/restartPolicy", "Never"),
        (builders.deployment(name="part"), "/spec/selector", {}),
    ],
)
def test_a_patch_with_images_is_not_judged_where_the_api_server_would_refuse_it_alone(
    tmp_path: Path, part: paths.Object, pointer: str, value: paths.Json
) -> None:
    written(tmp_path / "kustomization.yaml", {"patches": [{"path": "part.yaml"}, {"path": "whole.yaml"}]})
    written(tmp_path / "part.yaml", part)
    whole = jsonpatch.apply_patch(part, [{"op": "add", "path": pointer, "value": value}])
    written(tmp_path / "whole.yaml", whole)

    assert names(read(tmp_path / "whole.yaml")) == ["part"]
    assert names(read(tmp_path / "part.yaml")) == []


def test_a_kustomization_that_is_a_pipe_a_link_out_of_the_repository_or_above_it_makes_no_patch(tmp_path: Path) -> None:
    patches: paths.Object = {"patches": [{"path": "part.yaml"}, {"path": "repository/part.yaml"}]}
    written(tmp_path / "kustomization.yaml", patches)
    tree = tmp_path / "repository"
    part = written(tree / "part.yaml", PART)
    (tree / ".git").mkdir()
    os.mkfifo(tree / "kustomization.yaml")
    (tree / "kustomization.yml").symlink_to(tmp_path / "kustomization.yaml")

    assert names(read(part)) == ["part"]


@pytest.mark.parametrize(
    "content", ["patches: 7", "patches: [{path: 7}, [], null]", "[" * 1000, 'patches: [{path: "a\\0b"}]', "\x00", "- a"]
)
def test_a_broken_kustomization_makes_no_patch(tmp_path: Path, content: str) -> None:
    (tmp_path / "kustomization.yaml").write_text(content)
    written(tmp_path / "part.yaml", PART)

    assert names(read(tmp_path / "part.yaml")) == ["part"]
