"""Which modules of usher a call enters."""

import sys
from collections.abc import Callable, Collection
from pathlib import Path
from types import CodeType, FrameType

import usher

_ROOT = Path(usher.__file__).parent

VALUES = ("errors", "model", "paths", "quantities")
"""Packages and modules that hold values alone; they are not counted."""


def modules_entered(call: Callable[[], object], *, without: Collection[CodeType]) -> list[str]:
    """The names of the modules, without `usher.`, in the order in which a call enters them.

    Args:
        call: runs in this thread.
        without: functions; what they call is not counted.
    """
    found: dict[str, None] = {}
    inside = 0

    def note(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal inside
        code = frame.f_code
        if event == "call" and not inside and (name := _module(code)):
            found[name] = None
        if code in without:
            inside += {"call": 1, "return": -1}.get(event, 0)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return [name for name in found if name.partition(".")[0] not in VALUES]


def _module(code: CodeType) -> str:
    path = Path(code.co_filename)
    return ".".join(path.relative_to(_ROOT).with_suffix("").parts) if path.is_relative_to(_ROOT) else ""
