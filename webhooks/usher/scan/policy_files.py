"""Reads the files of policies: templates, constraints, suites, and the objects that suites name."""

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from usher import errors
from usher.documents import chunks, reader
from usher.gatekeeper import bundles, constraints, library, suites
from usher.gatekeeper.compilation import Compiler
from usher.gatekeeper.fields import Written
from usher.gatekeeper.library import Library
from usher.scan import objects, sources
from usher.scan.given_policies import Given


def read(arguments: Sequence[str]) -> Iterator[Written]:
    """The objects of files, and of all files below directories.

    Raises:
        InputError: a file cannot be read.
    """
    for batch in sources.read([_named(argument) for argument in arguments], stdin=io.BytesIO()):
        for problem in batch.problems:
            raise errors.ManifestError(problem.reason, source=problem.source, line=problem.line, column=problem.column)
        for item in batch.items:
            yield Written(
                value=item.value, source=batch.source, line=item.document.line if item.document is not None else 0
            )


def read_library(given: Given, *, compiler: Callable[[], Compiler]) -> Library:
    """The templates and constraints in files, directories and bundles, compiled.

    Raises:
        InputError: a file cannot be read, an object in it is wrong, or there is no constraint.
    """
    built = [bundles.read(each.content, source=each.source) for each in given.bundles]
    found = library.read(read(given.files), compiler=compiler, built=built)
    if not found.constraints:
        names = [*given.files, *(each.source for each in given.bundles)]
        raise errors.InputError(
            f"no constraint found in {', '.join(names)}; a template does nothing without a constraint "
            f"({constraints.GROUP}) of its kind"
        )
    return found


def _named(argument: str) -> str:
    """The path of an argument; `DIR/...` is gator's spelling for a directory with everything below it."""
    if argument == sources.STDIN:
        raise errors.InputError("-: policies are not read from standard input; name their files or directories")
    return argument.removesuffix("/...") or "/"


def read_named(suite: str, path: str) -> list[Written]:
    """The objects of a file that a suite names; a List stays one object, as in gator.

    Raises:
        InputError: the file cannot be read.
    """
    file = Path(suite).parent / path
    try:
        with file.open("rb") as stream:
            content = stream.read(chunks.MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise errors.InputError(f"{file}: cannot be read: {reason[:1].lower()}{reason[1:]}") from None
    documents = reader.parse(content, source=str(file))
    return [
        Written(value=each.value, source=str(file), line=each.line)
        for each in documents
        if isinstance(each.value, dict) and not objects.why_not_object(each.value)
    ]


def read_suites(arguments: Sequence[str]) -> list[suites.Suite]:
    """The suites in files, and in all files below directories.

    Raises:
        InputError: a file cannot be read, or a suite is wrong.
    """
    return [suites.read(written) for written in read(arguments) if suites.is_suite(written.value)]
