"""usher.yaml while the server runs."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from usher import errors
from usher.config import load
from usher.policy import assembly
from usher.policy.checks.catalogue import OwnChecks
from usher.policy.evaluator import Evaluator
from usher.server.reloading import Current, Looked

HEAD = "apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n"
GOOD = HEAD + "enforcement: {preset: %s}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "usher.yaml"
    made.write_text(GOOD % "baseline")
    return made


def current(file: Path) -> Current:
    def make(own: Sequence[OwnChecks]) -> Evaluator:
        return assembly.embedded(load.load(file), file=file, own=own)

    return Current(make(()), file=file, make=make)


def looked(holder: Current, change: Callable[[], object]) -> Looked:
    """The watch's reports of a change."""

    async def wait() -> Looked:
        reports: asyncio.Queue[Looked] = asyncio.Queue()
        watch = asyncio.create_task(holder.watch(0.01, report=reports.put_nowait))
        change()
        try:
            return await asyncio.wait_for(reports.get(), timeout=30)
        finally:
            watch.cancel()

    return asyncio.run(wait())


def preset(holder: Current) -> str:
    return holder.evaluator.config.enforcement.preset


def test_a_good_change_takes_effect(file: Path) -> None:
    holder = current(file)

    found = looked(holder, lambda: file.write_text(GOOD % "strict"))

    assert (found, preset(holder)) == (Looked(reloaded=True, problem=None), "strict")


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "enforcement: {preset: lenient}\n",
        HEAD + "parameters: [{check: nope, values: {a: 1}}]\n",
        *("{", HEAD + "a: b\n", "", "# empty\n", "enforcement: {preset: observe}\n"),
    ],
)
def test_a_bad_change_leaves_the_last_good_one_in_service(file: Path, text: str) -> None:
    holder = current(file)

    found = looked(holder, lambda: file.write_text(text))

    assert isinstance(found.problem, errors.ConfigError)
    assert f"{file}:" in str(found.problem)
    assert preset(holder) == "baseline"


def test_digests_say_which_configuration_is_in_force(file: Path) -> None:
    holder = current(file)
    before = holder.digests

    looked(holder, lambda: file.write_text(f"# the same\n{GOOD % 'baseline'}"))
    assert holder.digests == before
    looked(holder, lambda: file.write_text(GOOD % "lenient"))
    assert holder.digests == before, "a file that is refused is not in force"
    looked(holder, lambda: file.write_text(GOOD % "strict"))
    assert holder.digests != before


def test_a_file_that_goes_away_leaves_the_last_good_one_in_service(file: Path) -> None:
    holder = current(file)

    found = looked(holder, file.unlink)

    assert not found.reloaded
    assert preset(holder) == "baseline"


def test_after_a_bad_change_a_good_one_takes_effect_again(file: Path) -> None:
    holder = current(file)
    looked(holder, lambda: file.write_text("{"))

    found = looked(holder, lambda: file.write_text(GOOD % "strict"))

    assert (found.reloaded, holder.problem, preset(holder)) == (True, None, "strict")


def test_without_a_file_there_is_nothing_to_watch(file: Path) -> None:
    evaluator = current(file).evaluator

    reports: list[object] = []
    holder = Current(evaluator, file=None, make=lambda _: evaluator)

    asyncio.run(holder.watch(0.01, report=reports.append))

    assert reports == []
    assert holder.evaluator is evaluator
