"""Reads the METADATA of checks and mutations from their Rego files, and writes the Rego that follows from it."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pydantic
import pydantic_core
from msgspec import Struct

from usher import errors, memo, paths
from usher.documents import reader
from usher.kinds import registry
from usher.policy.checks import catalogue

_BLOCK = memo.pattern(r"^# METADATA\n((?:#.*\n)+)package ", re.MULTILINE)


class Codes(Struct, frozen=True, kw_only=True):
    """The form of the codes of checks or mutations."""

    pattern: re.Pattern[str]
    words: str
    """The form in words, for errors."""


CODES_OF_USHER: Final = Codes(pattern=catalogue.CODE, words="USH or USM and a number of three or four digits")


class _Custom(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", defer_build=True)

    code: str
    why: str = ""
    about: catalogue.About = catalogue.About.PODS
    kinds: list[str] = []
    closes: list[str] = []
    aliases: list[str] = []
    parameters: dict[str, catalogue.Parameter] = {}
    severity: catalogue.Severity | None = None
    strict_only: str = ""
    remediation: str = ""
    mended_on_pods: bool = False
    of_agents: bool = False
    order: int = 0
    on_by_default: bool = True
    promises: list[str] = []
    silent: bool = False
    protects_others: bool = False

    @pydantic.field_validator("code")
    @classmethod
    def _is_a_code(cls, code: str, info: pydantic.ValidationInfo) -> str:
        codes = info.context
        if not isinstance(codes, Codes) or not codes.pattern.fullmatch(code):
            words = codes.words if isinstance(codes, Codes) else ""
            raise pydantic_core.PydanticCustomError("code", "expected {words}", {"words": words})
        return code


class _Metadata(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", defer_build=True)

    title: str
    description: str
    scope: str = pydantic.Field(pattern="^package$")
    related_resources: list[catalogue.Link] = []
    schemas: list[dict[str, str]]
    custom: _Custom


def read_entry(policies: Path, file: Path) -> catalogue.Entry:
    """The catalogue entry of one rule file of usher.

    Raises:
        BundleError: there is no METADATA block at the package, or it is not of the shape that we require.
    """
    category, name = file.relative_to(policies / "usher").parts[1:3]
    return parse_entry(file.read_text(encoding="utf-8"), file=file, key=f"{category}/{name}", codes=CODES_OF_USHER)


def parse_entry(content: str, *, file: Path, key: str, codes: Codes) -> catalogue.Entry:
    """The catalogue entry of a rule file.

    Args:
        file: its name, for errors.
        key: of the check or mutation.
        codes: the form of its code.

    Raises:
        BundleError: there is no METADATA block at the package, or it is not of the shape that we require.
    """
    match = _BLOCK.search(content)
    if match is None:
        raise errors.BundleError(f"{file}:1: no METADATA comment directly above the package; see another check")
    values = _metadata_of_block(file, match[1], before=content.count("\n", 0, match.start(1)), codes=codes)
    custom = dict(values.custom)
    custom |= {"remediation": custom["remediation"].strip(), "strict_only": " ".join(custom["strict_only"].split())}
    return catalogue.Entry(
        key=key,
        title=values.title,
        description=values.description.strip(),
        links=tuple(values.related_resources),
        **custom,
    )


def _metadata_of_block(file: Path, block: str, *, before: int, codes: Codes) -> _Metadata:
    """The values of a block; `before` counts the lines above it, so that errors name lines of the file."""
    text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in block.splitlines())
    try:
        (document,) = reader.parse(text.encode(), source=str(file))
        return _Metadata.model_validate(document.value, context=codes)
    except errors.ManifestError as error:
        raise errors.BundleError(f"{file}:{before + error.line}: METADATA: {error.reason}") from None
    except pydantic.ValidationError as error:
        where = reader.Places(document)
        problems = [
            f"{file}:{before + where.nearest(paths.join(paths.ROOT, *detail['loc'])).line}: METADATA: "
            f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}"
            for detail in error.errors()
        ]
        raise errors.BundleError("\n".join(problems)) from None


def read_entries(policies: Path) -> dict[str, list[catalogue.Entry]]:
    """All entries below a bundle root, by `checks` and `mutations`, in the order of their codes.

    Raises:
        BundleError: one cannot be read, two share a code, or a check has no severity.
    """
    entries = {
        kind: sorted(
            (
                read_entry(policies, file)
                for file in (policies / "usher" / kind).glob("*/*/*.rego")
                if not file.name.endswith("_test.rego")
            ),
            key=lambda entry: entry.number,
        )
        for kind in ("checks", "mutations")
    }
    seen: dict[str, str] = {}
    for kind, letter in (("checks", "H"), ("mutations", "M")):
        for entry in entries[kind]:
            taken = next((code for code in entry.codes if code in seen), None)
            if taken is not None:
                where = _line_of_code(policies, kind, entry)
                raise errors.BundleError(f"{where}: code {taken} belongs to {seen[taken]}")
            if entry.code[2] != letter or (entry.severity is None) is (kind == "checks"):
                where = _line_of_code(policies, kind, entry)
                raise errors.BundleError(f"{where}: checks are USHnnn with a severity, mutations USMnnn without")
            seen |= dict.fromkeys(entry.codes, entry.key)
    return entries


def _line_of_code(policies: Path, kind: str, entry: catalogue.Entry) -> str:
    """File and line in which a rule says its code."""
    name = entry.key.partition("/")[2]
    file = policies / "usher" / kind / entry.key / f"{name}.rego"
    lines = file.read_text(encoding="utf-8").splitlines()
    return f"{file}:{next(number for number, line in enumerate(lines, 1) if f'code: {entry.code}' in line)}"


_NAMES_KINDS: Final = {
    catalogue.About.PODS: (True, False),
    catalogue.About.OBJECTS: (True,),
    catalogue.About.CLUSTER_FACTS: (True, False),
    catalogue.About.ACCELERATOR_PODS: (True, False),
}
"""Whether checks may name kinds, by what they are about; all others may not."""


def problem_of_kinds(entry: catalogue.Entry) -> str:
    """The problem with the kinds that a check names; empty without one."""
    stray = sorted(set(entry.kinds) - {shape.key for shape in registry.SHAPES.values()})
    if not stray and bool(entry.kinds) in _NAMES_KINDS.get(entry.about, (False,)):
        return ""
    return (
        "`kinds` names the kinds of a check about objects, cluster facts, pods or accelerator pods, by their keys in "
        f"usher.kinds; {', '.join(stray) or 'only `about: objects` requires it'}"
    )


_CONDITIONS = {
    catalogue.About.PODS: "count(input.podSets) > 0",
    catalogue.About.ACCELERATOR_PODS: "input.workload.asksAccelerators",
    catalogue.About.ORDINARY_PODS: "_has_ordinary_pods",
    catalogue.About.LABELLED_PODS: "_has_labelled_pods",
    catalogue.About.CLUSTER_FACTS: "input.cluster",
    catalogue.About.LARGE_OBJECTS: "input.excess",
    catalogue.About.UNREAD_KEYS: "input.unreadKeys",
}

_HEAD = """package usher.main

# Generated by scripts/policies from the METADATA of the checks: each is asked only about what it is about, which is
# looked up once for all that are about the same. One rule for each, because to iterate over the packages would evaluate
# every rule of every one of them.
_has_ordinary_pods if {
	some pod_set in input.podSets
	not pod_set.asksAccelerators
}

# The input has no other labels and annotations than those that rules read.
_has_labelled_pods if count(input.workload.labels) > 0

_has_labelled_pods if count(input.workload.annotations) > 0

_has_labelled_pods if count(input.workload.queueLabels) > 0

_has_labelled_pods if {
	some pod_set in input.podSets
	count(pod_set.labels) + count(pod_set.annotations) > 0
}
"""


def dispatch_rego(
    checks: Sequence[catalogue.Entry], mutations: Sequence[catalogue.Entry], rules_of: dict[str, set[str]]
) -> str:
    """The rules `_findings`, `_unknown` and `_intents` of the entry points.

    Args:
        checks: of the bundle.
        mutations: of the bundle.
        rules_of: names of the set rules that the package of each entry has, by key.
    """
    return "\n".join(
        [
            _HEAD,
            *_rego_of_checks(checks, rules_of),
            *_rego_of_mutations(mutations, rules_of),
            *_rego_of_protection(mutations),
        ]
    )


def _rego_of_checks(checks: Sequence[catalogue.Entry], rules_of: dict[str, set[str]]) -> Iterator[str]:
    for rule, kind, collected in (("deny", "finding", "_findings"), ("unknown", "unknown", "_unknown")):
        yield from _collecting("check", rule, kind, collected, [each for each in checks if rule in rules_of[each.key]])


def _rego_of_mutations(mutations: Sequence[catalogue.Entry], rules_of: dict[str, set[str]]) -> Iterator[str]:
    for rule, kind in (("intents", "intent"), ("warnings", "warning"), ("skips", "skip")):
        having = [entry for entry in mutations if rule in rules_of[entry.key]]
        yield from _collecting("mutation", rule, kind, f"_{rule}", having)


def _rego_of_protection(mutations: Sequence[catalogue.Entry]) -> Iterator[str]:
    """Whether a mutation has something to add that protects others and that no check misses.

    The validating webhook has to ask about these alone; for all others a check finds their absence.
    """
    yield "default _unprotected := false\n"
    for entry in mutations:
        if entry.protects_others and not entry.promises:
            yield f"_unprotected if {{\n\tsome _ in data.usher.mutations.{_reference(entry)}.intents\n}}\n"


def _collecting(what: str, rule: str, kind: str, collected: str, entries: Sequence[catalogue.Entry]) -> Iterator[str]:
    """The rules that collect one rule of all entries, with one condition for all entries about the same subject."""
    groups: dict[tuple[str, str], list[catalogue.Entry]] = {}
    for entry in entries:
        for guard in _guards(entry):
            groups.setdefault(guard, []).append(entry)
    for (about, condition), having in groups.items():
        yield f"{collected} contains each if {{\n\t{condition}\n\tsome each in {collected}_{about}\n}}\n"
        for entry in having:
            yield (
                f'{collected}_{about} contains {{"{what}": "{entry.key}", "{kind}": {kind}}} if {{\n'
                f"\tsome {kind} in data.usher.{what}s.{_reference(entry)}.{rule}\n}}\n"
            )


def _guards(entry: catalogue.Entry) -> list[tuple[str, str]]:
    """The subjects of a check, each as a word of a rule's name and as a condition; for objects, one for each kind."""
    guards = [(kind, f"input.object.{kind}") for kind in entry.kinds]
    if not guards or entry.about in (catalogue.About.PODS, catalogue.About.ACCELERATOR_PODS):
        guards.append((entry.about.name.lower(), _CONDITIONS[entry.about]))
    return guards


def rule_names(text: str) -> set[str]:
    """Names of the set rules in a Rego file."""
    return set(re.findall(r"^(\w+) contains ", text, re.MULTILINE))


def _reference(entry: catalogue.Entry) -> str:
    return entry.key.replace("/", ".")


def parameters_rego(checks: Sequence[catalogue.Entry]) -> str:
    """One rule for each parameter: the value that usher.yaml gives for this namespace, or the default.

    OPA would build one object of all defaults again for every input document.
    """
    rules = "\n".join(
        f'{_reference(entry)}.{name} := input.site.parameters["{entry.key}"].{name}\n\n'
        f"default {_reference(entry)}.{name} := {json.dumps(parameter.default)}\n"
        for entry in sorted(checks, key=lambda entry: entry.key)
        for name, parameter in sorted(entry.parameters.items())
    )
    return f"""# METADATA
# title: Parameters
# description: Generated by scripts/policies from the METADATA of the checks, `<category>.<check>.<parameter>`.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.parameters

{rules}"""
