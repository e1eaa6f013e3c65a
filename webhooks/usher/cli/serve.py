"""`usher serve`: the admission webhooks."""

import asyncio
from pathlib import Path

import click


@click.command()
@click.option("--certificate", type=click.Path(path_type=Path), help="Serving certificate (PEM).")
@click.option("--key", type=click.Path(path_type=Path), help="Its private key (PEM).")
@click.option("--dev", is_flag=True, help="Make a local CA and certificate in .usher/certs and print requests to try.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="usher.yaml; without it, safe defaults.")
@click.option("--host", default=None, help="Address of the webhook port [default: 0.0.0.0, with --dev 127.0.0.1].")
@click.option("--port", default=8443, show_default=True, type=click.IntRange(0, 65535), help="The webhook port (TLS).")
@click.option("--admin-host", default=None, help="Address of the admin port [default: as --host].")
@click.option(
    "--admin-port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="Probes and metrics (HTTP)."
)
@click.option("--engine", type=click.Choice(["wasm", "opa"]), default="wasm", show_default=True, help="Policy engine.")
@click.option("--opa-url", default="http://127.0.0.1:8181", show_default=True, help="Where OPA is, with --engine opa.")
def serve(  # noqa: PLR0913, PLR0917 - one parameter per option
    certificate: Path | None,
    key: Path | None,
    dev: bool,  # noqa: FBT001 - click passes by name
    config_file: Path | None,
    host: str | None,
    port: int,
    admin_host: str | None,
    admin_port: int,
    engine: str,
    opa_url: str,
) -> None:
    """Answer admission reviews over TLS: POST /mutate and POST /validate.

    \b
    usher serve --dev                                  try it on this machine
    usher serve --certificate tls.crt --key tls.key    in a cluster
    """
    from usher.cli import development
    from usher.config.load import load
    from usher.config.models import Config
    from usher.policy import assembly, bundle
    from usher.server import logs
    from usher.server.serve import Address, Settings
    from usher.server.serve import serve as run

    if dev and not (certificate or key):
        certificate, key = development.certificate()
    if certificate is None or key is None:
        raise click.UsageError("give --certificate and --key, or --dev to try it on this machine")
    host = host or ("127.0.0.1" if dev else "0.0.0.0")  # noqa: S104 - a webhook must be reachable from the API server
    config = load(config_file) if config_file else Config()
    evaluator = assembly.remote(config, url=opa_url) if engine == "opa" else assembly.embedded(config)
    settings = Settings(
        webhook=Address(host=host, port=port),
        admin=Address(host=admin_host or host, port=admin_port),
        certificate=certificate,
        key=key,
    )
    logs.configure()

    async def main() -> None:
        started = asyncio.Event()
        hints = asyncio.create_task(development.hints(started, settings, certificate.parent)) if dev else None
        try:
            await run(settings, evaluator, revision=bundle.load().revision, started=started)
        finally:
            if hints is not None:
                hints.cancel()

    asyncio.run(main())
