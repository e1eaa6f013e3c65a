"""docs/architecture.md names modules that exist."""

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
FILES: Final = {
    f"/{file.relative_to(ROOT).as_posix()}"
    for folder in ("webhooks", "policies", "tests", "tools", "manifests")
    for file in (ROOT / folder).rglob("*")
}


def test_each_file_of_the_page_is_there() -> None:
    """The page leaves out the folders above a file, and writes NAME for any name."""
    named = set(re.findall(r"`([a-z][a-z_./-]+\.(?:py|rego|json))`", PAGE))

    assert {name for name in named if not any(file.endswith(f"/{name}") for file in FILES)} == set()
    assert len(named) > 100


def test_each_module_on_the_way_of_an_audit_is_there() -> None:
    way = PAGE.partition("## The way of an audit")[2].partition("```")[2].partition("```")[0]
    named = {
        word.rstrip(",")
        for line in way.splitlines()
        for word in line.split()
        if re.fullmatch(r"(cli|scan|audit|history|reports)\.[a-z_.]+,?", word)
    }

    paths = {name: ROOT / "webhooks/usher" / name.replace(".", "/") for name in named}
    assert {
        name for name, path in paths.items() if not path.is_dir() and not path.with_suffix(".py").is_file()
    } == set()
    assert len(named) > 12
