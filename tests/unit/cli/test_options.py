"""One option, one meaning: an option has the same values, the same place for them and the same help in all commands."""

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import click
import pytest

from usher.cli import main

FOR_A_POD: Final = "`manifests audit` prints a pod: it names objects of its cluster where `audit` reads files"

OWN_HELP: Final = {
    "--allow-unknown": "each command accepts what is unknown to it",
    "--cluster-name": FOR_A_POD,
    "--clusters": FOR_A_POD,
    "--config": "a server does not look for usher.yaml",
    "--dry-run": "says what each command leaves undone",
    "--fail-on": "`replay` counts differences by the same outcomes",
    "--force": "says what each command replaces",
    "--format": "each command has its own documents",
    "--helm-values": "says what each command prints",
    "--output": "says what each command writes",
    "--output-dir": FOR_A_POD,
    "--policies": "says which policies a command takes, and why",
    "--prometheus": FOR_A_POD,
    "--prometheus-header": FOR_A_POD,
    "--prometheus-label": FOR_A_POD,
    "--prometheus-secret": FOR_A_POD,
    "--report-objects": FOR_A_POD,
    "--shards": FOR_A_POD,
    "--url": "the webhooks and the portal have addresses of their own",
    "--verbose": "says what each command prints more",
    "--verify-key": FOR_A_POD,
    "-o": "as --output",
    "-v": "as --verbose",
}
"""Options whose help may differ between commands, each with the reason."""

OWN_VALUES: Final = {
    "--clusters": FOR_A_POD,
    "--format": "each command has its own documents",
    "--output": "a file, a folder of pages, or - for standard output",
    "--policies": "a server and a pod take bundles alone; `policies new` writes into one folder",
    "--prometheus-secret": FOR_A_POD,
    "--report-objects": FOR_A_POD,
    "--output-dir": FOR_A_POD,
    "--config": "a server does not look for usher.yaml",
    "-o": "as --output",
}
"""Options whose values may differ between commands, each with the reason."""

ASKS_A_CLUSTER: Final = frozenset({"--facts", "--kubeconfig", "--context"})


class Meaning(NamedTuple):
    """The values that an option takes, and the words of its help."""

    values: str
    metavar: str | None
    repeatable: bool
    help: str


def commands(group: click.Command, name: str = "usher") -> Iterator[tuple[str, click.Command]]:
    yield name, group
    if isinstance(group, click.Group):
        context = click.Context(group)
        for each in group.list_commands(context):
            found = group.get_command(context, each)
            assert found is not None
            yield from commands(found, f"{name} {each}")


def options() -> dict[str, dict[str, click.Option]]:
    """All options that help pages show, by name and command."""
    found: dict[str, dict[str, click.Option]] = defaultdict(dict)
    for name, each in commands(main.usher):
        for option in each.params:
            if isinstance(option, click.Option) and not option.hidden:
                for spelling in option.opts:
                    found[spelling][name] = option
    return found


def meaning(option: click.Option) -> Meaning:
    kind = option.type.to_info_dict()
    values = str({key: value for key, value in kind.items() if key in ("choices", "name", "min", "max")})
    return Meaning(values=values, metavar=option.metavar, repeatable=option.multiple, help=option.help or "")


def different(found: dict[str, click.Option], of: Callable[[Meaning], object]) -> dict[object, list[str]]:
    """The commands by what `of` says of the option, if they do not agree."""
    by_meaning = defaultdict(list)
    for name, option in found.items():
        by_meaning[of(meaning(option))].append(name)
    return dict(by_meaning) if len(by_meaning) > 1 else {}


def test_an_option_takes_the_same_values_in_all_commands() -> None:
    found = {name: different(each, lambda given: given[:3]) for name, each in options().items()}

    assert {name: each for name, each in found.items() if each and name not in OWN_VALUES} == {}


def test_an_option_has_the_same_help_in_all_commands() -> None:
    found = {name: different(each, lambda given: given.help) for name, each in options().items()}

    assert {name: each for name, each in found.items() if each and name not in OWN_HELP} == {}


def test_no_exception_is_stale() -> None:
    found = options()

    assert [name for name in OWN_HELP if not different(found[name], lambda given: given.help)] == []
    assert [name for name in OWN_VALUES if not different(found[name], lambda given: given[:3])] == []


def test_namespace_is_where_objects_without_one_live() -> None:
    found = {meaning(option).help for option in options()["--namespace"].values()}

    assert found == {"Namespace of objects without one, as in kubectl."}


def test_every_command_with_facts_can_ask_a_cluster() -> None:
    by_command = defaultdict(set)
    for spelling, found in options().items():
        for name in found:
            by_command[name].add(spelling)

    assert {name for name, given in by_command.items() if "--facts" in given and not given >= ASKS_A_CLUSTER} == set()
    assert "`live`" in meaning(options()["--facts"]["usher fix"]).help


def test_shared_help_names_no_other_command() -> None:
    shared = {name: found for name, found in options().items() if len(found) > 1 and name not in OWN_HELP}
    tools = ("usher snapshot", "usher policies build")
    named = {
        name: words
        for name, found in shared.items()
        for words in re.findall(r"`(usher [a-z ]+)`", meaning(next(iter(found.values()))).help)
        if words not in tools
    }

    assert named == {}


def test_the_plugin_of_kubectl_names_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (["--help"], ["queue", "--help"], ["queue"]):
        monkeypatch.setattr(sys, "argv", ["kubectl-usher", *arguments])
        with pytest.raises(SystemExit):
            main.kubectl_main()
        printed = capsys.readouterr()
        shown = printed.out + printed.err
        assert "Usage: kubectl usher" in shown
        assert "usher portal" not in shown
