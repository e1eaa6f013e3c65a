"""A YAML file that only begins like an output of kubectl is one, and the output is named."""

import pytest

from usher.check import sources


@pytest.mark.parametrize(
    "content",
    [
        b"error: Fehler\nwarning: Warnung\n",
        b"Name:          my-chart\nowner: team-a\n",
        b"The connector: on\n\n",
        b"name: x\nNAME: X\n",
    ],
    ids=["a translation", "aligned values", "a key with a space", "a key in capitals"],
)
def test_a_yaml_file_that_begins_like_kubectl_may_hold_manifests(content: bytes) -> None:
    assert sources.why_no_text(content) == ""


@pytest.mark.parametrize(
    "content",
    [
        b'error: the server doesn\'t have a resource type "pods"',
        b"Name:               gpu-0\nRoles:              <none>\n",
        b"Error from server (NotFound): one\nError from server (NotFound): two\n",
    ],
    ids=["an error", "a node", "two errors"],
)
def test_what_kubectl_prints_for_people_is_named(content: bytes) -> None:
    assert "kubectl" in sources.why_no_text(content)
