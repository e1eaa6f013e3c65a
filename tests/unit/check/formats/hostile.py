"""Reports full of text that tries to be markup, a command or a document of its own."""

import io
from collections.abc import Callable
from typing import Final

from hypothesis import strategies as st
from msgspec.structs import replace

from unit.check.formats import made
from usher import model
from usher.check import findings
from usher.check.findings import Ending

ATTEMPTS: Final = (
    "]]>",
    "</testcase><testcase name='x'>",
    "<script>alert(1)</script>",
    "::error file=x::y",
    "\n::warning::y",
    "##vso[task.complete result=Succeeded;]done",
    "##[error]x",
    "%0A%25%3B%AZP25",
    "; sourcepath=/etc/passwd]",
    "\r\n",
    "not ok 7 - x # SKIP",
    "\n  ...\nBail out!",
    "\\# TODO",
    "](https://example.com)",
    "<!-- gpu-usher:report -->",
    "--> @octo-org/team",
    "#1 GH-2 owner/repo#3 !4",
    "https://example.com www.example.com",
    "`````",
    "| a | b |",
    "\x00\x1b[31m\x7f\u202e\u2028\ufffe",
    "\ud800",
    "{0}",
    " ",
    "",
)

hostile_text = st.one_of(st.sampled_from(ATTEMPTS), st.text(max_size=20)).flatmap(
    lambda first: st.one_of(st.sampled_from(ATTEMPTS), st.text(max_size=20)).map(lambda second: first + second)
)


def report(text: str) -> findings.Report:
    """A run in which every name, message and file is this text."""
    place = made.place(3, f"{text[:40]}: x", "x")
    full = made.finding(text, name="gpu-requests-equal-limits", remedy=text, path=f"/{text}", at=place)
    warned = made.toleration_missing()
    judgement = replace(
        warned.judgement, because=text, finding=replace(warned.judgement.finding, message=text, remedy=text)
    )
    return made.made(
        made.result(
            full,
            replace(warned, judgement=judgement, pod_set=findings.PodSet(name=text, pods=made.WORKER.pods)),
            source=text,
            kind=text,
            namespace=text,
            name=text,
            unknowns=[made.not_judged(text, path=f"/{text}")],
        ),
        made.result(source=text, name=text),
        made.result(source=text, name=text, exemption=text),
        failures=[
            findings.Failure(
                source=text,
                line=1,
                identity=findings.Identity(api_version=text, kind=text, namespace=text, name=text),
                reason=text,
            )
        ],
        problems=[findings.Problem(source=text, line=2, column=1, reason=text)],
        notes=[findings.Note(source=text, reason=text)],
        not_evaluated=[findings.NotEvaluated(check="a/b", code="USH1", name="b", reason=text, workloads=1)],
    )


def ended(found: findings.Report, *, code: int = 2, failing: frozenset[model.Outcome] | None = None) -> findings.Report:
    """The report of a command that ended, and that accepts no unknown parts."""
    outcomes = frozenset({model.Outcome.DENY}) if failing is None else failing
    ending = Ending(code=code, reason="something is denied", failing=outcomes, unknown_accepted=False)
    return replace(found, ending=ending)


def written(write: Callable[..., None], found: findings.Report, **options: int) -> str:
    stream = io.StringIO()
    write(found, stream, **options)
    return stream.getvalue()
