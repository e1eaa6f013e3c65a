"""How a shell completes paths and revisions of the command line; usher itself reads only a list of names from git."""

import contextlib
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem

from usher import errors

_SECONDS: Final = 2.0
"""A person waits for the answer."""


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's signature
    """Leaves the value to the completion of files that the shell has."""
    return [CompletionItem(incomplete, type="file")]


def directories(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's signature
    """Leaves the value to the completion of directories that the shell has."""
    return [CompletionItem(incomplete, type="dir")]


def facts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`live` once its beginning is typed and no file begins like that; files otherwise."""
    if incomplete and "live".startswith(incomplete) and not any(Path().glob(f"{incomplete}*")):
        return [CompletionItem("live", help="the cluster of the current context")]
    return files(ctx, param, incomplete)


def revisions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's signature
    """The branches and tags of the repository; empty outside of one."""
    from usher.scan import programs

    git = programs.find("git")
    if git is None:
        return []
    listed = b""
    with contextlib.suppress(errors.InputError):
        listed = programs.output(
            [git, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags"],
            seconds=_SECONDS,
        )
    names = listed.decode(errors="replace").splitlines()
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
