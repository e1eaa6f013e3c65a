"""Reviews that are answered by the policies that are shipped."""

from typing import Any

import orjson

from builders import container, pytorch_job, template
from reviews import body
from usher import paths
from usher.policy.evaluator import Evaluator
from usher.review import admission_review as review_response
from usher.review import webhooks

GPU = "nvidia.com/gpu"
UNEQUAL = container("pytorch", requests={GPU: 8}, limits={GPU: 4})
"""The API server would refuse it in a Pod and takes it in a template; USH103 denies it."""


def bad_job(*, workers: int = 7, **metadata: Any) -> paths.Object:
    return pytorch_job(template(UNEQUAL), workers=workers, **metadata)


def answered(answer: review_response.Answer) -> Any:
    """The response, once the envelope is as it must be."""
    review = orjson.loads(answer.body)
    assert (review["apiVersion"], review["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert review["response"]["uid"] == answer.review.uid
    return review["response"]


def validated(evaluator: Evaluator, value: paths.Object | None, **request: Any) -> Any:
    return answered(webhooks.validate(body(value, **request), evaluator))


def mutated(evaluator: Evaluator, value: paths.Object | None, **request: Any) -> Any:
    return answered(webhooks.mutate(body(value, **request), evaluator))
