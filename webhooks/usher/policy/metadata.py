"""Reads the METADATA of a check or mutation from its Rego file (https://www.openpolicyagent.org/docs/policy-language#metadata)."""

import re
from pathlib import Path

import pydantic
import yaml

from usher import errors
from usher.policy import catalogue

_BLOCK = re.compile(r"^# METADATA\n((?:#.*\n)+)package ", re.MULTILINE)


class _Custom(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")

    code: str = pydantic.Field(pattern=r"^US[HM]\d{3}$")
    severity: catalogue.Severity | None = None
    remediation: str = ""
    mended_on_pods: bool = False
    silent: bool = False


class _Metadata(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")

    title: str
    description: str
    scope: str = pydantic.Field(pattern="^package$")
    related_resources: list[catalogue.Link] = []
    schemas: list[dict[str, str]]
    custom: _Custom


def read(policies: Path, file: Path) -> catalogue.Entry:
    """The catalogue entry of one rule file.

    Raises:
        BundleError: there is no METADATA block at the package, or it is not of the shape that we require.
    """
    match = _BLOCK.search(file.read_text(encoding="utf-8"))
    if match is None:
        raise errors.BundleError(f"{file}: no METADATA comment directly above the package; see another check")
    text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in match[1].splitlines())
    try:
        values = _Metadata.model_validate(yaml.safe_load(text))
    except (yaml.YAMLError, pydantic.ValidationError) as error:
        raise errors.BundleError(f"{file}: METADATA: {error}") from None
    category, name = file.relative_to(policies / "usher").parts[1:3]
    return catalogue.Entry(
        key=f"{category}/{name}",
        code=values.custom.code,
        title=values.title,
        description=values.description.strip(),
        remediation=values.custom.remediation.strip(),
        links=tuple(values.related_resources),
        severity=values.custom.severity,
        mended_on_pods=values.custom.mended_on_pods,
        silent=values.custom.silent,
    )


def read_all(policies: Path) -> dict[str, list[catalogue.Entry]]:
    """All entries below a bundle root, by `checks` and `mutations`, in the order of their codes.

    Raises:
        BundleError: one cannot be read, two share a code, or a check has no severity.
    """
    entries = {
        kind: sorted(
            (
                read(policies, file)
                for file in (policies / "usher" / kind).glob("*/*/*.rego")
                if not file.name.endswith("_test.rego")
            ),
            key=lambda entry: entry.code,
        )
        for kind in ("checks", "mutations")
    }
    seen: dict[str, str] = {}
    for kind, letter in (("checks", "H"), ("mutations", "M")):
        for entry in entries[kind]:
            if entry.code in seen:
                raise errors.BundleError(f"{kind}/{entry.key}: code {entry.code} belongs to {seen[entry.code]}")
            if entry.code[2] != letter or (entry.severity is None) is (kind == "checks"):
                raise errors.BundleError(
                    f"{kind}/{entry.key}: checks are USHnnn with a severity, mutations USMnnn without"
                )
            seen[entry.code] = entry.key
    return entries
