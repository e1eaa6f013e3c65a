"""Own checks beside usher's in `usher check --policies`: as a directory, as a bundle, and as a signed bundle."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

import builders
import opa_server
import site_bundles
from builders import policies
from integration.command import Run, config, write

pytestmark = [*opa_server.needs_opa, pytest.mark.process]


@pytest.fixture
def begun(run_in: Any, tmp_path: Path) -> Path:
    """The directory of a run, with a new check and a pod that it warns about."""
    assert run_in("policies", "new", "gpus_per_team", "--policies", "checks", "--code", "ACME101").code == 0
    write(tmp_path / "pod.yaml", builders.pod(builders.container(gpus=9), name="big", namespace="research"))
    return tmp_path


def built(run_in: Any, *more: str | Path, path: str = "checks") -> Run:
    run: Run = run_in("policies", "build", path, "--output", "checks.bundle", *more)
    assert run.code == 0, run.err
    return run


def codes(run: Run) -> set[tuple[str, str]]:
    """The codes of all findings, with their outcomes."""
    return {(each["code"], each["outcome"]) for one in run.json["workloads"] for each in one["findings"]}


@pytest.mark.usefixtures("begun")
def test_own_checks_judge_beside_those_of_usher(run_in: Any) -> None:
    without = run_in("check", "pod.yaml", "--format", "json", "--as-written")
    run = run_in("check", "pod.yaml", "--policies", "checks", "--format", "json", "--as-written")

    assert codes(run) == codes(without) | {("ACME101", "warn")}
    (own,) = (
        each for one in run.json["workloads"] for each in one["findings"] if each["check"] == "site/gpus_per_team"
    )
    assert (own["name"], own["path"], own["message"], own["remedy"]) == (
        "gpus-per-team",
        "/spec",
        "the pod asks for 9 of nvidia.com/gpu",
        "ask for fewer",
    )


DESCRIPTION = """
workloads:
  - kind: TeamJob.platform.example.com
    versions: [v1]
    podSets:
      - {name: "'worker'", podTemplate: spec.worker, pods: "at(object, 'spec.count', 1)"}
"""


@pytest.mark.parametrize("policies_of_run", ["checks", "checks.bundle"])
def test_descriptions_of_kinds_come_with_the_checks_of_a_site(run_in: Any, begun: Path, policies_of_run: str) -> None:
    spec: Any = {"count": 3, "worker": builders.template(builders.container(gpus=9))}
    write(begun / "team.yaml", builders.custom("platform.example.com/v1", "TeamJob", spec))
    (begun / "checks" / "workloads.yaml").write_text(DESCRIPTION)
    built(run_in)

    run = run_in("check", "team.yaml", "--policies", policies_of_run, "--format", "json", "--as-written")
    without = run_in("check", "team.yaml", "--format", "json", "--as-written")

    named = [
        [each["reason"] for one in found.json["workloads"] for each in one["unknowns"]] for found in (run, without)
    ]
    assert [any("unrecognised kind TeamJob" in reason for reason in reasons) for reasons in named] == [False, True]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "workloads: [{kind: Job.batch, versions: [v1], podSets: [{podTemplate: a, pods: '1'}]}]",
            "usher knows Job.batch itself",
        ),
        ("workloads: [{kind: TeamJob.example.com}]", "versions: Field required"),
        ("workloads: [", "is not YAML"),
        ("", "workloads."),
    ],
)
def test_a_mistake_in_descriptions_of_a_site_names_its_file(run_in: Any, begun: Path, text: str, reason: str) -> None:
    (begun / "checks" / "workloads.yaml").write_text(text)

    run = run_in("check", "pod.yaml", "--policies", "checks")

    assert run.code == 2
    assert "checks/workloads.yaml: " in run.err
    assert reason in run.err


@pytest.mark.parametrize("word", ["ACME101", "gpus-per-team", "site"])
def test_usher_yaml_decides_about_own_checks(run_in: Any, begun: Path, word: str) -> None:
    config(begun / "usher.yaml", enforcement={"rules": [{"check": word, "action": "deny"}]})

    run = run_in("check", "pod.yaml", "--policies", "checks", "--format", "json")

    assert run.code == 1
    assert ("ACME101", "deny") in codes(run)


def test_an_exception_covers_an_own_check(run_in: Any, begun: Path) -> None:
    exception = {
        "checks": ["ACME101"],
        "namespaces": ["research"],
        "reason": "a demo",
        "owner": "nlp",
        "ticket": "T-1",
        "expires": "2999-01-01",
    }
    config(begun / "usher.yaml", enforcement={"exceptions": [exception]})

    run = run_in("check", "pod.yaml", "--policies", "checks", "--format", "json")

    assert ("ACME101", "audit") in codes(run)


def test_parameters_of_own_checks_come_from_usher_yaml(run_in: Any, begun: Path) -> None:
    parameter: Any = {"check": "gpus-per-team", "values": {"maximum": 9}}
    config(begun / "usher.yaml", parameters=[parameter])
    raised = run_in("check", "pod.yaml", "--policies", "checks", "--format", "json")
    parameter["values"] = {"maximum": "many"}
    config(begun / "usher.yaml", parameters=[parameter])
    wrong = run_in("check", "pod.yaml", "--policies", "checks")

    assert not {code for code, _ in codes(raised)} & {"ACME101"}
    assert wrong.code == 2
    assert "expected a whole number, as in the default 8" in wrong.err


def test_one_usher_yaml_serves_runs_with_and_without_own_checks(run_in: Any, begun: Path) -> None:
    rule, parameter = {"check": "ACME101", "action": "deny"}, {"check": "ACME101", "values": {"maximum": 9}}
    config(begun / "usher.yaml", enforcement={"rules": [rule]}, parameters=[parameter])

    run = run_in("check", "pod.yaml")

    assert run.code == 0
    assert "enforcement.rules[0].check: no check ACME101 is loaded, so this has no effect here" in run.err
    assert "parameters[0].check: no check ACME101 is loaded" in run.err


@pytest.mark.usefixtures("begun")
def test_many_files_are_judged_in_several_processes(run_in: Any, tmp_path: Path) -> None:
    for number in range(4):
        write(tmp_path / f"pods/{number}.yaml", builders.pod(builders.container(gpus=9), name=f"big-{number}"))

    run = run_in("check", "pods", "--policies", "checks", "--jobs", "2", "--format", "json")

    assert [("ACME101", "warn") in codes(run), len(run.json["workloads"])] == [True, 4]
    assert sum(each["code"] == "ACME101" for one in run.json["workloads"] for each in one["findings"]) == 4


def test_policies_of_gatekeeper_judge_in_the_same_run(run_in: Any, begun: Path) -> None:
    labels: Any = {"parameters": {"labels": ["team"]}}
    write(begun / "gatekeeper/all.yaml", policies.template(), policies.constraint(**labels))

    run = run_in("check", "pod.yaml", "--policies", "checks", "--policies", "gatekeeper", "--format", "json")

    assert {("ACME101", "warn"), ("RequiredLabels", "deny")} <= codes(run)


def test_code_scanning_gets_the_rule_without_a_page_of_usher(run_in: Any, begun: Path) -> None:
    write(begun / "pod.yaml", builders.pod(builders.container(gpus=9), name="big"))

    rules = run_in("check", "pod.yaml", "--policies", "checks", "--format", "sarif").json["runs"][0]["tool"]["driver"]

    (rule,) = (each for each in rules["rules"] if each["id"] == "ACME101")
    assert rule["name"] == "gpus-per-team"
    assert "usher explain" not in json.dumps(rule)


LOOP = """
	many := numbers.range(1, 1000)
	count([1 | some a in many; some b in many; some c in many; some d in many; a < b; b < c; c < d; d < a]) == 0
"""


def test_own_checks_that_take_too_long_leave_the_findings_of_usher_and_do_not_pass(run_in: Any, begun: Path) -> None:
    rule = begun / "checks/gpus_per_team/gpus_per_team.rego"
    rule.write_text(rule.read_text().replace("gpus_per_team.maximum\n", f"gpus_per_team.maximum{LOOP}"))

    run = run_in("check", "pod.yaml", "--policies", "checks", "--as-written", "--format", "json")

    assert run.code == 2
    assert "USH301" in {code for code, _ in codes(run)}
    assert "own checks of checks: entry point usher/main/findings: the policies took longer than 1 s" in run.out
    assert run_in("check", "pod.yaml", "--policies", "checks", "--allow-unknown").code == 0


# bundles


@pytest.mark.usefixtures("begun")
def test_a_bundle_judges_the_same_without_opa(run_in: Any) -> None:
    assert built(run_in).out == "checks.bundle: 1 check\n"

    of_folder = run_in("check", "pod.yaml", "--policies", "checks", "--format", "json")
    of_bundle = run_in("check", "pod.yaml", "--policies", "checks.bundle", "--format", "json", opa="/nonexistent")

    assert of_bundle.out == of_folder.out


def test_equal_checks_give_equal_bundles(run_in: Any, begun: Path) -> None:
    built(run_in)
    first = (begun / "checks.bundle").read_bytes()
    (begun / "checks").rename(begun / "moved")
    built(run_in, path="moved")

    assert (begun / "checks.bundle").read_bytes() == first


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bundle of a new check."""
    return site_bundles.own_checks(tmp_path_factory.mktemp("bundle")).read_bytes()


def rewritten(bundle: Path, change: Callable[[dict[str, Any]], object], module: bytes | None = None) -> None:
    """Changes the manifest, or the module, of a bundle."""
    with zipfile.ZipFile(bundle) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        module = archive.read("policy.wasm") if module is None else module
    change(manifest)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("policy.wasm", module)
    bundle.write_bytes(buffer.getvalue())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda made: made.update(input="0" * 16), "for another input document than this usher"),
        (lambda made: made.update(apiVersion="v9"), "is not a CheckBundle of gpu-usher.io/v1alpha1"),
        (lambda made: made.update(checks=[]), "manifest.json: checks: "),
        (lambda made: made["checks"][0].update(severity="odd"), "manifest.json: checks.0.severity: "),
        (lambda made: made["checks"][0].update(severity=None), "has no severity"),
        (lambda made: made["checks"][0].update(code="USH101"), "the prefixes USH and USM belong to usher"),
        (lambda made: made["checks"][0].update(key="isolation/gpus_per_team"), "own checks have keys like site/"),
        (lambda made: made["checks"][0].update(key="site/host_namespaces"), "host-namespaces belongs to USH"),
        (lambda made: made["checks"][0].update(aliases=["USH103"]), "ush103 belongs to USH103 of usher"),
        (lambda made: made["checks"].append(made["checks"][0]), "belongs to gpus-per-team; choose another one"),
        (lambda made: made["files"].clear(), "policy.wasm is not the one that was built"),
    ],
)
def test_a_bundle_that_does_not_fit_is_refused(
    run_in: Any, begun: Path, bundle: bytes, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    (begun / "checks.bundle").write_bytes(bundle)
    rewritten(begun / "checks.bundle", change)

    run = run_in("check", "pod.yaml", "--policies", "checks.bundle")

    assert run.code == 2
    assert message in run.err


@pytest.mark.usefixtures("begun")
def test_a_check_cannot_come_twice(run_in: Any) -> None:
    built(run_in)

    run = run_in("check", "pod.yaml", "--policies", "checks", "--policies", "checks.bundle")

    assert run.code == 2
    assert "checks.bundle: gpus-per-team: " in run.err
    assert "belongs to ACME101 of checks; choose another one" in run.err


def test_a_bundle_holds_one_kind_of_policies(run_in: Any, begun: Path) -> None:
    write(begun / "gatekeeper/all.yaml", policies.template())

    run = run_in("policies", "build", "checks", "gatekeeper", "--output", "x.bundle")

    assert run.code == 2
    assert "build a bundle for each" in run.err


# signatures


def test_a_signed_bundle_is_taken_with_its_key_and_without(run_in: Any, begun: Path) -> None:
    private, public = site_bundles.keys(begun)
    assert built(run_in, "--sign-key", private).out == "checks.bundle: 1 check, signed\n"

    for more in ([], ["--verify-key", public]):
        run = run_in("check", "pod.yaml", "--policies", "checks.bundle", *more, "--format", "json", opa="/nonexistent")
        assert ("ACME101", "warn") in codes(run)


def test_a_bundle_of_gatekeeper_is_signed_in_the_same_way(run_in: Any, begun: Path) -> None:
    private, public = site_bundles.keys(begun)
    write(begun / "gatekeeper/all.yaml", policies.template(), policies.constraint(parameters={"labels": ["team"]}))
    built(run_in, "--sign-key", private, path="gatekeeper")

    run = run_in("check", "pod.yaml", "--policies", "checks.bundle", "--verify-key", public, "--format", "json")

    assert ("RequiredLabels", "deny") in codes(run)


@pytest.mark.parametrize("position", [0.01, 0.5, 0.95])
def test_a_changed_bundle_is_refused(run_in: Any, begun: Path, position: float) -> None:
    private, public = site_bundles.keys(begun)
    built(run_in, "--sign-key", private)
    content = bytearray((begun / "checks.bundle").read_bytes())
    content[max(4, int(len(content) * position))] ^= 1
    (begun / "checks.bundle").write_bytes(content)

    run = run_in("check", "pod.yaml", "--policies", "checks.bundle", "--verify-key", public)

    assert run.code == 2
    assert "its signature is not one of the given key" in run.err


def test_what_the_owner_of_the_key_did_not_sign_is_refused(run_in: Any, begun: Path) -> None:
    other, _ = site_bundles.keys(begun, "other")
    _, public = site_bundles.keys(begun)
    built(run_in)
    unsigned = run_in("check", "pod.yaml", "--policies", "checks.bundle", "--verify-key", public)
    folder = run_in("check", "pod.yaml", "--policies", "checks", "--verify-key", public)
    built(run_in, "--sign-key", other)
    of_other = run_in("check", "pod.yaml", "--policies", "checks.bundle", "--verify-key", public)

    assert [unsigned.code, folder.code, of_other.code] == [2, 2, 2]
    assert "checks.bundle: is not signed, and a key to verify was given" in unsigned.err
    assert "checks: is not a bundle, so it cannot be signed" in folder.err
    assert "its signature is not one of the given key" in of_other.err


def test_a_key_of_another_kind_is_refused(run_in: Any, begun: Path) -> None:
    private, public = site_bundles.keys(begun)
    pem = serialization.Encoding.PEM
    of_rsa = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    odd = begun / "odd.pem"
    plain = serialization.NoEncryption()
    odd.write_bytes(of_rsa.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))

    for file in (odd, public, begun / "pod.yaml"):
        run = run_in("policies", "build", "checks", "--output", "x.bundle", "--sign-key", file)
        assert (run.code, "is not a private Ed25519 key in PEM" in run.err) == (2, True)
    for file in (odd, private):
        run = run_in("check", "pod.yaml", "--policies", "x", "--verify-key", file)
        assert (run.code, "is not a public Ed25519 key in PEM" in run.err) == (2, True)
    missing = run_in("check", "pod.yaml", "--policies", "x", "--verify-key", "nowhere.pem")
    assert "nowhere.pem: cannot be read" in missing.err
    assert "name them" in run_in("check", "pod.yaml", "--verify-key", public).err


@pytest.mark.usefixtures("begun")
def test_own_checks_are_listed_and_explained_like_those_of_usher(run_in: Any) -> None:
    built(run_in)
    listed = run_in("policies", "list", "--category", "site", "--policies", "checks.bundle", "--format", "json")
    page = run_in("explain", "acme101", "--policies", "checks")
    of_pod = run_in("explain", "pod.yaml", "--policies", "checks", "--format", "json")
    unknown = run_in("explain", "ACME101")

    assert [each["code"] for each in listed.json] == ["ACME101"]
    assert page.out.startswith("ACME101 gpus-per-team")
    assert page.out == run_in("policies", "show", "gpus-per-team", "--policies", "checks.bundle").out
    (told,) = (each for each in of_pod.json[0]["entries"] if each["code"] == "ACME101")
    assert told["state"] == "found"
    assert (unknown.code, "ACME101" in unknown.err) == (2, True)


def test_policies_of_gatekeeper_have_no_page(run_in: Any, tmp_path: Path) -> None:
    write(tmp_path / "gatekeeper" / "all.yaml", policies.template(), policies.constraint())

    run = run_in("explain", "RequiredLabels", "--policies", "gatekeeper")

    assert run.code == 2
    assert "gatekeeper: holds no checks of your own" in run.err


def test_a_replay_compares_what_usher_yaml_makes_of_own_checks(run_in: Any, begun: Path) -> None:
    config(begun / "old.yaml")
    config(begun / "new.yaml", enforcement={"rules": [{"check": "ACME101", "action": "deny"}]})

    run = run_in("replay", "pod.yaml", "--config", "old.yaml", "--against", "new.yaml", "--policies", "checks")
    assert run.code == 1, run.err
    assert "ACME101 gpus-per-team" in run.out


def test_a_replay_refuses_policies_of_gatekeeper_and_says_why(run_in: Any, begun: Path) -> None:
    write(begun / "gatekeeper.yaml", policies.template(), policies.constraint(parameters={"labels": ["team"]}))

    run = run_in("replay", "pod.yaml", "--against", "pod.yaml", "--policies", "gatekeeper.yaml")
    assert run.code == 2
    assert "gatekeeper.yaml: holds policies of Gatekeeper, which find the same on both sides" in run.err
