"""Runs the cases of a table as one test, where each costs less than what pytest does around a test.

Two thirds of all tests are cases of tables that share all their fixtures, or take no fixture. A failure names each case
that failed, with its values. Where tests are chosen by `-k` or a name (`FILE::NAME`), each case is a test of its own.
"""

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pytest

_LONGEST_NAME: Final = 300
"""Characters of a case in a message."""

_OF_ONE_CASE: Final = frozenset({"filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"})
"""Marks that mean something else for a single case than for all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    values: Mapping[str, object]
    marks: tuple[pytest.Mark, ...]
    id: str

    def __str__(self) -> str:
        name = self.id or ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> list[pytest.Item] | None:
    """One item for all cases with the same marks; None leaves a function to pytest."""
    if not isinstance(collector, pytest.Module) or not inspect.isfunction(obj) or _are_chosen(collector.config):
        return None
    marks: list[pytest.Mark] = getattr(obj, "pytestmark", [])
    cases = list(_cases(marks)) if collector.funcnamefilter(name) and _is_plain(obj) else []
    if not cases or not _shares_fixtures(collector, obj, cases[0]):
        return None
    own = [each for each in marks if each.name != "parametrize"]
    made: list[pytest.Item] = []
    for of, together in itertools.groupby(sorted(cases, key=_names_of_marks), key=_names_of_marks):
        folded = _folded(obj, list(together))
        title = f"{name}[{of}]" if of else name
        folded.pytestmark = [*own, *folded.pytestmark]
        setattr(collector.obj, title, folded)  # pytest takes functions from their module, by the name of the item
        made += collector._genfunctions(title, folded)
    return made


def _are_chosen(config: pytest.Config) -> bool:
    """Whether somebody names tests, and perhaps cases."""
    return bool(config.getoption("keyword")) or any("::" in each for each in config.args)


def _is_plain(function: Callable[..., object]) -> bool:
    return not (inspect.iscoroutinefunction(function) or hasattr(function, "is_hypothesis_test"))


def _cases(marks: Sequence[pytest.Mark]) -> Iterator[_Case]:
    """The cases of all tables of a function together; empty where the tables are more than lists of values."""
    tables = [each for each in marks if each.name == "parametrize"]
    if not tables or any(each.name in _OF_ONE_CASE - {"parametrize"} for each in marks):
        return
    if any(len(each.args) != 2 or each.kwargs.keys() - {"ids"} or _is_read_once(each) for each in tables):
        return
    rows = [list(_rows(each)) for each in tables]
    if any(mark.name in _OF_ONE_CASE for row in itertools.chain(*rows) for mark in row.marks):
        return
    for together in itertools.product(*rows):
        yield _Case(
            values={name: value for row in together for name, value in row.values.items()},
            marks=tuple(mark for row in together for mark in row.marks),
            id="-".join(row.id for row in together) if all(row.id for row in together) else "",
        )


def _is_read_once(table: pytest.Mark) -> bool:
    return any(isinstance(each, Iterator) for each in (table.args[1], table.kwargs.get("ids")))


def _rows(table: pytest.Mark) -> Iterator[_Case]:
    names, values = table.args
    names = [each.strip() for each in names.split(",")] if isinstance(names, str) else list(names)
    ids = table.kwargs.get("ids")
    listed = itertools.repeat(None) if ids is None or callable(ids) else ids
    for value, title in zip(values, listed, strict=False):
        given = value if isinstance(value, _PARAMETER) else None
        own = given.values if given else (value,) if len(names) == 1 else value
        titles = [str(ids(each)) for each in own] if callable(ids) else [title or ""]
        yield _Case(
            values=dict(zip(names, own, strict=True)),
            marks=tuple(each if isinstance(each, pytest.Mark) else each.mark for each in given.marks) if given else (),
            id=str((given and isinstance(given.id, str) and given.id) or "-".join(titles)),
        )


_PARAMETER: Final = type(pytest.param())


def _names_of_marks(case: _Case) -> str:
    return ", ".join(sorted({each.name for each in case.marks}))


def _shares_fixtures(module: pytest.Module, function: Callable[..., object], case: _Case) -> bool:
    """Whether no fixture is made again for each case."""
    if not case.values.keys() <= inspect.signature(function).parameters.keys():
        return False
    fixtures = module.session._fixturemanager
    found = fixtures.getfixtureinfo(module, _without(function, case), None)  # type: ignore[arg-type]  # any node
    return "request" not in found.names_closure and all(
        name in found.name2fixturedefs and found.name2fixturedefs[name][-1].scope != "function"
        for name in found.names_closure
    )


def _without(function: Callable[..., object], case: _Case) -> Any:
    """A function with the parameters of another one that a case does not give."""

    def fixtures(**_: object) -> None: ...

    signature = inspect.signature(function)
    left = [each for name, each in signature.parameters.items() if name not in case.values]
    fixtures.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
    return fixtures


def _folded(test: Callable[..., object], cases: Sequence[_Case]) -> Any:
    """A test that tries all cases and names those that fail."""

    @functools.wraps(test)
    def folded(**fixtures: object) -> None:
        __tracebackhide__ = True
        failed: list[BaseException] = []
        left_out: list[BaseException] = []
        for case in cases:
            try:
                test(**case.values, **fixtures)
            except pytest.skip.Exception as error:
                left_out.append(error)
            except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # all of them are raised below
                error.add_note(f"The case: {case}")
                failed.append(error)
        if len(failed) == 1:
            raise failed[0]
        if failed:
            raise BaseExceptionGroup(f"{len(failed)} of {len(cases)} cases failed", failed)
        if len(left_out) == len(cases):
            raise left_out[0]

    folded.__signature__ = inspect.signature(_without(test, cases[0]))  # type: ignore[attr-defined]
    folded.pytestmark = list(cases[0].marks)  # type: ignore[attr-defined]
    return folded
