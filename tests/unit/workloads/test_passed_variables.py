"""The variables that a launcher of MPI hands to its ranks."""

import pytest

from usher.workloads import containers


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("mpirun", "-x", "NCCL_DEBUG=WARN", "-x", "UCX_TLS", "python", "train.py"), ("NCCL_DEBUG", "UCX_TLS")),
        (("bash", "-c", "mpirun -np 2 \\\n  -x NCCL_IB_HCA='=mlx5_0' -x PATH train"), ("NCCL_IB_HCA",)),
        (
            ("mpiexec.hydra", "-genv", "FI_PROVIDER", "efa", "-env", "NCCL_DEBUG", "INFO", "train"),
            ("FI_PROVIDER", "NCCL_DEBUG"),
        ),
        (("mpirun", "-np", "2", "train"), ()),
        (("docker", "run", "-x", "NCCL_DEBUG"), ()),
        (("mpirun", *(["-x", "NCCL_DEBUG"] * 2_000)), ()),
        ((), ()),
    ],
)
def test_the_options_of_the_launcher_name_them(command: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert containers.passed_variables(command) == expected
