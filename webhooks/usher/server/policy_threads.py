"""Threads for policies of Gatekeeper. A review that matches no constraint never waits for a slow policy."""

import asyncio
import contextvars
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from usher.extensions.gatekeeper.evaluation import Policies
from usher.policy.engines import engine
from usher.policy.evaluator import Evaluator
from usher.review import site_policies
from usher.review.admission_review import Review

PART: Final = 0.5
"""Share of a review's remaining time, after usher's verdict, that all its policies get. A charge may follow them."""

_THREADS: Final = 2
"""Each thread has an instance of every policy that it has used."""


class PolicyThreads:
    """Judges reviews by policies, a few at a time."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="site-policies")

    async def judged(self, review: Review, policies: Policies, evaluator: Evaluator) -> site_policies.Found:
        """The findings of policies in a review, within their share of its time, which includes waiting for a thread."""
        if not site_policies.may_find(review, policies):
            return site_policies.NOTHING
        with engine.share_deadline(PART):
            context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, context.run, site_policies.judged, review, policies, evaluator
        )

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
