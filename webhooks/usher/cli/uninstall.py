"""`usher uninstall`: removes gpu-usher from a cluster, so that nothing waits for it afterwards."""

from pathlib import Path

import click

from usher.cli import inputs
from usher.install import installed_objects
from usher.install.installed_objects import Api, Part


@inputs.command("uninstall")
def uninstall(
    kubeconfig: Path | None,
    context_name: str | None,
    server_namespace: str,
    *,
    dry_run: bool,
    yes: bool,
    with_quotas: bool,
) -> None:
    from usher.check.formats import wording
    from usher.cluster import connection

    api = connection.connect(kubeconfig=kubeconfig, context=context_name)
    parts = [
        *installed_objects.parts(server_namespace),
        *([installed_objects.quota_definition_part()] if with_quotas else []),
    ]
    there = [part for part in parts if installed_objects.is_there(api, part.path)]
    click.echo(f"{wording.harmless(wording.printable(api.name))}: {len(there)} objects of gpu-usher")
    for part in there:
        click.echo(f"  {part.title}")
    _tell_about_quotas(api, with_quotas=with_quotas)
    if dry_run or not there:
        return
    if not yes:
        click.confirm("Remove them?", abort=True)
    for part in there:
        _remove(api, part)


def _remove(api: Api, part: Part) -> None:
    label = (installed_objects.PART_OF, "gpu-usher") if part.only_ours else None
    click.echo(f"{installed_objects.remove(api, part.path, label=label)}: {part.title}")


def _tell_about_quotas(api: Api, *, with_quotas: bool) -> None:
    number = installed_objects.count_objects(api, installed_objects.GPU_QUOTAS)
    if number is None:
        return
    word = "GPUQuota" if number == 1 else "GPUQuotas"
    click.echo(
        f"--with-quotas deletes {number} {word}, and no quota holds afterwards"
        if with_quotas
        else f"{number} {word} and their definition stay; --with-quotas would delete them. A later installation counts "
        "what exists before it enforces them"
    )
