"""`usher certs` as people and scripts see it."""

import base64
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from cryptography import x509

from unit.server.certs.directories import authority_of_others, snapshot, write_authority, write_pair, written
from usher.cli.main import main
from usher.server.certs import certificates, issue
from usher.server.certs.certificates import new_authority


def usher_certs(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["certs", *map(str, arguments)])


def leaf_in(data: dict[str, str]) -> x509.Certificate:
    return x509.load_pem_x509_certificate(base64.b64decode(data["tls.crt"]))


def test_issue_writes_the_files_and_says_what_it_made_and_when_it_expires(tmp_path: Path) -> None:
    result = usher_certs("issue", "--dir", tmp_path / "certs", "--service", "seats", "--namespace", "ml")

    assert result.exit_code == 0
    assert sorted(path.name for path in (tmp_path / "certs").iterdir()) == ["ca.crt", "ca.key", "tls.crt", "tls.key"]
    lines = result.stdout.splitlines()
    assert lines[0] == f"Made a new CA in {tmp_path}/certs: there was no CA with its key."
    assert lines[1].startswith(f"Made a new serving certificate in {tmp_path}/certs: ")
    assert "  names    seats.ml.svc, seats.ml.svc.cluster.local" in lines
    assert (
        len([line for line in lines if re.fullmatch(r"  expires  \d{4}-\d\d-\d\d \d\d:\d\d UTC, 89 days left", line)])
        == 1
    )
    assert len([line for line in lines if re.fullmatch(r"  expires  .* UTC, 364 days left", line)]) == 1
    assert lines[-1].endswith(f"usher manifests webhooks --ca-bundle {tmp_path}/certs/ca.crt")


def test_issue_again_changes_nothing_and_says_so(tmp_path: Path) -> None:
    usher_certs("issue", "--dir", tmp_path)
    before = snapshot(tmp_path)
    result = usher_certs("issue", "--dir", tmp_path)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Nothing to do: the certificate in {tmp_path} is good.\n")
    assert "caBundle" not in result.stdout
    assert snapshot(tmp_path) == before


def test_issue_takes_further_names(tmp_path: Path) -> None:
    result = usher_certs("issue", "--dir", tmp_path, "--name", "localhost", "--name", "127.0.0.1")
    assert "gpu-usher.gpu-usher.svc.cluster.local, localhost, 127.0.0.1" in result.stdout


def test_issue_without_a_place_asks_for_one() -> None:
    result = usher_certs("issue")
    assert result.exit_code == 2
    assert "--dir" in result.stderr
    assert "--secret" in result.stderr


def test_issue_refuses_names_that_no_certificate_can_carry(tmp_path: Path) -> None:
    for arguments in ([], ["--secret", "gpu-usher-tls"]):
        result = usher_certs("issue", "--dir", tmp_path / "certs", "--name", "under_score", *arguments)
        assert result.exit_code == 2
        assert "Error: 'under_score' is neither an IP address nor a DNS name" in result.stderr
        assert not (tmp_path / "certs").exists()


def test_issue_replaces_the_ca_of_others_by_force_only(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    write_authority(tmp_path, authority_of_others(now=now - timedelta(days=2), lifetime=timedelta(days=1)))
    before = snapshot(tmp_path)
    refused = usher_certs("issue", "--dir", tmp_path)
    assert refused.exit_code == 2
    assert "ca.key cannot be recognised as made by usher" in refused.stderr
    assert snapshot(tmp_path) == before

    assert usher_certs("issue", "--dir", tmp_path, "--force").exit_code == 0
    assert usher_certs("show", tmp_path).exit_code == 0


def test_issue_prints_a_secret_and_nothing_else_to_stdout() -> None:
    result = usher_certs("issue", "--secret", "gpu-usher-tls", "--namespace", "ml")
    manifest = yaml.safe_load(result.stdout)
    data = manifest.pop("data")

    assert result.exit_code == 0
    assert manifest == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "gpu-usher-tls", "namespace": "ml"},
        "type": "kubernetes.io/tls",
    }
    assert sorted(data) == ["ca.crt", "tls.crt", "tls.key"]
    assert certificates.subject_names(leaf_in(data))[0] == "gpu-usher.ml.svc"
    key = certificates.private_key(base64.b64decode(data["tls.key"]), source=Path("tls.key"))
    assert certificates.belongs(key, certificate=leaf_in(data))
    assert "did not keep its key" in result.stderr
    assert "89 days left" in result.stderr


def test_secrets_issued_with_a_directory_share_its_ca_and_leave_no_serving_key_there(tmp_path: Path) -> None:
    first, second = (usher_certs("issue", "--secret", "gpu-usher-tls", "--dir", tmp_path) for _ in range(2))
    first_data, second_data = (yaml.safe_load(result.stdout)["data"] for result in (first, second))

    assert sorted(path.name for path in tmp_path.iterdir()) == ["ca.crt", "ca.key"]
    assert base64.b64decode(first_data["ca.crt"]) == (tmp_path / "ca.crt").read_bytes()
    assert second_data["ca.crt"] == first_data["ca.crt"]
    assert leaf_in(second_data) != leaf_in(first_data)
    assert "Made a new CA" in first.stderr
    assert "Made a new CA" not in second.stderr


def test_a_secret_under_a_new_ca_says_that_the_api_server_comes_first(tmp_path: Path) -> None:
    write_authority(tmp_path, new_authority(now=datetime.now(UTC) - timedelta(days=250)))
    result = usher_certs("issue", "--secret", "gpu-usher-tls", "--dir", tmp_path)
    assert "Give the API server the new ca.crt, which holds both CAs, before you apply the Secret." in result.stderr
    bundle = base64.b64decode(yaml.safe_load(result.stdout)["data"]["ca.crt"])
    assert len(certificates.read_certificates(bundle, source=tmp_path)) == 2


def test_show_prints_subject_names_and_dates(tmp_path: Path) -> None:
    issued = written(tmp_path)
    result = usher_certs("show", tmp_path)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "tls.crt",
        "  subject  CN=gpu-usher,O=gpu-usher",
        "  names    localhost, 127.0.0.1",
        f"  expires  {certificates.moment(issued.leaf.not_valid_after_utc)}, 89 days left",
        f"  renewal  {certificates.moment(issued.leaf.not_valid_before_utc + timedelta(days=60, seconds=200))}",
        "ca.crt",
        f"  subject  {issued.authority.certificate.subject.rfc4514_string()}",
        f"  expires  {certificates.moment(issued.authority.certificate.not_valid_after_utc)}, 364 days left",
        "  renewal  "
        + certificates.moment(
            issued.authority.certificate.not_valid_before_utc + timedelta(days=243, hours=8, seconds=200)
        ),
    ]


def test_show_tells_of_an_expired_certificate_and_ends_with_2(tmp_path: Path) -> None:
    issued = written(tmp_path, now=datetime.now(UTC) - timedelta(days=100))
    result = usher_certs("show", tmp_path)
    assert result.exit_code == 2
    assert f"  expired  {certificates.moment(issued.leaf.not_valid_after_utc)}\n" in result.stdout
    assert result.stderr == (
        f"Error: {tmp_path}/tls.crt: the certificate expired on "
        f"{certificates.moment(issued.leaf.not_valid_after_utc)}; renew it\n"
    )


def test_show_tells_of_a_key_and_a_ca_that_do_not_belong_to_the_certificate(tmp_path: Path) -> None:
    written(tmp_path)
    other = issue.issue(names=["localhost"], certificate_authority=None, now=datetime.now(UTC))
    write_pair(tmp_path, other, key=False)
    result = usher_certs("show", tmp_path)
    assert result.exit_code == 2
    assert "the key does not belong to the certificate" in result.stderr
    assert f"not signed by a CA in {tmp_path}/ca.crt" in result.stderr


def test_show_does_without_a_ca(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "ca.crt").unlink()
    result = usher_certs("show", tmp_path)
    assert result.exit_code == 0
    assert "ca.crt" not in result.stdout


@pytest.mark.parametrize("content", [None, b"not PEM"])
def test_show_names_what_it_cannot_read(tmp_path: Path, content: bytes | None) -> None:
    if content:
        (tmp_path / "tls.crt").write_bytes(content)
    result = usher_certs("show", tmp_path)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: {tmp_path}/tls.crt: ")
