"""Digests of texts of any length."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from usher import memo


@given(text=st.binary(max_size=64), times=st.integers(0, 200))
def test_a_digest_is_that_of_the_whole_text(text: bytes, times: int) -> None:
    """However it is taken in pieces."""
    whole = text * times

    assert memo.digest(whole) == hashlib.sha256(whole).digest()
