"""`usher completion`: the script by which a shell completes the commands and options of usher."""

from typing import Final

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

_SHELLS: Final[dict[str, type[ShellComplete]]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command(
    epilog="""\b
Examples:
  source <(usher completion bash)          in ~/.bashrc
  source <(usher completion zsh)           in ~/.zshrc
  usher completion fish > ~/.config/fish/completions/usher.fish"""
)
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def completion(context: click.Context, *, shell: str) -> None:
    """Print the script that lets SHELL complete the commands and options of usher."""
    from usher.cli.main import COMPLETION_VARIABLE

    script = _SHELLS[shell](context.find_root().command, {}, "usher", COMPLETION_VARIABLE)
    click.echo(script.source())
