"""`usher certs`: makes and shows the serving certificate, without cert-manager."""

import base64
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
import yaml
from cryptography import x509

from usher import paths
from usher.cli import inputs
from usher.errors import CertificateError
from usher.server.certs import certificates, issue


class _Refused(click.ClickException):
    exit_code = 2


@click.group()
def certs() -> None:
    """Make or show the webhook server's certificate."""


@inputs.command("certs issue", group=certs)
def issue_command(
    *,
    directory: Path | None,
    service: str,
    server_namespace: str,
    extra: tuple[str, ...],
    secret: str | None,
    force: bool,
) -> None:
    names = [*certificates.service_names(service, namespace=server_namespace), *extra]
    try:
        if secret:
            _print_secret(directory, names=names, secret=secret, namespace=server_namespace, force=force)
        elif directory:
            _report(directory, issue.ensure(directory, names=names, force=force))
        else:
            raise click.UsageError("give a folder with --dir, or print a Secret with --secret")
    except CertificateError as error:
        raise _Refused(str(error)) from error


@inputs.command("certs show", group=certs)
def show(directory: Path) -> None:
    now = datetime.now(UTC)
    leaf_file, authority_file = (
        directory / certificates.CERTIFICATE_FILE,
        directory / certificates.AUTHORITY_CERTIFICATE_FILE,
    )
    try:
        leaf = certificates.read_certificates(certificates.read_file(leaf_file), source=leaf_file)[0]
        authorities = (
            certificates.read_certificates(certificates.read_file(authority_file), source=authority_file)
            if authority_file.exists()
            else []
        )
    except CertificateError as error:
        raise _Refused(str(error)) from error
    click.echo(_described(leaf, file=certificates.CERTIFICATE_FILE, now=now))
    for certificate in authorities:
        click.echo(_described(certificate, file=certificates.AUTHORITY_CERTIFICATE_FILE, now=now))
    problems = list(_problems(directory, leaf=leaf, authorities=authorities, now=now))
    if problems:
        raise _Refused("\n".join(problems))


def _problems(
    directory: Path, *, leaf: x509.Certificate, authorities: Sequence[x509.Certificate], now: datetime
) -> Iterator[str]:
    leaf_file, authority_file = (
        directory / certificates.CERTIFICATE_FILE,
        directory / certificates.AUTHORITY_CERTIFICATE_FILE,
    )
    signers = [one for one in authorities if certificates.issued_by(leaf, one)]
    try:
        certificates.read_pair(leaf_file, directory / certificates.KEY_FILE)
    except CertificateError as error:
        yield str(error)
    for certificate, source in ((leaf, leaf_file), *((signer, authority_file) for signer in signers)):
        try:
            certificates.check_dates(certificate, source=source, now=now)
        except CertificateError as error:
            yield str(error)
    if authorities and not signers:
        yield f"{leaf_file}: not signed by a CA in {authority_file}; run `usher certs issue --dir {directory}`"


def _report(directory: Path, ensured: issue.Ensured) -> None:
    now = datetime.now(UTC)
    if ensured.authority_reason:
        click.echo(f"Made a new CA in {directory}: {ensured.authority_reason}.")
    if ensured.leaf_reason:
        click.echo(f"Made a new serving certificate in {directory}: {ensured.leaf_reason}.")
    else:
        click.echo(f"Nothing to do: the certificate in {directory} is good.")
    click.echo(_described(ensured.leaf, file=certificates.CERTIFICATE_FILE, now=now))
    for certificate in ensured.authorities:
        click.echo(_described(certificate, file=certificates.AUTHORITY_CERTIFICATE_FILE, now=now))
    if ensured.authority_reason:
        bundle = directory / certificates.AUTHORITY_CERTIFICATE_FILE
        click.echo(f"Give the API server the new CA: usher manifests webhooks --ca-bundle {bundle}")


def _print_secret(directory: Path | None, *, names: Sequence[str], secret: str, namespace: str, force: bool) -> None:
    now = datetime.now(UTC)
    certificates.canonical_names(names)  # fails before it makes a CA, if the names cannot be signed
    kept = issue.ensure_authority(directory, now=now, force=force) if directory else None
    issued = issue.issue(
        names=names,
        certificate_authority=kept.authority if kept else None,
        earlier=kept.earlier if kept else (),
        now=now,
    )
    manifest = _secret(issued.files, name=secret, namespace=namespace)
    click.echo(yaml.safe_dump(manifest, sort_keys=False), nl=False)
    if not kept:
        click.echo("Made a CA for this Secret and did not keep its key; --dir keeps the CA for renewals.", err=True)
    elif kept.reason:
        click.echo(f"Made a new CA in {directory}: {kept.reason}.", err=True)
    if kept and kept.reason and kept.earlier:
        click.echo("Give the API server the new ca.crt, which holds both CAs, before you apply the Secret.", err=True)
    click.echo(_described(issued.leaf, file=certificates.CERTIFICATE_FILE, now=now), err=True)
    click.echo(
        _described(issued.authority.certificate, file=certificates.AUTHORITY_CERTIFICATE_FILE, now=now), err=True
    )


def _secret(data: dict[str, bytes], *, name: str, namespace: str) -> paths.Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "type": "kubernetes.io/tls",
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }


def _described(certificate: x509.Certificate, *, file: str, now: datetime) -> str:
    left = (certificate.not_valid_after_utc - now).days
    lines = [f"subject  {certificate.subject.rfc4514_string() or '(empty)'}"]
    names = certificates.subject_names(certificate)
    if names:
        lines.append(f"names    {', '.join(names)}")
    lines += [
        f"expires  {certificates.moment(certificate.not_valid_after_utc)}, {left} days left"
        if left >= 0
        else f"expired  {certificates.moment(certificate.not_valid_after_utc)}",
        f"renewal  {certificates.moment(certificates.renewal_time(certificate))}",
    ]
    return "\n".join([file, *(f"  {line}" for line in lines)])
