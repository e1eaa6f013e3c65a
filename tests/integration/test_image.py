"""The image of scripts/image, run as the user and with the arguments of the Deployment."""

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
import yaml

import builders
from e2e import ports, processes
from reviews import review
from server_process import ServerProcess
from usher.server.certs import issue

pytestmark = pytest.mark.slow

ROOT: Final = Path(__file__).parents[2]
OUTPUT: Final = ROOT / "build" / "image"
DEPLOYMENT: Final[Any] = yaml.safe_load((ROOT / "manifests" / "base" / "deployment.yaml").read_text())

Buildah = Callable[..., list[str]]


@pytest.fixture(scope="module")
def archive() -> Path:
    if os.getuid() or not shutil.which("buildah"):
        pytest.skip("needs root and buildah")
    files = sorted(OUTPUT.glob("gpu-usher-*.tar"))
    if not files:
        pytest.skip("there is no image; make it: scripts/image")
    return files[-1]


@pytest.fixture(scope="module")
def buildah(tmp_path_factory: pytest.TempPathFactory) -> Buildah:
    """The command with these arguments, and a store of its own."""
    store = tmp_path_factory.mktemp("images")
    return lambda *arguments: [
        *("buildah", "--storage-driver=vfs", f"--root={store}/storage", f"--runroot={store}/run"),
        *arguments,
    ]


def output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def container(archive: Path, buildah: Buildah) -> str:
    return output(buildah("from", f"oci-archive:{archive}"))


@pytest.fixture(scope="module")
def run(container: str, buildah: Buildah) -> Buildah:
    """A command in a container of the image, as the image's own user."""

    def command(*arguments: str, volumes: tuple[str, ...] = ()) -> list[str]:
        mounts = [f"--volume={volume}" for volume in volumes]
        return buildah("run", "--isolation=chroot", "--cap-drop=ALL", *mounts, container, "--", *arguments)

    return command


@pytest.fixture(scope="module")
def server(run: Buildah, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    directory = tmp_path_factory.mktemp("image")
    directory.chmod(0o755)
    issue.ensure(directory, names=[processes.LOOPBACK], now=datetime.now(UTC))
    (directory / "tls.key").chmod(0o644)  # a Secret is mounted for the user; a folder of the test is not
    (directory / "usher.yaml").write_text("apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n")
    spec = DEPLOYMENT["spec"]["template"]["spec"]["containers"][0]
    # There is no cluster here that would keep a certificate.
    arguments = [each for each in spec["args"] if each != "--certificates=self-managed"]
    arguments += ["--certificate=/etc/usher/tls/tls.crt", "--key=/etc/usher/tls/tls.key"]
    port, admin_port = ports.free(2)
    running = processes.start(
        "usher",
        run(
            *("python3", "-m", "usher", *arguments, f"--host={processes.LOOPBACK}"),
            *(f"--port={port}", f"--admin-port={admin_port}"),
            volumes=(f"{directory}:/etc/usher/tls:ro", f"{directory}:/etc/usher/config:ro"),
        ),
        health=f"https://{processes.LOOPBACK}:{admin_port}/readyz",
        log=directory / "usher.log",
        env=dict(os.environ),
    )
    server = ServerProcess(directory=directory, port=port, admin_port=admin_port, running=running)
    try:
        processes.wait_until_ready([running], tls=server.client_context())
        yield server
    finally:
        processes.stop(running.process)


def test_it_is_started_as_the_deployment_starts_it(container: str, buildah: Buildah) -> None:
    config = json.loads(output(buildah("inspect", container)))["OCIv1"]["config"]

    assert config["User"] == "65532:65532"
    assert DEPLOYMENT["spec"]["template"]["spec"]["securityContext"]["runAsUser"] == 65532
    assert config["Entrypoint"] == ["python3", "-m", "usher"]
    assert config["Labels"]["org.opencontainers.image.licenses"] == "Apache-2.0"


def test_its_user_is_not_root_and_can_write_only_where_the_deployment_mounts_a_volume(run: Buildah) -> None:
    probe = """
import os
print(os.getuid(), os.getgid())
for top in ("bin", "etc", "home", "lib", "opt", "root", "sbin", "usr", "var"):
    for folder, folders, files in os.walk(f"/{top}"):
        for path in (folder, *(os.path.join(folder, name) for name in files)):
            if not os.path.islink(path) and os.access(path, os.W_OK):
                print(path)
"""
    owner, *writable = output(run("python3", "-c", probe)).splitlines()

    assert owner == "65532 65532"
    assert [path for path in writable if path not in ("/var/tmp", "/var/lock", "/run/lock")] == []


def test_it_holds_no_shell_and_no_package_tool(run: Buildah) -> None:
    probe = "import shutil; print([name for name in ('sh', 'bash', 'apt', 'pip', 'perl') if shutil.which(name)])"

    assert output(run("python3", "-c", probe)) == "[]"


def test_it_starts_from_policies_that_were_compiled_ahead(run: Buildah) -> None:
    probe = """
import wasmtime
from usher.policy.checks import bundle
from usher.policy.engines import machine_code
policies = bundle.load()
file = machine_code.file_beside(policies.directory, policies.module)
print(machine_code.read(wasmtime.Engine(machine_code.configuration()), file) is not None)
"""
    assert output(run("python3", "-c", probe)) == "True"


def test_it_answers_reviews(server: ServerProcess) -> None:
    bad = builders.pod(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}))

    answer = server.review("validate", orjson.dumps(review(bad)))

    assert not answer["allowed"]
    assert "USH201" in answer["status"]["message"]


def test_its_contents_and_its_making_are_written_down(archive: Path) -> None:
    debian, python = (orjson.loads((OUTPUT / f"{name}.cdx.json").read_bytes()) for name in ("debian", "python"))
    provenance = orjson.loads((OUTPUT / "provenance.json").read_bytes())
    with tarfile.open(archive) as tar:
        index = tar.extractfile("index.json")
        assert index
        (manifest,) = orjson.loads(index.read())["manifests"]

    assert {"libc6", "libssl3", "python3.11-minimal"} <= {each["name"] for each in debian["components"]}
    locked = {line.partition("==")[0] for line in (ROOT / "requirements.lock").read_text().splitlines() if "==" in line}
    assert locked == {each["name"] for each in python["components"]}
    assert provenance["subject"][0]["digest"]["sha256"] == manifest["digest"].removeprefix("sha256:")
