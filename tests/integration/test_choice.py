"""`usher check --select`, `--ignore` and `--preset`, and what `usher policies list` says of them."""

import json
from pathlib import Path

import pytest

from integration.command import BAD_EXAMPLE, Run, bad, config, usher, write

pytestmark = pytest.mark.costly


def codes(run: Run) -> dict[str, str]:
    return {each["code"]: each["outcome"] for result in run.json["workloads"] for each in result["findings"]}


def check(*arguments: str | Path) -> Run:
    return usher("check", BAD_EXAMPLE, *arguments, "--format", "json")


def test_selected_checks_alone_judge() -> None:
    everything = codes(check())

    for word in ("USH103", "gpu-requests-equal-limits", "ush103"):
        assert codes(check("--select", word)) == {"USH103": everything["USH103"]}
    by_category = codes(check("--select", "resources"))
    assert by_category.items() <= everything.items()
    assert "USH103" in by_category


def test_ignored_checks_do_not_judge() -> None:
    everything = codes(check())
    without = codes(check("--ignore", "USH103"))

    assert without == {code: outcome for code, outcome in everything.items() if code != "USH103"}
    assert codes(check("--select", "resources", "--ignore", "USH103")).keys().isdisjoint({"USH103"})


def test_a_preset_replaces_that_of_usher_yaml(tmp_path: Path) -> None:
    site = config(tmp_path / "usher.yaml", enforcement={"preset": "observe"})

    assert set(codes(check("--config", site)).values()) == {"audit"}
    assert codes(check("--config", site, "--preset", "recommended"))["USH103"] == "deny"
    assert check("--config", site, "--preset", "strict").json["configuration"]["preset"] == "strict"


def test_a_rule_of_usher_yaml_decides_about_selected_checks_too(tmp_path: Path) -> None:
    site = config(tmp_path / "usher.yaml", enforcement={"rules": [{"check": "USH103", "action": "warn"}]})

    assert codes(check("--config", site, "--select", "USH103")) == {"USH103": "warn"}


def test_the_report_says_that_checks_are_left_out() -> None:
    run = usher("check", BAD_EXAMPLE, "--select", "USH103")

    assert "left out: --select USH103: judged by 1 of " in run.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--select", "USH10x"), "--select: no check or category is called USH10x; did you mean"),
        (("--ignore", "resource"), "--ignore: no check or category is called resource; did you mean resources?"),
        (("--select", "USM201"), "--select: no check or category is called USM201"),
        (("--select", "USH223"), "--select USH223: these checks are off, so nothing would be judged; --preset strict"),
    ],
)
def test_a_run_that_would_judge_nothing_fails(arguments: tuple[str, ...], message: str) -> None:
    run = usher("check", BAD_EXAMPLE, *arguments)

    assert run.code == 2
    assert message in run.err


def test_a_selected_check_that_only_strict_has_judges_under_strict(tmp_path: Path) -> None:
    assert usher("check", write(tmp_path / "a.yaml", bad()), "--select", "USH223", "--preset", "strict").code == 0


def listed(*arguments: str | Path) -> dict[str, tuple[str, str]]:
    run = usher("policies", "list", *arguments, "--format", "json")
    return {each["code"]: (each["outcome"], each["because"]) for each in json.loads(run.out)}


def test_the_list_says_what_decides_about_each_check(tmp_path: Path) -> None:
    rules = [{"check": "USH103", "action": "warn"}, {"check": "placement", "action": "off"}]
    site = config(tmp_path / "usher.yaml", enforcement={"rules": rules})

    found = listed("--config", site, "--ignore", "USH216")

    assert found["USH103"] == ("warn", "enforcement.rules[0]")
    assert found["USH215"] == ("deny", "preset recommended")
    assert found["USH223"] == ("off", "preset recommended; only strict has it")
    assert found["USH216"] == ("off", "--ignore")
    assert listed("--select", "USH103")["USH216"] == ("off", "--select")
    assert listed("--preset", "strict")["USH223"] == ("deny", "preset strict")


def test_the_list_counts_the_checks_that_are_on() -> None:
    run = usher("policies", "list", "--select", "USH103", "--category", "resources")

    assert "USH103" in run.out
    assert run.out.splitlines()[-1].startswith("1 of ")


def test_the_list_has_selected_checks_that_are_off() -> None:
    (listed,) = usher("policies", "list", "--select", "USH223", "--search", "USH223", "--format", "json").json

    assert listed["code"] == "USH223"
    assert listed["outcome"] == "off"


def test_an_exception_for_a_check_that_is_left_out_is_not_said_to_cover_nothing(tmp_path: Path) -> None:
    exception = {"owner": "ann", "reason": "moves", "ticket": "GPU-1", "expires": "2999-01-31", "checks": ["USH103"]}
    site = config(tmp_path / "usher.yaml", enforcement={"exceptions": [exception]})
    good = write(tmp_path / "good.yaml", {**bad(), "kind": "ConfigMap", "apiVersion": "v1", "spec": None})

    assert "covers nothing here" in usher("check", good, "--config", site).out
    assert "covers nothing here" not in usher("check", good, "--config", site, "--select", "USH101").out
