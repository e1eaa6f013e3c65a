"""Paths of files: however a manifest spells one, rules see the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.kinds.reading import shapes


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("/dev/shm", "/dev/shm"),
        ("/dev/shm/", "/dev/shm"),
        ("/dev//shm///", "/dev/shm"),
        ("//dev/shm", "/dev/shm"),
        ("/dev/./shm/.", "/dev/shm"),
        ("/dev/dri/../shm", "/dev/shm"),
        ("/../../dev/shm", "/dev/shm"),
        ("dev/shm", "/dev/shm"),
        ("./dev/shm", "/dev/shm"),
        ("../dev/shm", "/dev/shm"),
        ("/", "/"),
        ("//", "/"),
        ("/dev/..", "/"),
        (".", "/"),
        ("", ""),
        ("/.cache/..data", "/.cache/..data"),
        (".cache", "/.cache"),
    ],
)
def test_a_file_has_one_plain_path(path: str, plain: str) -> None:
    assert shapes.clean_path(path) == plain


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/var/run", "/run"),
        ("/var/run/docker.sock", "/run/docker.sock"),
        ("/var/lib/../run//docker.sock", "/run/docker.sock"),
        ("/var/runtime", "/var/runtime"),
        ("/var", "/var"),
        ("/run", "/run"),
        ("/proc/1/root", "/"),
        ("/proc/self/root/dev/nvidia0", "/dev/nvidia0"),
        ("/proc/thread-self/cwd/etc", "/etc"),
        ("/proc/1/root/proc/17/root/var/run/containerd", "/run/containerd"),
        ("/proc/1/rooted", "/proc/1/rooted"),
        ("/proc/1/task/1/root/dev/nvidia0", "/dev/nvidia0"),
        ("/lib/systemd/system", "/usr/lib/systemd/system"),
        ("/library", "/library"),
        ("/data/bin", "/data/bin"),
        ("//bin/", "/usr/bin"),
        ("/var/roothome/.ssh", "/root/.ssh"),
        # /var/run/.. is /run/.., not /var.
        ("/var/run/../etc/cron.d", "/etc/cron.d"),
        ("var/run", "/run"),
        ("/../..", "/"),
        ("/proc/sys", "/proc/sys"),
        ("/data/proc/1/root", "/data/proc/1/root"),
        ("/data/var/run", "/data/var/run"),
        ("", ""),
    ],
)
def test_links_that_every_node_has_are_followed(path: str, place: str) -> None:
    assert shapes.path_on_node(path) == place


@pytest.mark.parametrize(
    ("place", "general"),
    [
        ("/home/anna", "/home/USER"),
        ("/home/anna/.ssh/id", "/home/USER/.ssh/id"),
        ("/home/kubernetes/bin", "/home/kubernetes/bin"),
        ("/home/kubernetes-data/x", "/home/USER/x"),
        ("/home", "/home"),
        ("/proc/17/environ", "/proc/PID/environ"),
        ("/proc/self", "/proc/PID"),
        ("/proc/sys", "/proc/sys"),
        ("/data/home/anna", "/data/home/anna"),
    ],
)
def test_one_of_many_directories_has_a_general_path(place: str, general: str) -> None:
    assert shapes.general_path(place) == general


@given(st.text(alphabet="/.ab", max_size=40))
def test_a_plain_path_stays_as_it_is(path: str) -> None:
    plain = shapes.clean_path(path)

    assert shapes.clean_path(plain) == plain
    assert plain == "" or (plain.startswith("/") and "//" not in plain)
    assert not {".", ".."} & set(plain.split("/"))
