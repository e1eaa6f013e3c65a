"""Changes of a text, for tests that show the text before and after."""

import copy
from typing import Any, Final

from usher import paths
from usher.check.fix import rewriting
from usher.documents import reader

GONE: Final = object()


def rewritten(text: str | bytes, changes: dict[str, Any], *, document: int = 0) -> rewriting.Rewritten:
    """A file after values are set at pointers; GONE removes, and the pointer /- appends."""
    content = text.encode() if isinstance(text, str) else text
    documents = reader.parse(content, source="job.yaml")
    wanted = copy.deepcopy(documents[document].value)
    for pointer, value in changes.items():
        above, _, last = pointer.rpartition("/")
        holder: Any = paths.resolve(wanted, above)
        (key,) = paths.split(f"/{last}")
        if value is GONE:
            del holder[int(key) if isinstance(holder, list) else key]
        elif key == "-":
            holder.append(value)
        else:
            holder[int(key) if isinstance(holder, list) else key] = value
    return rewriting.rewrite(content, documents, {document: wanted})


def edited(text: str, changes: dict[str, Any]) -> str:
    """The new text; every change must be possible."""
    done = rewritten(text, changes)
    assert not done.refusals
    return done.content.decode()


def refused(text: str, changes: dict[str, Any]) -> tuple[int, str]:
    """The line and the reason of the first refusal; nothing may be written."""
    done = rewritten(text, changes)
    assert done.content == text.encode()
    refusal = done.refusals[0][0]
    return refusal.line, refusal.reason
