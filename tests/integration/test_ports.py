"""The ports of servers under test: tests that run side by side never choose the same one."""

import multiprocessing
from pathlib import Path

import pytest

from e2e import ports


def test_two_blocks_that_are_held_at_once_share_no_port(tmp_path: Path) -> None:
    with ports.block(tmp_path) as first, ports.block(tmp_path) as second:
        assert set(first).isdisjoint(second)


def test_a_block_is_given_again_when_its_process_has_let_it_go(tmp_path: Path) -> None:
    with ports.block(tmp_path) as first:
        pass
    with ports.block(tmp_path) as second:
        assert first == second


def test_ports_that_were_chosen_are_not_chosen_again_soon() -> None:
    assert set(ports.free(20)).isdisjoint(ports.free(20))


def test_a_forked_process_chooses_from_a_block_of_its_own() -> None:
    (ours,) = ports.free(1)
    context = multiprocessing.get_context("fork")
    results: multiprocessing.SimpleQueue[list[int]] = context.SimpleQueue()
    child = context.Process(target=lambda: results.put(ports.free(1)))
    child.start()
    (theirs,) = results.get()
    child.join()
    assert (ours - ports.PORTS.start) // ports.BLOCK != (theirs - ports.PORTS.start) // ports.BLOCK


def test_more_ports_than_a_block_holds_are_refused_with_the_range() -> None:
    with pytest.raises(ports.NoPortError, match=r"no free port on 127\.0\.0\.1 from 2"):
        ports.free(ports.BLOCK + 1)
