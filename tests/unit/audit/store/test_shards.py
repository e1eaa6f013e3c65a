"""Each namespace is in exactly one shard, and in the same one at every run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher import errors
from usher.audit.store import shards
from usher.audit.store.shards import Shard

NAMESPACES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True)


@given(NAMESPACES, st.integers(1, 200))
def test_a_namespace_is_in_exactly_one_shard(namespace: str, of: int) -> None:
    assert [index for index in range(of) if Shard(index=index, of=of).has(namespace)] == [
        shards.home_shard(namespace, of)
    ]


@given(st.text())
def test_any_text_has_a_shard(namespace: str) -> None:
    assert 0 <= shards.home_shard(namespace, 7) < 7


def test_the_home_of_a_namespace_never_changes() -> None:
    """Another answer would count a namespace twice, or nowhere, while two versions share a run.

    Golden, by `printf %s NAME | sha256sum`: the first 16 digits, modulo 10.
    """
    found = {
        name: shards.home_shard(name, 10) for name in ("default", "kube-system", "ml-research", "gpu-operator", "a")
    }

    assert found == {"default": 9, "kube-system": 9, "ml-research": 2, "gpu-operator": 3, "a": 0}


def test_shards_share_namespaces_evenly() -> None:
    homes = [shards.home_shard(f"team-{number}", 10) for number in range(10_000)]

    assert all(900 < homes.count(index) < 1100 for index in range(10))


def test_shard_0_has_what_belongs_to_no_namespace() -> None:
    assert [Shard(index=index, of=3).has("") for index in range(3)] == [True, False, False]


@pytest.mark.parametrize("text", ["", "3", "3/", "/3", "3/3", "-1/3", "0/0", "0/10001", "1/2/3", "\u0967/3"])
def test_a_wrong_shard_is_refused(text: str) -> None:
    with pytest.raises(errors.InputError, match=r"shard"):
        shards.parse_shard(text)


def test_a_shard_is_read_as_it_is_written() -> None:
    assert shards.parse_shard(str(Shard(index=3, of=10))) == Shard(index=3, of=10)
