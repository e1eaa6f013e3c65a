"""The outlooks of the workloads in manifests: when they could start, and what limits them."""

from collections.abc import Iterable, Iterator

from usher.authorities.outlook import Outlook
from usher.kinds.reading import values as reading_values
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.queue_outlook import Outlooks
from usher.scan.batches import Batch


def of(
    batches: Iterable[Batch], evaluator: Evaluator, *, namespace: str, as_written: bool = False
) -> Iterator[tuple[str, Outlook]]:
    """The outlook of every object that makes pods, with its place.

    Args:
        batches: the manifests; each batch is applied as a whole.
        evaluator: decides, and has the facts.
        namespace: the namespace of objects without one.
        as_written: whether to ignore the changes of the mutating webhook.
    """
    for batch in batches:
        values = [item.value for item in batch.items]
        facts = evaluator.facts.with_applied(values, namespace=namespace)
        objects, outlooks = reading_values.Objects(values, namespace=namespace), Outlooks(evaluator, facts)
        for item in batch.items:
            request = Request(value=item.value, namespace=namespace, objects=objects, facts=facts, place="check")
            outlook = outlooks.of(request, as_written=as_written)
            if outlook is not None:
                line = item.document.line if item.document is not None else 0
                yield f"{batch.source}:{line}" if line else batch.source, outlook
