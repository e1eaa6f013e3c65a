"""The options of `usher audit` about usage."""

from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from builders import usage as build
from usher import errors
from usher.audit.prometheus.promql_source import PrometheusSource
from usher.audit.usage import usage_metrics
from usher.cli import audit_usage, inputs
from usher.config.models import Audit

GIVEN: list[audit_usage.UsageOptions] = []


@inputs.command("audit", formats="")
def command(*, usage: audit_usage.UsageOptions, **_: object) -> None:
    GIVEN.append(usage)


def run(*arguments: str, **environment: str) -> tuple[int, str]:
    GIVEN.clear()
    result = CliRunner().invoke(command, arguments, env={"USHER_PROMETHEUS": None, **environment})
    return result.exit_code, result.output


def test_a_week_is_measured_by_default_and_nothing_without_prometheus() -> None:
    assert run() == (0, "")
    (options,) = GIVEN
    assert (options.prometheus.url, options.window, options.step) == (None, timedelta(days=7), None)
    found = options.measure(build.estate_of([]), config=Audit(), now=build.BASE)
    assert found.measurement.source == "none"


def test_options_are_read_from_the_command_line_and_the_environment(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret")
    arguments = ["--prometheus-token-file", str(token), "--window", "30d", "--step", "30m"]

    assert run(*arguments, USHER_PROMETHEUS="http://prometheus:9090/") == (0, "")

    (options,) = GIVEN
    assert (options.window, options.step) == (timedelta(days=30), timedelta(minutes=30))
    source = options.source()
    assert source is not None
    assert (source.name, source.url) == ("prometheus", "http://prometheus:9090")


def test_labels_and_the_name_of_the_cluster_choose_the_series() -> None:
    run("--prometheus", "http://p", "--prometheus-label", "cluster={cluster}", "--prometheus-label", "region=eu")
    (options,) = GIVEN
    named = replace(options, cluster="prod-1").source()

    assert isinstance(named, PrometheusSource)
    assert named.expression(usage_metrics.GPU_UTIL, step=60) == (
        'avg_over_time(DCGM_FI_DEV_GPU_UTIL{cluster="prod-1", region="eu"}[60s])'
    )
    assert named.expression(usage_metrics.AMD_ACTIVE, step=60) == (
        '(avg_over_time(gpu_gfx_activity{cluster="prod-1", region="eu"}[60s])'
        ' or avg_over_time(amd_gpu_gfx_activity{cluster="prod-1", region="eu"}[60s]))'
    )
    with pytest.raises(errors.InputError, match="give it with --cluster-name NAME"):
        options.source()


def test_another_source_wins() -> None:
    run()
    (options,) = GIVEN

    found = options.measure(build.estate_of([]), config=Audit(), now=build.BASE, source=build.Table(found={}))

    assert found.measurement.source == "demo"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--window", "week"], "'week' is not a number with s, m, h, d or w, for example 7d."),
        (["--window", "91d"], "91d is not between 1h and 90d."),
        (["--window", "30m"], "30m is not between 1h and 90d."),
        (["--step", "1s"], "1s is not between 15s and 1d."),
        (["--window", "1h", "--step", "2h"], "choose another --step than 2h"),
        (["--window", "90d", "--step", "15s"], "choose another --step than 15s"),
        (["--prometheus-ca", "ca.pem"], "the options --prometheus-... need --prometheus URL"),
        (["--prometheus-header", "A=b"], "the options --prometheus-... need --prometheus URL"),
        (["--prometheus", "http://p", "--prometheus-key", "k"], "give it with --prometheus-cert FILE"),
    ],
)
def test_what_cannot_be_measured_is_refused(arguments: list[str], message: str) -> None:
    code, output = run(*arguments)

    assert code == 2
    assert message in " ".join(output.split())
    assert GIVEN == []


def test_help_names_every_option() -> None:
    _, output = run("--help")

    for option in ("", "-secret", "-token-file", "-header", "-label", "-ca", "-cert", "-key"):
        assert f"--prometheus{option} " in output
    assert "--window" in output
    assert "--step" in output
    assert "[default: 7d]" in output
