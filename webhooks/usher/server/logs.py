"""JSON lines on standard output: one for each decision, with the request's uid that audit logs carry as well."""

import logging
import sys
from typing import TextIO

import orjson
import structlog

from usher.admission.service import Answer

_LONGEST = 253
"""Characters of a name that is logged: a Kubernetes name at its longest, and a bound for what strangers may send."""


def configure(*, stream: TextIO | None = None) -> None:
    """Sends our own events and those of uvicorn to one stream as JSON lines."""
    output = (stream or sys.stdout).buffer
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=lambda event, **_: orjson.dumps(event, default=repr)),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.BytesLoggerFactory(output),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(),
            ],
            foreign_pre_chain=[
                structlog.stdlib.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
        )
    )
    logger = logging.getLogger("uvicorn")
    logger.handlers = [handler]
    logger.propagate = False
    logger.setLevel(logging.WARNING)


def decision(endpoint: str, answer: Answer, *, seconds: float) -> None:
    """The decision log. It names the object and never shows it: pod specs hold secrets."""
    review = answer.review
    event: dict[str, object] = {
        "uid": review.uid[:_LONGEST],
        "endpoint": endpoint,
        "operation": review.operation.value,
        "kind": review.kind[:_LONGEST],
        "namespace": review.namespace[:_LONGEST],
        "name": review.name[:_LONGEST],
        "allowed": answer.allowed,
        "milliseconds": round(seconds * 1000, 3),
    }
    if review.sub_resource:
        event["subResource"] = review.sub_resource[:_LONGEST]
    if review.dry_run:
        event["dryRun"] = True
    if answer.outcomes:
        event["findings"] = answer.outcomes
    if answer.mutations:
        event["mutations"] = answer.mutations
    if answer.conflicts:
        event["conflicts"] = answer.conflicts
    if answer.unknowns:
        event["notEvaluated"] = answer.unknowns
    structlog.get_logger().info("decision", **event)
