"""CONTRIBUTING.md says where a new thing goes. In a copy, each is added in the files that it names, and in no other.

Kinds are added in tests/unit/kinds/test_one_registry.py, checks and mutations in tests/integration/test_new_rules.py. A
section of an audit cannot be added by files alone: it has a shape in the document and a table in each report.
"""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import compile_tables
import pytest
import yaml
from lsprotocol import types

import builders
import helm
from integration import command, editor
from integration.command import Run, write
from usher import paths

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A copy of the package that may be changed."""

    root: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"PYTHONPATH": f"{self.root / 'webhooks'}:{ROOT / 'tests'}"}

    def insert(self, file: str, before: str, lines: str) -> None:
        """Writes lines after the line that ends with `before`."""
        path = self.root / "webhooks" / "usher" / file
        head, found, rest = path.read_text().partition(before + "\n")
        assert found, f"{file} has no line that ends with {before}"
        path.write_text(head + found + lines + rest)

    def add(self, file: str, content: str) -> None:
        path = self.root / "webhooks" / "usher" / file
        assert not path.exists()
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)

    def usher(self, *arguments: str | Path) -> Run:
        return self.python("-m", "usher", *arguments)

    def python(self, *arguments: str | Path) -> Run:
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            env=command.environment(**self.environment),
            cwd=self.root,
            capture_output=True,
            check=False,
            timeout=120,
        )
        return Run(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    # With what Python has compiled, which holds for files of equal times.
    shutil.copytree(ROOT / "webhooks" / "usher", tmp_path / "webhooks" / "usher")
    (tmp_path / "policies").symlink_to(ROOT / "policies")
    return Copy(root=tmp_path)


def training(resource: str, *, node_selector: dict[str, str] | None = None) -> paths.Object:
    """A PyTorchJob of two pods."""
    container = builders.container("pytorch", requests={resource: 8}, limits={resource: 8})
    spec: dict[str, Any] = {"containers": [container], "nodeSelector": node_selector or {}}
    replicas: Any = {role: {"replicas": 1, "template": {"spec": spec}} for role in ("Master", "Worker")}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "bert", "namespace": "ml"},
        "spec": {"pytorchReplicaSpecs": replicas},
    }


def test_a_fabric_is_a_profile_in_its_file(copy: Copy) -> None:
    copy.insert(
        "config/fabrics.yaml",
        "settings that sites usually add in their own profiles.",
        "slingshot:\n"
        "  about: Slingshot, with libfabric.\n"
        "  profile:\n"
        "    env: {FI_PROVIDER: cxi}\n"
        "  sources:\n"
        "    - https://ofiwg.github.io/libfabric/main/man/fi_cxi.7.html\n",
    )
    labels = {"example.com/pool": "cray"}
    pool = {"name": "cray", "nodeSelector": labels, "resources": [builders.GPU], "fabric": "slingshot"}
    (copy.root / "usher.yaml").write_text(yaml.safe_dump({**command.CONFIG, "pools": [pool]}))
    file = write(copy.root / "job.yaml", training(builders.GPU, node_selector=labels))

    run = copy.usher("check", "--diff", file)

    assert "FI_PROVIDER=cxi" in run.out


@pytest.mark.thorough
def test_an_accelerator_vendor_is_an_entry_of_its_names(copy: Copy) -> None:
    copy.insert(
        "accelerators/vendors.yaml",
        "# The names of vendors.",
        "tenstorrent:\n  - {unit: device, names: [tenstorrent.com/n300]}\n",
    )
    compile_tables.write(copy.root / "webhooks/usher")
    file = write(copy.root / "job.yaml", training("tenstorrent.com/n300"))

    run = copy.usher("workload", "show", file)

    assert "16 tenstorrent.com/n300 (extended resource)" in run.out


def test_a_report_format_is_a_module_in_formats_and_a_line_in_known_formats(copy: Copy) -> None:
    copy.add(
        "check/formats/table.py",
        "from typing import TextIO\n\n"
        "from usher.check import findings\n\n\n"
        "def write(found: findings.Report, stream: TextIO, /) -> None:\n"
        "    for result in found.results:\n"
        '        stream.write(f"{result.identity},{result.outcome}\\n")\n',
    )
    copy.insert(
        "cli/formats.yaml", "formats:", "  table: {run: usher.check.formats.table:write, reader: spreadsheets}\n"
    )
    compile_tables.write(copy.root / "webhooks/usher")
    file = write(copy.root / "bad.yaml", command.bad())

    run = copy.usher("check", "--format", "table", file)

    assert (run.code, run.out) == (1, "Job ml-research/bad,deny\n")
    assert "spreadsheets" in copy.usher("audit", "--help").out


@pytest.mark.thorough
def test_a_format_of_audits_is_a_module_in_their_reports_and_a_line_in_known_formats(copy: Copy) -> None:
    copy.add(
        "audit/reports/poster.py",
        "from typing import TextIO\n\n"
        "from usher.audit.document import Audit\n\n\n"
        "def write(audit: Audit, stream: TextIO, /) -> None:\n"
        '    stream.write(f"{len(audit.findings)} findings hang on the wall\\n")\n',
    )
    copy.insert("cli/formats.yaml", "formats:", "  poster: {audit: usher.audit.reports.poster:write, reader: walls}\n")
    compile_tables.write(copy.root / "webhooks/usher")
    file = write(copy.root / "bad.yaml", command.bad())

    assert "findings hang on the wall\n" in copy.usher("audit", "--format", "poster", file).out


def test_an_option_of_a_command_is_a_row_and_a_parameter_of_the_command(copy: Copy) -> None:
    copy.insert(
        "cli/commands.yaml",
        "help: Accept workloads that have parts which usher cannot judge.}",
        "  - {option: --greet, metavar: NAME, help: Greet NAME first.}\n",
    )
    compile_tables.write(copy.root / "webhooks/usher")
    copy.insert("cli/check.py", "def check(\n    context: click.Context,\n    *,", "    greet: str | None,\n")
    copy.insert(
        "cli/check.py",
        "    from usher.check.formats import wording\n\n    with run.deciding(baseline) as (decided, deciding, notes):",
        '        click.echo(f"Good morning, {greet}.")\n',
    )
    file = write(copy.root / "bad.yaml", command.bad())

    assert copy.usher("check", "--greet", "Ada", file).out.startswith("Good morning, Ada.\n")
    assert "Greet NAME first." in copy.usher("check", "--help").out


@pytest.mark.thorough
def test_a_metric_is_in_the_metrics_of_the_server(copy: Copy) -> None:
    copy.insert(
        "server/metrics.py",
        "self.registry = prometheus.CollectorRegistry()",
        '        prometheus.Gauge("usher_moon_phase", "Light of the moon.", registry=self.registry).set(0.5)\n',
    )
    show = "from usher.server.metrics import Metrics; print(Metrics(engine='e', revision='r').exposition().decode())"

    assert "\nusher_moon_phase 0.5\n" in copy.python("-c", show).out


@pytest.mark.thorough
def test_a_trace_span_is_in_the_server_around_the_calls_of_review(copy: Copy) -> None:
    copy.add(
        "server/spans.py",
        "from collections.abc import Iterator\n"
        "from contextlib import contextmanager\n\n\n"
        "@contextmanager\n"
        "def span(name: str) -> Iterator[None]:\n"
        '    print("begin", name)\n'
        "    yield\n"
        '    print("end", name)\n',
    )
    imported = "from usher.server.spans import span\n"
    copy.insert("server/reviews.py", "from usher.server.reloading import Current", imported)
    copy.insert(
        "server/reviews.py",
        "async def _review(self, review: Endpoint, body: bytes, when: ReviewTime) -> Answer:",
        "        with span(review.__name__):\n"
        "            return await self._reviewed(review, body, when)\n\n"
        "    async def _reviewed(self, review: Endpoint, body: bytes, when: ReviewTime) -> Answer:\n",
    )  # fmt: skip
    script = copy.root / "review.py"
    script.write_text(
        "import asyncio\n"
        "import builders, reviews\n"
        "from unit.server.asgi import call, chunks\n"
        "from usher.config import models\n"
        "from usher.policy import assembly\n"
        "from usher.server.metrics import Metrics\n"
        "from usher.server.reloading import Current\n"
        "from usher.server.reviews import Reviews\n\n"
        "evaluator = assembly.embedded(models.Config())\n"
        "current = Current(evaluator, file=None, make=lambda _: evaluator)\n"
        "app = Reviews(current=current, metrics=Metrics(engine='e', revision='r'), stopping=lambda: False)\n"
        "body = reviews.body(builders.pod(builders.container(gpus=1)))\n"
        "print(asyncio.run(call(app, '/validate', chunks(body))).status)\n"
    )

    run = copy.python(script)

    shown = [line for line in run.out.splitlines() if "endpoint" not in line]
    assert shown == ["begin validate", "end validate", "200"]


@pytest.mark.thorough
async def test_an_answer_to_an_editor_is_a_module_in_editor_and_a_line_in_serving(copy: Copy) -> None:
    copy.add(
        "check/editor/links.py",
        "def documents(text: str) -> list[int]:\n"
        "    return [number for number, line in enumerate(text.splitlines()) if line == '---']\n",
    )
    copy.insert(
        "check/editor/serving.py",
        "types.TEXT_DOCUMENT_COMPLETION: self._completion,",
        "            types.TEXT_DOCUMENT_FOLDING_RANGE: self._folds,\n",
    )
    copy.insert(
        "check/editor/serving.py",
        '    """Serves one editor over a pair of streams."""',
        "\n    def _folds(self, params: types.FoldingRangeParams) -> list[types.FoldingRange]:\n"
        "        from usher.check.editor import links\n"
        "        text = self._language.workspace.get_text_document(params.text_document.uri).source\n"
        "        return [types.FoldingRange(start_line=line, end_line=line + 1) for line in links.documents(text)]\n",
    )
    file = copy.root / "two.yaml"

    async with editor.started(cwd=copy.root, environment=copy.environment) as client:
        client.open(file.as_uri(), "kind: Pod\n---\nkind: Pod\n")
        params = types.FoldingRangeParams(types.TextDocumentIdentifier(file.as_uri()))
        found = await client.client.text_document_folding_range_async(params)

    assert [each.start_line for each in found or ()] == [1]


def test_an_authority_is_a_folder_and_an_entry_of_the_registry(copy: Copy) -> None:
    copy.add("authorities/curfew/__init__.py", "")
    copy.add("authorities/curfew/read.py", 'def closed() -> frozenset[str]:\n    return frozenset({"ml"})\n')
    copy.add(
        "authorities/curfew/judge.py",
        "from usher.authorities.verdict import Answer\n\n\n"
        "def judge(namespace: str, closed: frozenset[str]) -> Answer:\n"
        "    return Answer.NEVER if namespace in closed else Answer.FITS\n",
    )
    copy.add(
        "authorities/curfew/present.py",
        "from usher.authorities.curfew import judge, read\n"
        "from usher.authorities.authority import Section\n\n\n"
        "def outlook(case, known):\n"
        "    answer = judge.judge(case.workload.namespace, read.closed())\n"
        '    yield Section(authority="Curfew", answer=answer, reasons=("the lights are out",))\n',
    )
    registry = "authorities/registry.py"
    copy.insert(registry, "from usher.authorities.authority import KAI, NODES, Authority, Case, Ground, Section",
                "from usher.authorities.curfew import present as curfew\n")  # fmt: skip
    copy.insert(registry, "AUTHORITIES: Final = (", "    Authority(outlook=curfew.outlook),\n")
    file = write(copy.root / "job.yaml", training(builders.GPU))
    facts = copy.root / "facts"
    facts.mkdir()
    write(facts / "namespace.yaml", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}})

    run = copy.usher("queue", "--facts", facts, file)

    assert "Curfew" in run.out
    assert "the lights are out" in run.out


@pytest.mark.thorough
def test_an_item_of_the_checklist_is_an_entry_and_a_function_of_its_area(copy: Copy) -> None:
    copy.insert(
        "audit/readiness/items.yaml",
        "conformance: ai_service_metrics",
        "\n- id: moon\n  area: monitoring\n  title: The moon is up\n  how: Someone looks.\n  remedy: Wait.\n"
        "  reference: https://science.nasa.gov/moon/\n",
    )
    copy.insert(
        "audit/readiness/checklist.py",
        "MONITORING_JUDGES: Final[Mapping[str, Judge]] = {",
        '    "moon": lambda look: passed("it shines"),\n',
    )

    assert "The moon is up" in copy.usher("audit", "--demo", "--format", "json").out


@helm.needs_helm
def test_a_value_of_the_chart_is_in_its_values_schema_and_templates(tmp_path: Path) -> None:
    chart = tmp_path / "gpu-usher"
    shutil.copytree(helm.CHART, chart)
    values, schema = chart / "values.yaml", chart / "values.schema.json"
    values.write_text(f"{values.read_text()}\n# What the server greets with.\nmotto: Good morning\n")
    schema.write_text(schema.read_text().replace('"properties": {', '"properties": {"motto": {"type": "string"},', 1))
    (chart / "templates/motto.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: motto}\ndata: {motto: {{ .Values.motto | quote }}}\n"
    )
    shown: list[str | Path] = ["template", "gpu-usher", chart, f"--namespace={helm.NAMESPACE}", "--kube-version=1.36.0"]

    assert 'data: {motto: "Good evening"}' in helm.run([*shown, "--set=motto=Good evening"], home=tmp_path)
    assert "motto" in helm.run([*shown, "--set=motto.of=day"], home=tmp_path, code=1)
