"""The commands of containers with accelerators start a number of processes, or only a wait."""

import pytest

import builders
from unit.workloads.normalised import pod_set, unknowns
from usher import paths

Processes = tuple[int, str]


def launched(**fields: paths.Json) -> Processes | None:
    """Number of processes of a container with GPUs, and where that is said within it."""
    (found,) = pod_set(builders.pod({**builders.container(gpus=8), **fields})).containers
    if found.processes is None:
        return None
    return found.processes["number"], found.processes["path"].removeprefix("/spec/containers/0/")


def idle_command(**fields: paths.Json) -> str:
    (found,) = pod_set(builders.pod({**builders.container(gpus=8), **fields})).containers
    return found.idle_command.removeprefix("/spec/containers/0/")


@pytest.mark.parametrize(
    ("command", "processes"),
    [
        (["torchrun", "--nproc-per-node=8", "train.py"], (8, "command/1")),
        (["torchrun", "--nproc_per_node=8", "train.py"], (8, "command/1")),
        (["python", "-m", "torch.distributed.run", "--nproc_per_node", "4", "train.py"], (4, "command/3")),
        (["bash", "-c", "torchrun --nnodes=2 --nproc_per_node 8 train.py"], (8, "command/2")),
        (["bash", "-c", "torchrun --nproc_per_node='8' train.py; true"], (8, "command/2")),
        (["bash", "-c", "torchrun \\\n  --nproc-per-node=2 \\\n  train.py"], (2, "command/2")),
        (["bash", "-c", "torchrun --nproc_per_node=8&&sync"], (8, "command/2")),
        (["bash", "-c", "a --nproc_per_node=8 x; b --nproc_per_node=8 y"], (8, "command/2")),
        # Which of the two runs, the script decides.
        (["bash", "-c", "a --nproc_per_node=8 x || b --nproc_per_node=1 y"], None),
        (["torchrun", "--nproc-per-node=auto", "train.py"], None),
        (["torchrun", "--nproc-per-node=gpu", "train.py"], None),
        (["torchrun", "--nproc-per-node", "train.py"], None),
        (["torchrun", "--nproc-per-node"], None),
        (["torchrun", "--nproc-per-node=8.5", "train.py"], None),
        (["torchrun", "--nproc-per-node=1234567890", "train.py"], None),
        (["torchrun", "--nproc-per-nodes=8", "train.py"], None),
        (["torchrun", "train.py"], None),
        (["bash", "-c", "make -j$(nproc)"], None),
        (["bash", "-c", "torchrun --nproc_per_node=$(nvidia-smi -L | wc -l) train.py"], None),
    ],
)
def test_the_flag_of_the_launcher_gives_the_number_of_processes(
    command: list[paths.Json], processes: Processes | None
) -> None:
    assert launched(command=command) == processes


def test_the_flag_may_stand_among_the_arguments() -> None:
    args: paths.Json = ["train.py", "--nproc-per-node=2"]

    assert launched(args=args) == (2, "args/1")
    assert launched(command=["torchrun", "--standalone"], args=args) == (2, "args/1")
    assert launched(command=["torchrun"], args=["--nproc-per-node", "2"]) == (2, "args/0")
    assert launched(command=["torchrun", "--nproc-per-node"], args=["2"]) == (2, "command/1")


@pytest.mark.parametrize("reference", ["$(GPUS)", "${GPUS}", "$GPUS"])
def test_a_variable_in_its_place_is_looked_up_in_the_container(reference: str) -> None:
    command: paths.Json = ["bash", "-c", f"torchrun --nproc_per_node={reference} train.py"]
    env: list[paths.Json] = [{"name": "GPUS", "value": "4"}, {"name": "GPUS", "value": "8"}, {"name": "OTHER"}]

    assert launched(command=command, env=env) == (8, "command/2")


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "GPU", "value": "8"},
        {"name": "GPUS", "value": "$(OTHER)"},
        {"name": "GPUS", "value": "eight"},
        {"name": "GPUS", "value": ""},
        {"name": "GPUS", "valueFrom": {"configMapKeyRef": {"name": "sizes", "key": "gpus"}}},
    ],
)
def test_a_variable_whose_value_is_not_known_tells_nothing(entry: paths.Object) -> None:
    assert launched(command=["torchrun", "--nproc-per-node=$(GPUS)", "train.py"], env=[entry]) is None


@pytest.mark.parametrize("reference", ["${GPUS:-8}", "$", "$(GPUS", "$GPUS-8"])
def test_what_only_a_shell_could_work_out_tells_nothing(reference: str) -> None:
    env: list[paths.Json] = [{"name": "GPUS", "value": "4"}]

    assert launched(command=["bash", "-c", f"torchrun --nproc_per_node={reference} train.py"], env=env) is None


@pytest.mark.parametrize("name", ["PET_NPROC_PER_NODE", "NPROC_PER_NODE"])
def test_without_the_flag_the_variables_of_the_launcher_count(name: str) -> None:
    command: list[paths.Json] = ["torchrun", "train.py"]

    assert launched(env=[{"name": name, "value": "4"}]) == (4, "env/0")
    assert launched(command=command, env=[{"name": name, "value": "4"}]) == (4, "env/0")
    assert launched(command=command, env=[{"name": name, "value": "auto"}]) is None
    assert launched(command=command, env=[{"name": name, "value": "$(GPUS)"}]) is None
    assert launched(command=[*command, "--nproc-per-node=8"], env=[{"name": name, "value": "4"}]) == (8, "command/2")
    assert launched(command=[*command, "--nproc-per-node=auto"], env=[{"name": name, "value": "4"}]) is None


def test_of_the_variables_that_of_torchrun_counts_and_of_two_entries_the_last() -> None:
    env: list[paths.Json] = [
        {"name": "PET_NPROC_PER_NODE", "value": "8"},
        {"name": "PET_NPROC_PER_NODE", "value": "4"},
        {"name": "NPROC_PER_NODE", "value": "2"},
    ]

    assert launched(env=env) == (4, "env/1")
    assert launched(env=[{"name": "PET_NPROC_PER_NODE", "value": "gpu"}, env[2]]) is None
    assert launched(env=[{"name": "NCCL_DEBUG", "value": "8"}]) is None


@pytest.mark.parametrize(
    "command",
    [
        ["sleep", "infinity"],
        ["/bin/sleep", "inf"],
        ["sleep", "3600"],
        ["sleep", "60m"],
        ["sleep", "1h"],
        ["sleep", "1.5d"],
        ["tini", "--", "sleep", "infinity"],
        ["tail", "-f", "/dev/null"],
        ["tail", "-F", "/dev/null"],
        ["bash", "-c", "sleep infinity"],
        ["/bin/sh", "-ec", "exec tail -f /dev/null"],
        ["bash", "-o", "pipefail", "-c", "sleep 2d"],
        ["sh", "-c", "# wait for kubectl exec\nsleep infinity"],
        ["sh", "-c", "nvidia-smi -L; trap 'exit 0' TERM; sleep 9999 & wait"],
        ["sh", "-c", "set -e\necho ready\nsleep 7200\n"],
        ["sh", "-c", "while true; do sleep 30; done"],
        ["sh", "-c", "while :; do date; sleep 5; done"],
        ["sh", "-c", "until false; do sleep 5; done"],
        ["/bin/bash", "-c", "--", "while true; do sleep 30; done;"],
        ["bash", "-c", "while [ 1 ]; do sleep 5; done"],
        ["bash", "-c", "while (( 1 )); do sleep 10; done"],
        ["bash", "-c", "for ((;;)); do sleep 60; done"],
        ["bash", "-c", "while sleep 60; do :; done"],
        ["/pause"],
        ["python3", "-c", "import time; time.sleep(1000000)"],
        ["python", "-c", "import time\nwhile True: time.sleep(60)"],
    ],
)
def test_a_command_that_only_waits_is_found(command: list[paths.Json]) -> None:
    assert idle_command(command=command) == "command"
    assert idle_command(args=command) == "args"


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["sleep"],
        ["sleep", "3599"],
        ["sleep", "59m"],
        ["sleep", "$(SECONDS)"],
        ["sleep", "5w"],
        ["tail", "-f", "/var/log/train.log"],
        ["tail", "/dev/null"],
        ["tail", "-n", "/dev/null"],
        ["python", "sleep.py"],
        ["python", "-c", "sleep infinity"],
        ["bash", "sleep infinity"],
        ["bash", "-c"],
        ["bash", "-x", "tail -f /dev/null"],
        ["sh", "-c", "echo sleep"],
        ["sh", "-c", "sleep 30"],
        ["sh", "-c", "sleep 30; while true; do date; done"],
        # The ranks of other containers come in through sshd.
        ["bash", "-c", "service ssh start; sleep infinity"],
        ["bash", "-c", "/usr/sbin/sshd && sleep infinity"],
        ["bash", "-c", "python train.py; sleep infinity"],
        ["bash", "-c", "--"],
        ["bash", "-c", "until [ -f /data/ready ]; do sleep 5; done; python train.py"],
        ["python", "-c", "import time; time.sleep(5)"],
        ["pause", "here"],
        ["bash", "-c", "while true; do python step.py; sleep 60; done"],
        ["bash", "-c", "echo train | python -; sleep infinity"],
        ["bash", "-c", "echo $(python train.py); sleep infinity"],
        ["bash", "-c", "echo `python train.py`; sleep infinity"],
        ["bash", "-c", "sleep infinity # " + "x" * 4096],
    ],
)
def test_a_command_that_may_do_something_is_not(command: list[paths.Json]) -> None:
    assert idle_command(command=command) == ""


def test_the_image_pause_only_waits_unless_it_gets_a_command() -> None:
    assert idle_command(image="registry.k8s.io/pause:3.10") == "image"
    assert idle_command(image="registry.k8s.io/pause:3.10", command=["python", "train.py"]) == ""
    assert idle_command(image="registry.example.com/pause-and-train:1") == ""


def test_command_and_arguments_are_read_together() -> None:
    assert idle_command(command=["sh", "-c"], args=["sleep infinity"]) == "command"
    assert idle_command(command=["python"], args=["sleep", "infinity"]) == ""


def test_a_number_of_processes_and_an_idle_command_do_not_hide_each_other() -> None:
    fields: paths.Object = {"command": ["sleep", "infinity"], "env": [{"name": "NPROC_PER_NODE", "value": "8"}]}

    assert launched(**fields) == (8, "env/0")
    assert idle_command(**fields) == "command"


def test_commands_are_read_of_containers_with_accelerators_alone() -> None:
    command: paths.Json = ["sh", "-c", "torchrun --nproc_per_node=8 train.py"]
    value = builders.pod(
        {**builders.container("trainer", gpus=8), "command": command},
        {**builders.container("logger"), "command": command, "env": [{"name": "NPROC_PER_NODE", "value": "8"}]},
        {**builders.container("holder"), "command": ["sleep", "infinity"]},
        initContainers=[{**builders.container("warm-up", gpus=1), "command": ["sleep", "infinity"]}],
    )
    found = pod_set(value).containers

    assert [(each.name, each.processes is not None, each.idle_command) for each in found] == [
        ("warm-up", False, "/spec/initContainers/0/command"),
        ("trainer", True, ""),
        ("logger", False, ""),
        ("holder", False, ""),
    ]


@pytest.mark.parametrize(
    ("fields", "known"),
    [
        ({"command": "sleep infinity"}, ("command", "expected a list, found a string")),
        ({"args": {"sleep": "infinity"}}, ("args", "expected a list, found an object")),
        ({"command": ["sleep", 3600]}, ("command/1", "expected a string, found a number; quote it")),
        ({"command": ["torchrun"], "args": [None]}, ("args/0", "expected a string, found null")),
    ],
)
def test_an_invalid_command_is_unknown(fields: paths.Object, known: tuple[str, str]) -> None:
    place, reason = known

    assert unknowns(builders.pod({**builders.container(gpus=8), **fields})) == [(f"/spec/containers/0/{place}", reason)]
