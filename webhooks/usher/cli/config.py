"""`usher config`: checks usher.yaml and prints its schema."""

from pathlib import Path

import click


@click.group()
def config() -> None:
    """Check usher.yaml, or print its schema."""


@config.command()
@click.argument("file", type=click.Path(path_type=Path))
def check(file: Path) -> None:
    """Check a configuration file, and name each error with its line."""
    from usher.cli import inputs
    from usher.policy import assembly

    made = assembly.embedded(inputs.load_config(file), file=file)
    for warning in assembly.warnings(made, file=file):
        click.echo(f"usher: warning: {warning}", err=True)
    click.echo(f"{file}: good")


@config.command()
def schema() -> None:
    """Print the JSON Schema of usher.yaml, for editors."""
    import orjson

    from usher.config.models import Config

    value = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Config.model_json_schema(by_alias=True)}
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2))
