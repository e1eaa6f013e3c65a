"""`usher manifests floor`: rules that the API server keeps by itself."""

from pathlib import Path

import click

from usher.cli import inputs


@click.command()
@click.option("--static", is_flag=True, help="For a folder that the API server reads at its start, instead of kubectl.")
@click.option("--check", "checks", multiple=True, metavar="CODE", help="Only this check or mutation. Repeatable.")
@inputs.config_option
def floor(*, static: bool, checks: tuple[str, ...], config: Path | None) -> None:
    """Print policies in CEL for the critical checks, which hold while no webhook answers.

    \b
    usher manifests floor | kubectl apply -f -
    """
    import yaml

    from usher.install.manifests import floor as manifests_floor
    from usher.policy.checks import bundle
    from usher.policy.decision import today

    site = inputs.load_config(inputs.find_config(config))
    catalogue = bundle.load().catalogue
    unknown = sorted(set(checks) - manifests_floor.part_names(catalogue))
    if unknown:
        known = ", ".join(sorted(manifests_floor.part_names(catalogue)))
        raise click.UsageError(f"--check {unknown[0]}: the floor has {known}")
    found = manifests_floor.floor_objects(site, catalogue, today=today(), static=static, only=checks)
    if not found:
        click.echo("usher.yaml does not let these checks deny, so the floor is empty", err=True)
    click.echo(yaml.safe_dump_all(found, sort_keys=False, width=120), nl=False)
