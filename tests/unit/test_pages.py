"""The pages of the repository: their links and paths lead to files, and the index names every page."""

import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import yaml

from usher.cli.main import usher

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
PAGES: Final = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("domain/*.md"), DOCS / "checks/README.md"])
CONTEXT: Final = click.Context(usher)
BASES: Final = (
    ROOT,
    ROOT / "tests",
    ROOT / "webhooks",
    ROOT / "webhooks/usher",
    ROOT / "webhooks/usher/authorities/gpu_quota",
)
"""The folders that paths on the pages start from; the last one for the modules that keep the accounts of quotas."""


def links(page: Path) -> set[str]:
    """Where a page's links within the repository lead to, without the heading."""
    text = re.sub(r"^ *```.*?^ *```|`[^`\n]+`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = {target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)}
    return {target for target in targets if target and not re.match(r"https?:", target)}


def test_the_links_of_each_page_lead_to_files() -> None:
    ways = [(page.relative_to(ROOT), target) for page in PAGES for target in links(page)]

    assert [(str(page), target) for page, target in ways if not (ROOT / page.parent / target).exists()] == []


@functools.cache
def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them from its headings."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.+?) *#*$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        repeated = sum(each == anchor or re.fullmatch(rf"{re.escape(anchor)}-\d+", each) is not None for each in found)
        found.add(f"{anchor}-{repeated}" if repeated else anchor)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


def ways_to_headings(page: Path) -> set[tuple[Path, str]]:
    """The pages and headings that the links of a page lead to."""
    text = re.sub(r"^ *```.*?^ *```|`[^`\n]+`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = [target.partition("#") for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]
    return {(page.parent / path if path else page, anchor) for path, _, anchor in targets if anchor}


def test_the_links_of_each_page_lead_to_headings() -> None:
    ways = [(page, to.resolve(), anchor) for page in PAGES for to, anchor in ways_to_headings(page)]
    wrong = [each for each in ways if each[1].suffix == ".md" and each[2] not in headings(each[1])]

    assert wrong == []


def commands(page: Path) -> Iterator[tuple[str, click.Command, list[str]]]:
    """Each line with a command of usher on a page: the line, the command, and the options that follow it."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^ *```[^\n]*\n(.*?)^ *```", text, flags=re.MULTILINE | re.DOTALL)
    inline = re.findall(r"`([^`]+)`", re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL))
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    for line in [*lines, *(" ".join(each.split()) for each in inline)]:
        for part in re.split(r"[;|]|&&|\s#\s", line):
            found = re.match(r"\s*(?:\$ )?(kubectl )?usher ((?:[a-z-]+ )*.*)", part)
            if found is None:
                continue
            words = [*(["portal"] if found[1] else []), *found[2].split()]
            command: click.Command = usher
            while words and isinstance(command, click.Group) and words[0] in command.list_commands(CONTEXT):
                named = command.get_command(CONTEXT, words.pop(0))
                assert named is not None
                command = named
            yield line, command, words


def test_the_commands_of_each_page_have_the_options_that_it_names() -> None:
    wrong = []
    lines = [(page.name, *each) for page in PAGES for each in commands(page)]
    for page, line, command, words in lines:
        known = {each for parameter in command.params for each in (*parameter.opts, *parameter.secondary_opts)}
        given = {word.partition("=")[0].rstrip(".,)") for word in words if re.match(r"--?[a-z]", word)}
        wrong += [f"{page}: {each} in: {line}" for each in given - known - {"-h", "--help"}]

    assert wrong == []


EVERY_PAGE: Final = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("[cmpe]*/**/*.md")])
PLACEHOLDER: Final = re.compile(r"[A-Z<]|\.\.\.|$")
OUR_FOLDERS: Final = re.compile(r"(examples|tests|docs|certs|benchmarks|policies)/[\w./-]+\.\w+$")


def mistakes(command: click.Command, words: list[str]) -> Iterator[str]:
    """The missing parts of a command of a page: the command below its group, a value, a file of ours."""
    if isinstance(command, click.Group) and words and not re.match(r"-|[\[(]", words[0]):
        yield words[0]
    options = {name: each.type for each in command.params for name in each.opts if name.startswith("-")}
    for word, behind in itertools.zip_longest(words, words[1:], fillvalue=""):
        name, equals, value = word.partition("=")
        kind, written = options.get(name), value if equals else behind
        if isinstance(kind, click.Choice) and written not in kind.choices:
            yield f"{name} {written}"
    yield from (word for word in words if OUR_FOLDERS.match(word) and not (ROOT / word).exists())


def test_each_command_in_the_text_of_every_page_exists_with_its_values_and_files() -> None:
    wrong = [
        f"{page.relative_to(ROOT)}: {each} in: {line}"
        for page in EVERY_PAGE
        for line, command, words in commands(page)
        for each in mistakes(command, words)
        if not PLACEHOLDER.match(each.rpartition(" ")[2])
    ]
    assert wrong == []


def test_the_text_of_pages_has_many_commands() -> None:
    assert len({line for page in EVERY_PAGE for line, _, _ in commands(page)}) > 200


def modules(page: Path) -> set[str]:
    """The Python files that a page names in backticks, as patterns: a part in capitals stands for any name."""
    code = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
    return {
        re.sub(r"\b[A-Z]+\b", "*", path)
        for text in code
        for path in re.findall(r"(?<![\w./*-])[\w*.-]+(?:/[\w*.-]+)+\.py\b", text)
    }


def test_the_modules_that_each_page_names_are_files() -> None:
    named = {(path, page.name) for page in PAGES for path in modules(page)}

    assert sorted(each for each in named if not any(any(base.glob(each[0])) for base in BASES)) == []


def test_the_index_names_every_page() -> None:
    pages = {page.relative_to(DOCS).as_posix() for page in [*DOCS.glob("*.md"), *DOCS.glob("*/README.md")]}

    assert pages - {"README.md"} <= links(DOCS / "README.md")


def test_the_first_page_is_a_hundred_lines_at_most_and_shows_usher_at_work() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert len(readme.splitlines()) <= 100
    assert "](docs/pictures/check.svg)" in readme


def test_the_first_page_names_the_versions_and_the_amounts_that_the_manifests_have() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    versions = [each.rpartition(".")[0] for each in (ROOT / "tools/kubernetes_versions").read_text().split()]
    spec = yaml.safe_load((ROOT / "manifests/base/deployment.yaml").read_text())["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    requests, limits = container["resources"]["requests"], container["resources"]["limits"]
    memory, most = (each["memory"].replace("Mi", " MiB") for each in (requests, limits))

    assert f"tested: {', '.join(versions)}" in readme
    assert spec["replicas"] == 2
    assert f"two replicas of {requests['cpu']} CPU and {memory} (limit {most})" in readme
