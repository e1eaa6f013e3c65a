"""Bundles of a site's policies, as `usher policies build` makes them, for servers and audits."""

from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

import opa_server
from integration.command import usher, write

LOOPING = """package looping

violation[{"msg": "found"}] {
	many := numbers.range(1, 1000)
	count([1 | a := many[_]; b := many[_]; c := many[_]; d := many[_]; a < b; b < c; c < d; d < a]) > 0
}
"""
"""A policy that ends after some years."""

NEVER_ENDING = """
	many := numbers.range(1, 1000)
	count([1 | some a in many; some b in many; some c in many; some d in many; a < b; b < c; c < d; d < a]) == 0
"""
"""The same as a condition of an own check."""

CALLING = """package calling

violation[{"msg": msg}] {
	msg := http.send({"method": "get", "url": "http://127.0.0.1:1"}).body
}
"""
"""A policy that calls what the sandbox lacks."""

ABOUT_THE_REQUEST = """package request

violation[{"msg": msg}] {
	review := input.review
	msg := sprintf("%v by %v in %v", [review.operation, review.userInfo.username, review.namespace])
}

violation[{"msg": msg}] {
	msg := sprintf("before: %v", [input.review.oldObject.kind])
}
"""
"""A policy whose message tells what a review shows it."""


def gatekeeper(folder: Path, *objects: Any, name: str = "policies.bundle", options: tuple[str, ...] = ()) -> Path:
    """A bundle of these templates and constraints, which replaces the one of this name as a whole."""
    sources = folder / f"{name}-sources"
    write(sources / "all.yaml", *objects)
    return _built(folder, sources, name, options)


def own_checks(folder: Path, *, code: str = "ACME101", name: str = "checks.bundle", condition: str = "") -> Path:
    """A bundle with one new check, which warns of pods with more than eight GPUs, if the condition (Rego) holds too."""
    sources = folder / f"{name}-sources"
    assert usher("policies", "new", "gpus_per_team", "--policies", sources, "--code", code, env=_ENVIRONMENT).code == 0
    rule = sources / "gpus_per_team" / "gpus_per_team.rego"
    begin = "deny contains finding if {\n"
    rule.write_text(rule.read_text().replace(begin, f"{begin}{condition}\n"))
    return _built(folder, sources, name, ())


def keys(folder: Path, name: str = "key") -> tuple[Path, Path]:
    """A private key and its public key, in files."""
    key = ed25519.Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    public.write_bytes(key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo))
    return private, public


_ENVIRONMENT = {"USHER_OPA": str(opa_server.OPA)}


_MADE: dict[tuple[tuple[str, str], ...], bytes] = {}
"""Bundles without options, by their sources: many tests want the same, and opa compiles each for a second."""


def _built(folder: Path, sources: Path, name: str, options: tuple[str, ...]) -> Path:
    made = folder / name
    files = sorted(each for each in sources.rglob("*") if each.is_file())
    texts = tuple((str(each.relative_to(sources)), each.read_text()) for each in files)
    if not options and texts in _MADE:
        made.write_bytes(_MADE[texts])
        return made
    run = usher("policies", "build", sources, "--output", made, *options, env=_ENVIRONMENT)
    assert run.code == 0, run.err
    if not options:
        _MADE[texts] = made.read_bytes()
    return made
