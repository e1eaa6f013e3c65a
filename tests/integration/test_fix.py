"""`usher fix`: what it writes, what it skips, and its exit codes.

tests/data/fixing holds files as people write them and as the command leaves them, with its account. After an intended
change, `USHER_UPDATE_GOLDEN=1 pytest` of this file writes them again; read the diff.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from integration.command import EXAMPLES, bad, config, good, manifest, usher, usher_process, write

GOLDEN = Path(__file__).parents[1] / "data" / "fixing"
SITE = EXAMPLES / "usher.yaml"

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: m  # the model
    image: x
    resources: {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 1}}
"""
FIXED = (
    POD.replace("requests: {nvidia.com/gpu: 1}", "requests: {nvidia.com/gpu: 2}")
    + "  tolerations:\n  - key: nvidia.com/gpu\n    operator: Exists\n    effect: NoSchedule\n"
)


def pod(folder: Path, name: str = "pod.yaml", text: str = POD) -> Path:
    file = folder / name
    file.write_bytes(text.encode())
    return file


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.before.*")), ids=lambda file: file.name.partition(".")[0])
def test_files_read_as_their_golden_files_and_a_second_run_changes_nothing(file: Path, tmp_path: Path) -> None:
    name, _, suffix = file.name.partition(".before")
    copy = tmp_path / f"{name}{suffix}"
    shutil.copyfile(file, copy)

    run = usher("fix", copy.name, "--config", SITE, cwd=tmp_path)
    again = usher("fix", copy.name, "--config", SITE, "--dry-run", cwd=tmp_path)

    after, said = GOLDEN / f"{name}.after{suffix}", GOLDEN / f"{name}.said.txt"
    if os.environ.get("USHER_UPDATE_GOLDEN"):
        after.write_bytes(copy.read_bytes())
        said.write_text(run.out)
    assert copy.read_bytes() == after.read_bytes()
    assert run.out == said.read_text()
    assert again.out == ""


def test_mutations_and_remedies_are_written_and_then_nothing_is_left(tmp_path: Path) -> None:
    file = pod(tmp_path)

    first = usher("fix", file.name, cwd=tmp_path)
    second = usher("fix", file.name, cwd=tmp_path)

    assert (first.code, second.code) == (0, 0)
    assert file.read_text() == FIXED
    assert "8 + USH103 gpu-requests-equal-limits" in first.out
    assert second.out.startswith("nothing to change")


@pytest.mark.process
def test_a_dry_run_prints_a_diff_that_patch_applies_and_writes_nothing(tmp_path: Path) -> None:
    text = POD.rstrip("\n").replace("\n", "\r\n")
    file = pod(tmp_path, text=text)

    run = usher_process("fix", "--dry-run", file.name, cwd=tmp_path)

    assert run.code == 1
    assert file.read_bytes() == text.encode()
    assert "would change 1 object in 1 file" in run.err
    patch = ["patch", "--binary", "-p0"]
    subprocess.run(patch, input=run.out.encode(), cwd=tmp_path, check=True, capture_output=True)
    assert file.read_bytes() == FIXED.rstrip("\n").replace("\n", "\r\n").encode()


def test_standard_input_goes_to_standard_output_changed_or_not() -> None:
    assert usher("fix", "-", stdin=POD).out == FIXED
    assert usher("fix", "-", stdin=manifest(good())).out == manifest(good())


def test_only_one_sort_of_change_or_only_one_check_is_written(tmp_path: Path) -> None:
    mutations, remedies = (pod(tmp_path, f"{name}.yaml") for name in ("mutations", "remedies"))
    check = pod(tmp_path, "check.yaml")

    usher("fix", "--only", "mutations", mutations)
    usher("fix", "--only", "remedies", remedies)
    usher("fix", "--select", "gpu-toleration", check)

    assert "tolerations" in mutations.read_text()
    assert "requests: {nvidia.com/gpu: 1}" in mutations.read_text()
    assert remedies.read_text() == FIXED.partition("  tolerations")[0]
    assert check.read_text() == mutations.read_text()


def test_what_the_webhook_does_in_silence_is_written_only_on_request() -> None:
    assert (
        "name: NVIDIA_VISIBLE_DEVICES\n"
        in usher("fix", "--select", "visible-devices-void", "-", stdin=manifest(good())).out
    )


def test_an_unknown_check_is_named(tmp_path: Path) -> None:
    run = usher("fix", "--select", "USH9999", pod(tmp_path))

    assert run.code == 2
    assert "USH9999" in run.err


def test_a_check_that_the_site_switched_off_has_no_remedy(tmp_path: Path) -> None:
    off = config(
        tmp_path / "usher.yaml", enforcement={"rules": [{"check": "gpu-requests-equal-limits", "action": "off"}]}
    )
    file = write(tmp_path / "bad.yaml", bad())

    usher("fix", "--only", "remedies", "--config", off, file)

    assert file.read_text() == manifest(bad())


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    file, link = pod(tmp_path), tmp_path / "link.yaml"
    link.symlink_to(file.name)

    assert usher("fix", link).code == 0
    assert link.is_symlink()
    assert file.read_text() == FIXED


def test_a_read_only_file_stays_as_it_is(tmp_path: Path) -> None:
    file, other = pod(tmp_path), pod(tmp_path, "other.yaml")
    file.chmod(0o444)

    run = usher("fix", file, other)

    assert run.code == 2
    assert "pod.yaml: the file is read-only; usher changed nothing in it" in run.out
    assert "changed 1 object in 1 file" in run.out
    assert (file.read_text(), other.read_text()) == (POD, FIXED)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.yaml", "pod.yaml"]


def test_the_mode_of_a_file_stays(tmp_path: Path) -> None:
    file = pod(tmp_path)
    file.chmod(0o640)

    usher("fix", file)

    assert file.stat().st_mode & 0o777 == 0o640


def test_templates_of_a_chart_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").touch()
    file = pod(tmp_path / "templates")

    assert "no manifests found" in usher("fix", tmp_path).err
    run = usher("fix", file)

    assert run.code == 2
    assert "a template of a Helm chart, which usher does not edit" in " ".join(run.out.split())
    assert file.read_text() == POD


def test_a_file_that_does_not_parse_is_named_and_the_others_are_written(tmp_path: Path) -> None:
    file, broken = pod(tmp_path), pod(tmp_path, "broken.yaml", "apiVersion: v1\nkind: [\n")

    run = usher("fix", tmp_path)

    assert run.code == 2
    assert "broken.yaml:" in run.out
    assert broken.read_text() == "apiVersion: v1\nkind: [\n"
    assert file.read_text() == FIXED


def test_a_change_behind_an_alias_is_reported_with_its_line_and_the_others_are_made(tmp_path: Path) -> None:
    text = POD.replace("resources: {limits", "resources: &r {limits") + "  # shared\nx-other: *r\n"
    file = pod(tmp_path, text=text)

    run = usher("fix", file.name, cwd=tmp_path)

    assert run.code == 2
    assert "8 ! USH103 gpu-requests-equal-limits" in run.out
    assert "1 change could not be made" in run.out
    assert "tolerations" in file.read_text()
    assert "requests: {nvidia.com/gpu: 1}" in file.read_text()


def test_items_of_a_list_are_fixed_where_they_stand(tmp_path: Path) -> None:
    lines = POD.rstrip().split("\n")
    item = "- " + "\n  ".join(lines[2:])
    file = pod(tmp_path, text=f"apiVersion: v1\nkind: PodList\nitems:\n{item}\n{item.replace('name: a', 'name: b')}\n")

    assert usher("fix", file).code == 0
    assert file.read_text().count("requests: {nvidia.com/gpu: 2}") == 2
    assert file.read_text().count("\n    tolerations:\n    - key: nvidia.com/gpu\n") == 2
    assert file.read_text().count("kind: Pod") == 1
