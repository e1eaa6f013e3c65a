"""Which taints of a node pool a mutation may tolerate, and how."""

from usher.accelerators.vocabulary import Vocabulary
from usher.config import pools


def operator(taint: pools.Taint, vocabulary: Vocabulary, *, for_these_pods: bool = False) -> str | None:
    """The operator of the toleration that a mutation may add; None if only the user may add one.

    A taint that marks accelerators keeps off pods without accelerators, so every pod that fits the pool tolerates it,
    with any value. Other taints reserve nodes, and a pod tolerates them only with their exact value.

    Args:
        taint: a taint of a declared pool that offers what the pods ask for.
        vocabulary: which taints mark accelerators.
        for_these_pods: whether usher.yaml says that the pool is for these pods.
    """
    if vocabulary.marks_accelerators(taint.key, taint.value):
        return "Exists"
    return "Equal" if for_these_pods else None
