"""Verdicts for tests."""

from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st

from usher.check.devices import Amount
from usher.check.replay.comparison import Found, Outcome, Side, Unknown, Verdict

CHECKS: Final = ("gpu/first", "gpu/second", "gpu/third")


def found(check: str = CHECKS[0], outcome: Outcome = Outcome.DENY, message: str = "it is wrong") -> Found:
    name = check.partition("/")[2]
    return Found(
        check=check, code=f"USH{1 + CHECKS.index(check)}", name=name, outcome=outcome, path="", message=message
    )


def unknown(check: str = CHECKS[0], reason: str = "a field cannot be read") -> Unknown:
    name = check.partition("/")[2]
    return Unknown(check=check, code="USH9" if check else "", name=name, path="/spec", reason=reason)


def verdict(
    name: str = "bert",
    *findings: Found,
    unknowns: Sequence[Unknown] = (),
    gpus: int = 8,
    namespace: str = "research",
    kind: str = "Job",
    **fields: str,
) -> Verdict:
    """A verdict about a workload of one pod; further texts of a Verdict go in as keywords."""
    return Verdict(
        **{  # type: ignore[arg-type]  # texts all
            "key": f"{kind} {namespace}/{name}",
            "source": "jobs.yaml",
            "owner": f"{kind}/{name}",
            **fields,
        },
        kind=kind,
        namespace=namespace,
        name=name,
        pods=Amount(number=1),
        devices={"nvidia.com/gpu": Amount(number=gpus)} if gpus else {},
        workload=True,
        found=tuple(findings),
        unknown=tuple(unknowns),
    )


def side(*verdicts: Verdict, label: str = "usher.yaml (preset recommended)", problems: Sequence[str] = ()) -> Side:
    return Side(label=label, version="1.0.0", policies="0123456789abcdef", verdicts=verdicts, problems=tuple(problems))


FINDINGS: Final = st.builds(
    found,
    check=st.sampled_from(CHECKS),
    outcome=st.sampled_from([Outcome.DENY, Outcome.WARN, Outcome.AUDIT]),
    message=st.sampled_from(["it is wrong", "it is very wrong"]),
)
UNKNOWNS: Final = st.builds(unknown, check=st.sampled_from(["", *CHECKS]))


@st.composite
def verdicts(draw: st.DrawFn, *, name: str, complete: bool) -> Verdict:
    """The verdict of one side about an object; with `complete` every check was evaluated."""
    return verdict(
        name,
        *draw(st.lists(FINDINGS, max_size=4)),
        unknowns=() if complete else draw(st.lists(UNKNOWNS, max_size=2)),
        gpus=sum(map(ord, name)) % 16,
        namespace=("research", "production")[ord(name[0]) % 2],
        failure="" if complete else draw(st.sampled_from(["", "", "", "the engine gave no answer"])),
        owner=("Job/parent", "Job/other")[ord(name[-1]) % 2],
    )


@st.composite
def sides(draw: st.DrawFn, *, complete: bool, count: int = 2) -> list[Side]:
    """Several sides about the same objects."""
    names = draw(st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=6))
    return [side(*(draw(verdicts(name=name, complete=complete)) for name in names)) for _ in range(count)]
