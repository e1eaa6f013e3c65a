"""The commands on the pages run, and print what the pages show below them.

`tests/data/pages/commands.yaml` says for each page what it needs, and why a command does not run. In a block, lines
after `$ COMMAND` are what it prints; the line `...` stands for any lines. A block below a path in backticks is that
file.

After an intended change, `USHER_UPDATE_GOLDEN=1 pytest` of this file writes what commands print into the pages, except
where `...` leaves lines out.
"""

import os
import re
import shlex
import shutil
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

import opa_server
from integration import api_server, command
from integration.work_tree import TOOLS
from usher.config import models
from usher.kinds import registry

pytestmark = pytest.mark.process

ROOT: Final = Path(__file__).parents[2]
DATA: Final = ROOT / "tests/data/pages"
TABLE: Final = yaml.safe_load((DATA / "commands.yaml").read_text())
PAGES: Final = [
    str(page.relative_to(ROOT))
    for page in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("certs/*/*.md")])
]
BLOCK: Final = re.compile(
    r"(?:`(?P<file>[^`\s]+\.(?:yaml|rego))`:\n\n)?^ *```(?P<language>\w*)\n(?P<text>.*?)^ *```",
    re.MULTILINE | re.DOTALL,
)
RUN_HERE: Final = ("usher", "git", "openssl")


class Step:
    """A command of a page, what the page shows below it, and where; or a file."""

    def __init__(self, *, line: str = "", shown: str = "", place: tuple[int, int] = (0, 0), file: str = "") -> None:
        self.line, self.shown, self.place, self.file = line, shown, place, file


def steps(text: str) -> Iterator[Step]:
    for block in BLOCK.finditer(text):
        body = block["text"]
        if block["file"]:
            yield Step(file=block["file"], shown=textwrap.dedent(body))
        elif body.lstrip().startswith("$ "):
            for found in re.finditer(r"^ *\$ (.+)\n((?:(?! *\$ ).*\n)*)", body, re.MULTILINE):
                start = block.start("text")
                yield Step(line=found[1], shown=found[2], place=(start + found.start(2), start + found.end(2)))
        elif block["language"] in ("", "sh") and program(body) in (*RUN_HERE, *TABLE["programs"]):
            for line in re.sub(r"(\\|(?<=\|))\n *", " ", body).splitlines():
                yield Step(line=line.strip())


def program(line: str) -> str:
    """The first program of a line of shell, without variables before it and without its folder."""
    words = [word for word in line.split() if not re.match(r"[A-Z_]+=", word)]
    return Path(words[0]).name if words and "/scripts/" not in f"/{words[0]}" else "scripts" if words else ""


def parts(line: str) -> list[list[str]]:
    """The commands of a line of a shell, each behind the operator before it."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|>&;")
    words.whitespace_split = True
    found = [["&&"]]
    for word in words:
        if set(word) <= set("|>&;"):
            found.append([word])
        else:
            found[-1].append(word)
    return found


def rows(page: str) -> dict[str, Any]:
    found: dict[str, Any] = TABLE["pages"].get(page, {})
    return found


def row(page: str, line: str) -> dict[str, Any]:
    """The row of the table for a command; the words after # are for readers."""
    found = rows(page).get("commands", {}).get(re.sub(r"\s+#\s.*", "", line).strip(), {})
    return {"away": found} if isinstance(found, str) else found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with a kubeconfig that leads to a small cluster, and a snapshot of it."""
    folder = tmp_path_factory.mktemp("home")
    (folder / ".kube").mkdir()
    with api_server.running() as api:
        api.serve_kind("v1", "pods")
        api.page = 500
        objects = yaml.safe_load_all((ROOT / "tests/data/queue/cluster.yaml").read_text())
        api.add(*(each for each in objects if each["kind"] in {kind.kind for kind in registry.LISTED}))
        api_server.kubeconfig(folder / ".kube/config", api.url)
        words = ("snapshot", "-o", "cluster.json.gz", "--workloads", "workloads.jsonl")
        made = command.usher(*words, cwd=folder, env=env(folder))
        assert made.code == 0, made.err
        yield folder


def env(home: Path) -> dict[str, str]:
    path = f"{TOOLS}:{os.environ['PATH']}"
    return {"HOME": str(home), "PATH": path, "USHER_OPA": str(opa_server.OPA), "USHER_CACHE_DIR": str(home / "cache")}


def folder(page: str, home: Path, tmp_path: Path) -> Path:
    """A folder with the files that the commands of a page find where they run."""
    work = tmp_path / "work"
    shutil.copytree(ROOT / "examples", work / "examples")
    for name, to in {"tests/data/pages/files": ".", **rows(page).get("folders", {})}.items():
        shutil.copytree(ROOT / name, work / to, dirs_exist_ok=True)
    for name in ("cluster.json.gz", "workloads.jsonl"):
        shutil.copy(home / name, work)
    if rows(page).get("git"):
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        for words in (
            ["init", "-q"],
            ["add", "."],
            [*identity, "commit", "-qm", "a"],
            ["update-ref", "refs/remotes/origin/main", "HEAD"],
        ):
            subprocess.run(["git", *words], cwd=work, check=True)
    return work


def run(line: str, *, work: Path, home: Path) -> tuple[int, str, str]:
    """The exit code of the last command that ran here, what it printed, and its errors."""
    code, out, err = 0, "", ""
    for operator, *words in parts(line):
        given = out if operator == "|" else ""
        if operator == ">":
            (work / words[0]).write_text(out)
            out = ""
        elif operator == "&&" and code:
            break
        elif Path(words[0]).name == "usher":
            done = command.usher(*words[1:], stdin=given, cwd=work, env=env(home))
            code, out, err = done.code, done.out, done.err
        elif instead := as_run_here(words):
            ended = subprocess.run(
                instead, cwd=work, input=given, capture_output=True, text=True, check=False, env=env(home)
            )
            code, out, err = ended.returncode, ended.stdout, ended.stderr
        elif operator == "|":
            assert words[:2] == ["kubectl", "apply"]
            assert all({"apiVersion", "kind"} <= set(each) for each in yaml.safe_load_all(out)), line
        else:
            out = (DATA / "rendered.yaml").read_text()
    return code, out, err


def is_shown(out: str, shown: str) -> bool:
    pattern = "".join(
        "(?:.*\n)*?" if each.strip() == "..." else re.escape(each) for each in shown.splitlines(keepends=True)
    )
    return re.fullmatch(pattern, out.rstrip("\n") + "\n") is not None


def as_run_here(words: list[str]) -> list[str]:
    """The command that runs for one of a page; empty for others. Without a cluster, kubectl and helm only render."""
    ours = [str(ROOT / word) if word.startswith("manifests/") else word for word in words]
    if words[:3] == ["kubectl", "apply", "-k"]:
        return ["kubectl", "kustomize", ours[3]]
    if words[0] == "helm" and words[1] in ("install", "upgrade"):
        given = (word for word in ours[2:] if word != "--reuse-values")
        return ["helm", "template", "--kube-version=1.36.0", *given]
    return words if Path(words[0]).name in RUN_HERE else []


def runs_here(step: Step) -> bool:
    return any(as_run_here(words) for _, *words in parts(step.line) if words)


@pytest.mark.parametrize("page", [page for page in PAGES if any(map(runs_here, steps((ROOT / page).read_text())))])
def test_the_commands_of_a_page_print_what_it_shows(page: str, home: Path, tmp_path: Path) -> None:
    if missing := [each for each in rows(page).get("needs", []) if shutil.which(each, path=env(home)["PATH"]) is None]:
        pytest.skip(f"needs {' and '.join(missing)}")
    text, work, wrong = (ROOT / page).read_text(), folder(page, home, tmp_path), []
    printed: list[tuple[Step, str]] = []
    for step in steps(text):
        expected = row(page, step.line)
        if step.file:
            (work / step.file).parent.mkdir(parents=True, exist_ok=True)
            (work / step.file).write_text(step.shown)
        elif not expected.get("away") and runs_here(step):
            code, out, err = run(expected.get("instead", step.line), work=work, home=home)
            if code != expected.get("code", 0):
                wrong.append(f"{step.line}: exit code {code}\n{err or out}")
            elif step.shown and not is_shown(out, step.shown):
                printed.append((step, out))
    if os.environ.get("USHER_UPDATE_GOLDEN"):
        for step, out in reversed(printed):
            if "...\n" not in step.shown:
                text = text[: step.place[0]] + out.rstrip("\n") + "\n" + text[step.place[1] :]
        (ROOT / page).write_text(text)

    assert "\n".join([*wrong, *(f"{step.line} prints:\n{out}" for step, out in printed)]) == ""


def test_the_table_says_why_each_other_command_does_not_run() -> None:
    found = {page: list(steps((ROOT / page).read_text())) for page in PAGES}
    lines = {(page, re.sub(r"\s+#\s.*", "", step.line).strip()) for page, each in found.items() for step in each}
    programs = {program(line) for _, line in lines if line}

    assert [each for each in sorted(programs - set(RUN_HERE)) if each not in TABLE["programs"]] == []
    stale = [
        (page, line)
        for page, each in TABLE["pages"].items()
        for line in each.get("commands", {})
        if (page, line) not in lines
    ]
    assert stale == []
    reasons = [*TABLE["programs"].values(), *(row(page, line).get("away") or "" for page, line in lines)]
    tests = {path for reason in reasons for path in re.findall(r"tests/[\w/.]+", reason)}
    assert sorted(path for path in tests if not (ROOT / path).exists()) == []


def test_the_files_that_commands_of_others_name_are_there() -> None:
    named = {
        word
        for page in PAGES
        for step in steps((ROOT / page).read_text())
        for words in parts(step.line)
        for word in words[2:]
        if words[1] not in RUN_HERE and re.match(r"(manifests|tests|scripts|policies)/", word)
    }

    assert sorted(path for path in named if not (ROOT / path).exists()) == []
    assert "manifests/base" in named


def test_every_usher_yaml_of_a_page_is_good() -> None:
    fields = {each.alias or name for name, each in models.Config.model_fields.items()}
    found = [
        (page, value)
        for page in PAGES
        for block in re.findall(r"^ *```yaml\n(.*?)^ *```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
        if isinstance(value := next(iter(yaml.safe_load_all(block))), dict) and set(value) <= fields and value
    ]

    for page, value in found:
        models.Config.model_validate(value), page
    assert {page for page, _ in found} >= {"docs/operations.md", "docs/roles-and-pools.md", "docs/check.md"}


def test_the_first_page_counts_the_findings_of_its_example() -> None:
    findings = command.usher("check", command.BAD_EXAMPLE, "--format", "json").json["workloads"][0]["findings"]
    outcomes = [each["outcome"] for each in findings]

    assert "bad-pytorchjob.yaml) has five errors and two warnings " in (ROOT / "README.md").read_text()
    assert (outcomes.count("deny"), outcomes.count("warn")) == (5, 2)
