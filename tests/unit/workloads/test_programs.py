"""The programs that a command starts, in the plain forms that usher reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.workloads import roles


def started(*command: str) -> list[str]:
    """The programs of a command as lines, without those that only prepare or wait."""
    return [" ".join(each.words) for each in roles.read_programs(command) if not roles.is_beside(each)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("torchrun", "train.py"), "torchrun train.py"),
        (("python3.11", "-u", "train.py"), "python train.py"),
        (("/usr/bin/tini", "-g", "--", "vllm", "serve", "x"), "vllm serve x"),
        (("env", "A=b", "vllm", "serve"), "vllm serve"),
        (("uv", "run", "train.py"), "train.py"),
        (("timeout", "30", "vectorAdd"), "vectorAdd"),
        (("bash", "run.sh", "worker"), "run.sh worker"),
    ],
)
def test_wrappers_around_a_program_are_taken_off(command: tuple[str, ...], expected: str) -> None:
    assert started(*command) == [expected]


def test_a_script_starts_each_of_its_statements() -> None:
    script = (
        "set -ex\ncd /data && pip install verl\nexport A=b; A=c python3 -m verl.trainer.main_ppo \\\n  x=1 | tee log"
    )

    assert started("bash", "-c", script) == ["pip install verl", "python -m verl.trainer.main_ppo x=1", "tee log"]
    assert started("/bin/sh", "-ec", "--", "vllm serve x") == ["vllm serve x"]


def test_words_of_shells_around_a_statement_are_taken_off() -> None:
    assert started("sh", "-c", "while true; do /cuda-samples/vectorAdd; done") == ["/cuda-samples/vectorAdd"]
    assert started("sh", "-c", "if ! (torchrun train.py); then echo bad; fi") == ["torchrun train.py"]


def test_behind_a_launcher_of_mpi_every_word_may_be_the_program() -> None:
    found = roles.read_programs(("mpirun", "-np", "4", "-x", "PATH", "nvbandwidth", "-t", "copy"))

    assert roles.is_mpi_launcher(found[0])
    assert ("nvbandwidth", "-t", "copy") in [each.words for each in found if each.by_mpi]


def test_arguments_alone_start_no_program() -> None:
    assert started("--model", "llama") == []
    assert started() == []


def test_a_command_of_any_size_costs_little() -> None:
    assert roles.read_programs(("bash", "-c", "x;" * 100_000)) == ()
    assert len(roles.read_programs(("bash", "-c", "x;" * 5_000))) == roles.MOST_PROGRAMS


@given(st.lists(st.text(alphabet="abc -=;|&\n\"'$(){}/\\", max_size=40), max_size=6))
def test_no_text_is_too_odd_to_be_read(command: list[str]) -> None:
    for prefix in ([], ["bash", "-c"], ["mpirun"], ["env"], ["python3"]):
        for program in roles.read_programs([*prefix, *command]):
            assert program.words
