"""How a shell completes paths and revisions of the command line; usher itself reads only a list of names from git."""

import contextlib
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem

from usher import errors

_SECONDS: Final = 2.0
"""Seconds for an answer of git, because a person waits."""


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's signature
    """Tells the shell to complete files itself."""
    return [CompletionItem(incomplete, type="file")]


def directories(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's signature
    """Tells the shell to complete directories itself."""
    return [CompletionItem(incomplete, type="dir")]


def facts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`live` if it matches the input and no file does; else files."""
    if incomplete and "live".startswith(incomplete) and not any(Path().glob(f"{incomplete}*")):
        return [CompletionItem("live", help="the cluster of the current context")]
    return files(ctx, param, incomplete)


def revisions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's signature
    """The branches and tags of the repository; empty outside of one."""
    from usher.check import sources

    git = sources.find_program("git")
    if git is None:
        return []
    listed = b""
    with contextlib.suppress(errors.InputError):
        listed = sources.program_output(
            [git, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags"],
            seconds=_SECONDS,
        )
    names = listed.decode(errors="replace").splitlines()
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
