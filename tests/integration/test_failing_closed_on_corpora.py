"""Every pod that the normaliser finds to ask for accelerators fails closed, in manifests as people write them."""

import random
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

import builders
import indexed_manifests
import shared_files
from match_conditions import OTHERS, Answer, Object, answers, creation, needs_go
from shared_files import Corpus
from unit.workloads.normalised import VOCABULARY, workload
from usher import model, paths
from usher.accelerators.names import VENDORS
from usher.install.manifests import conditions
from usher.kinds.reading.values import NO_OBJECTS, Lookup
from usher.kinds.registry import WORKLOADS
from usher.workloads.normalise import normalise

pytestmark = [needs_go, pytest.mark.process]

_OF_AN_OPERATOR = "NVIDIA+gpu-operator/"
"""Agents that see all devices of their nodes, in a namespace that fails open."""

_MOST_BESIDE = 0.1
"""The part of all others that fails closed without asking."""


def pods(corpus: Corpus) -> Iterator[tuple[str, Object, Lookup]]:
    """The pods of all templates, with their place and what the same file holds."""
    for document in indexed_manifests.documents(corpus):
        found = indexed_manifests.workload(document)
        for pod_set in found.pod_sets if found is not None else ():
            spec = _spec(document.value, pod_set)
            if spec is not None:
                metadata = {"name": "x", "annotations": {**pod_set.annotations}, "labels": {**pod_set.labels}}
                pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
                yield f"{document.place}{pod_set.path}", pod, document.objects


def _spec(value: paths.Object, pod_set: model.PodSet) -> paths.Json | None:
    """The pod spec; None where a kind keeps its parts elsewhere."""
    try:
        spec = paths.resolve(value, pod_set.spec_path)
    except LookupError:
        return None
    return spec if isinstance(spec, dict) and isinstance(spec.get("containers"), list) else None


def asks(pod: Object, objects: Lookup = NO_OBJECTS) -> bool:
    found = normalise(pod, vocabulary=VOCABULARY, objects=objects)
    assert found is not None
    return found.asks_accelerators


class Judged(NamedTuple):
    place: str
    asks: bool
    """Whether the normaliser says that the object asks for accelerators."""
    answer: Answer


@cache
def judged_pods(corpus: Corpus) -> list[Judged]:
    """The pods of a corpus; those with placeholders, which no API server takes, are left out."""
    found = list(pods(corpus))
    every = answers(creation(pod) for _, pod, _ in found)
    return [
        Judged(place, asks(pod, objects), one)
        for (place, pod, objects), one in zip(found, every, strict=True)
        if not one.unreadable
    ]


@cache
def judged_objects(corpus: Corpus) -> list[Judged]:
    """The objects of a corpus that fail closed as a whole."""
    keys = {(kind.group, kind.kind) for kind in conditions.fail_closed_kinds()}
    documents = [each for each in indexed_manifests.documents(corpus) if tuple(each.kind.rsplit("/", 1)) in keys]
    workloads = [indexed_manifests.workload(document) for document in documents]
    every = answers(creation(document.value) for document in documents)
    return [
        Judged(document.place, found.asks_accelerators, one)
        for document, found, one in zip(documents, workloads, every, strict=True)
        if found is not None and not one.unreadable
    ]


JUDGED = {"pods": judged_pods, "objects": judged_objects}
what = pytest.mark.parametrize("what", JUDGED)
corpora = pytest.mark.parametrize("corpus", shared_files.thorough_corpora)


@what
@corpora
def test_all_that_asks_fails_closed(corpus: Corpus, what: str) -> None:
    every = JUDGED[what](corpus)

    assert sum(each.asks for each in every) > len(every) / 4, "the corpus has objects that ask"
    assert [each.place for each in every if each.asks and not each.answer.fails_closed] == []


@what
@corpora
def test_little_else_does(corpus: Corpus, what: str) -> None:
    every = JUDGED[what](corpus)
    beside = [each.place for each in every if each.answer.fails_closed and not each.asks]
    agents = [place for place in beside if place.startswith(_OF_AN_OPERATOR)]

    assert len(beside) - len(agents) <= _MOST_BESIDE * len(every), beside


@what
@corpora
def test_exactly_one_webhook_judges_each_and_no_condition_is_an_error(corpus: Corpus, what: str) -> None:
    assert [(each.place, each.answer.webhooks) for each in JUDGED[what](corpus) if len(each.answer.judged) != 1] == []


@corpora
def test_other_kinds_are_judged_and_never_fail_closed(corpus: Corpus) -> None:
    """Kinds whose pods CEL cannot find: what they make fails closed."""
    keys = {(kind.group, kind.kind) for kind in conditions.fail_closed_kinds()}
    documents = [
        each
        for each in indexed_manifests.documents(corpus)
        if tuple(each.kind.rsplit("/", 1)) not in keys and indexed_manifests.workload(each) is not None
    ]
    others = [each for each in documents if tuple(each.kind.rsplit("/", 1)) in WORKLOADS]
    every = [one for one in answers(creation(each.value) for each in others) if not one.unreadable]

    assert every
    assert all(OTHERS in one.judged for one in every)


def generated(seed: int) -> Iterator[Object]:
    """Pods with known resources of every vendor, in any place and amount."""
    source = random.Random(seed)
    names = [known.name for entries in VENDORS.values() for known in entries if known.name]
    names += [
        "nvidia.com/mig-3g.20gb",
        "huawei.com/Ascend310P-memory",
        "cambricon.com/mlu370.share",
        "ibm.com/spyre_pf",
    ]
    names += ["hygon.com/dcu-share-8", "nvidia.com/GA102GL_A10", "amd.com/cpx_nps4", "furiosa.ai/rngd-2core.12gb"]
    names += ["cpu", "memory", "rdma/hca", "example.com/card", "hugepages-2Mi"]
    amounts: list[paths.Json] = [0, 1, "1", "0", "2000m", "1k", "0k", "100m", "0.0"]

    def amount() -> paths.Json:
        return source.choice(amounts)

    for _ in range(400):
        lists = [
            [
                builders.container(
                    f"{prefix}{number}",
                    requests={name: amount() for name in source.sample(names, k=source.randint(0, 2))} or None,
                    limits={name: amount() for name in source.sample(names, k=source.randint(0, 2))} or None,
                )
                for number in range(source.randint(least, 3))
            ]
            for prefix, least in (("main", 1), ("init", 0))
        ]
        overhead = {source.choice(names): amount()} if source.random() < 0.1 else None
        yield builders.pod(*lists[0], initContainers=lists[1], overhead=overhead)


def test_generated_pods_that_ask_fail_closed() -> None:
    every = list(generated(1))
    found = answers(creation(pod) for pod in every)
    read = [(pod, one) for pod, one in zip(every, found, strict=True) if not one.unreadable]

    assert len(read) > 300
    assert [pod for pod, one in read if workload(pod).asks_accelerators and not one.fails_closed] == []
    assert [pod for pod, one in read if len(one.judged) != 1] == []
    assert any(not one.fails_closed for _, one in read)
