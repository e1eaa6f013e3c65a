"""Credentials of the control plane, as files: a certificate authority, a server certificate, keys, tokens."""

import datetime as dt
import ipaddress
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

USERS: Mapping[str, str] = {
    "admin": "system:masters",
    "kwok": "system:masters",
    "system:kube-controller-manager": "",
    "system:kube-scheduler": "",
}
"""User name -> group. Those without a group have the roles that the API server itself binds to their name."""

_LIFETIME = dt.timedelta(days=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """`certificate_file` and `key_file` are for 127.0.0.1 and localhost; `kubeconfigs` are keyed as `USERS` is."""

    ca_file: Path
    certificate_file: Path
    key_file: Path
    service_account_key_file: Path
    token_file: Path
    admin_token: str = field(repr=False)
    kubeconfigs: Mapping[str, Path]


def write_credentials(directory: Path, *, server: str) -> Credentials:
    """Fresh credentials in `directory` for the API server at the URL `server`, readable by their owner only."""
    authority_key, server_key = _new_key(), _new_key()
    authority = _authority(authority_key)
    certificate = _server_certificate(server_key, authority=authority, authority_key=authority_key)
    tokens = {user: secrets.token_urlsafe(24) for user in USERS}
    ca_file = _write(directory / "ca.crt", _pem(authority))
    return Credentials(
        ca_file=ca_file,
        certificate_file=_write(directory / "server.crt", _pem(certificate)),
        key_file=_write(directory / "server.key", _key_pem(server_key)),
        service_account_key_file=_write(directory / "service-account.key", _key_pem(_new_key())),
        token_file=_write(directory / "tokens.csv", _token_lines(tokens)),
        admin_token=tokens["admin"],
        kubeconfigs={
            user: _write(
                directory / f"{user.removeprefix('system:')}.kubeconfig",
                _kubeconfig(server=server, ca_file=ca_file, user=user, token=token),
            )
            for user, token in tokens.items()
        },
    )


def _token_lines(tokens: Mapping[str, str]) -> bytes:
    """The format of --token-auth-file: token, user name, user id, groups."""
    lines = [f"{token},{user},{user},{USERS[user]}" for user, token in tokens.items()]
    return "\n".join(lines).encode()


def _kubeconfig(*, server: str, ca_file: Path, user: str, token: str) -> bytes:
    """As JSON, which is YAML too."""
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "e2e", "cluster": {"server": server, "certificate-authority": str(ca_file)}}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": user}}],
        "current-context": "e2e",
    }
    return json.dumps(kubeconfig, indent=2).encode()


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = _name("gpu-usher e2e CA")
    usage = x509.KeyUsage(
        key_cert_sign=True,
        crl_sign=True,
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    return (
        _certificate(name, issuer=name, key=key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )


def _server_certificate(
    key: ec.EllipticCurvePrivateKey, *, authority: x509.Certificate, authority_key: ec.EllipticCurvePrivateKey
) -> x509.Certificate:
    names: list[x509.GeneralName] = [
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
        x509.DNSName("localhost"),
    ]
    # Python 3.13 and newer refuse a leaf that does not name its issuer's key.
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    return (
        _certificate(_name("gpu-usher e2e server"), issuer=authority.subject, key=key)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(issuer_key, critical=False)
        .sign(authority_key, hashes.SHA256())
    )


def _certificate(subject: x509.Name, *, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # Clocks of a virtual machine and its host may differ a little.
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + _LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    # The API server takes no PKCS #8 as the key to verify service accounts' tokens with.
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(encoding, form, serialization.NoEncryption())


def _write(file: Path, content: bytes) -> Path:
    file.touch(mode=0o600)
    file.write_bytes(content)
    return file
