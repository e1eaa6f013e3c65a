"""`usher completion`: the script by which a shell completes the commands and options of usher."""

from typing import Final

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

VARIABLE: Final = "_USHER_COMPLETE"
"""Set by the script of `usher completion` when it asks for completions."""


class _Bash(BashComplete):
    """Bash, whose words end at `=`: it passes `--format=sa` as three words, and click expects one."""

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        *complete, incomplete = joined([*args, incomplete])
        return complete, incomplete


class _Zsh(ZshComplete):
    """zsh, which replaces the whole word `--fail-on=d`."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        return whole_words(super().get_completions(args, incomplete), incomplete)


class _Fish(FishComplete):
    """fish, which compares with the whole word `--fail-on=d`."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        return whole_words(super().get_completions(args, incomplete), incomplete)


SHELLS: Final[dict[str, type[ShellComplete]]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}


def add_shells() -> None:
    """Makes click complete for our shells."""
    for name, shell in SHELLS.items():
        add_completion_class(shell, name)


def whole_words(items: list[CompletionItem[str]], incomplete: str) -> list[CompletionItem[str]]:
    """The values of an option, with the option before them if one word holds both."""
    option, equals, _ = incomplete.partition("=")
    if not equals or not option.startswith("-"):
        return items
    return [
        CompletionItem(f"{option}={each.value}", type=each.type, help=each.help) if each.type == "plain" else each
        for each in items
    ]


def joined(words: list[str]) -> list[str]:
    """The words of a command line; the words around a single `=` become one."""
    found: list[str] = []
    for place, word in enumerate(words):
        if found and (word == "=" or words[place - 1] == "="):
            found[-1] += word
        else:
            found.append(word)
    return found


@click.command(
    epilog="""\b
Examples:
  source <(usher completion bash)          in ~/.bashrc
  source <(usher completion zsh)           in ~/.zshrc
  usher completion fish > ~/.config/fish/completions/usher.fish"""
)
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(context: click.Context, *, shell: str) -> None:
    """Print the script that lets SHELL complete the commands and options of usher."""
    script = SHELLS[shell](context.find_root().command, {}, "usher", VARIABLE)
    click.echo(script.source())
