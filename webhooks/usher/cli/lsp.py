"""`usher lsp`: the language server for editors."""

import contextlib
import gc
import logging
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from usher.cli import inputs
from usher.policy.checks import catalogue
from usher.policy.evaluator import Evaluator


@inputs.command("lsp")
def lsp(
    *,
    config: Path | None,
    facts: tuple[str, ...],
    kubeconfig: Path | None,
    context_name: str | None,
    namespace: str,
    verbose: bool,
) -> None:
    from usher.check.editor import session as editor_session
    from usher.check.editor.serving import Server
    from usher.check.editor.session import Manifests, Session, Site

    logging.basicConfig(
        stream=sys.stderr,
        level=logging.DEBUG if verbose else logging.WARNING,
        format="usher: %(levelname)s: %(name)s: %(message)s",
    )
    # An editor stays open for days, so it collects more often than a command that ends.
    gc.set_threshold(100_000, 20, 100)
    site = Site(
        lambda: _evaluator(config, facts, kubeconfig, context_name),
        rests_on=lambda: [
            *filter(None, [inputs.find_config(config)]),
            *(Path(each) for each in facts if each != inputs.LIVE),
        ],
    )
    manifests = Manifests(site, namespace=namespace)
    session = Session(manifests, catalogue=catalogue.load().catalogue, write=editor_session.write_changes)
    with _streams() as (stdin, stdout):
        Server(session).run(stdin, stdout)


def _evaluator(
    config: Path | None, facts: tuple[str, ...], kubeconfig: Path | None, context_name: str | None
) -> Evaluator:
    kinds = partial(inputs.kinds_named_in, ["."])
    given = inputs.given_facts(facts, kubeconfig=kubeconfig, context_name=context_name, kinds=kinds)
    known = given.store if given else None
    return inputs.assembled(inputs.find_config(config), engine="wasm", opa_url=None, known=known)


@contextlib.contextmanager
def _streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The streams of the protocol. Other output goes to standard error, so that it cannot break the protocol."""
    sys.stdout.flush()
    own = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with open(own, "wb") as stdout:  # noqa: PTH123 - a file descriptor
        yield sys.stdin.buffer, stdout
