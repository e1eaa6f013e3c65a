"""The variables that an MPI launcher passes to the ranks that it starts.

Sources: mpirun(1) of Open MPI on `-x`; Intel MPI and MPICH on `-genv` and `-env`.
"""

import re
from collections.abc import Sequence
from typing import Final

from usher.reading.environment import READ_VARIABLES

_LAUNCHERS: Final = ("mpirun", "mpiexec")
_LONGEST_COMMAND: Final = 16_384
_OPTION: Final = re.compile(r"(?:^|\s)(?:-x|-genv|-env)\s{1,40}[\"']?([A-Z][A-Z0-9_]{0,80})", re.ASCII)


def read(command: Sequence[str]) -> tuple[str, ...]:
    """The names that the command passes on, from the families that rules read, in order; empty without a launcher."""
    text = "\n".join(command)
    if len(text) > _LONGEST_COMMAND or not any(launcher in text for launcher in _LAUNCHERS):
        return ()
    return tuple(sorted({name for name in _OPTION.findall(text) if name.startswith(READ_VARIABLES)}))
