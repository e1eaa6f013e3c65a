"""Mutated objects of every family of kinds, at every example site, were read by people: the mutations still do that."""

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import document_reading
import pytest
import record_reading
import yaml

import shared_files
from policies.sites import FOLDER
from shared_files import Corpus
from usher.kinds.kind import Kind
from usher.kinds.registry import WORKLOADS

RECORDS = Path(__file__).parents[1] / "data/policies/reading"

OUT_OF_REACH = {"pipelines.kubeflow.org"}
"""Groups of kinds that no webhook sees."""
WITHOUT_MANIFESTS = {"agents.x-k8s.io"}
"""Groups without a manifest in a corpus."""

of_each_corpus = pytest.mark.parametrize("corpus", shared_files.corpora)


@cache
def entries(name: str) -> tuple[dict[str, Any], ...]:
    return tuple(yaml.safe_load((RECORDS / f"{name}.yaml").read_text(encoding="utf-8")))


def all_entries() -> list[dict[str, Any]]:
    return [entry for file in sorted(RECORDS.glob("*.yaml")) for entry in entries(file.stem)]


@of_each_corpus
def test_the_mutations_do_what_was_read(corpus: Corpus) -> None:
    """After a change read the objects again: tools/record_reading.py --show prints what is done to them."""
    again = [
        f"{entry['object']} at {entry['site']}: read it again"
        for entry in entries(corpus.name)
        if record_reading.changed(entry, corpus=corpus.folder, sites=FOLDER).digest != entry["digest"]
    ]

    assert again == []


def test_every_entry_has_one_verdict_with_a_reason() -> None:
    assert record_reading.unread(all_entries()) == []
    assert [entry for entry in all_entries() if sum(word in entry for word in record_reading.VERDICTS) != 1] == []
    assert not [entry["object"] for entry in all_entries() if "wrong" in entry]


def test_sixty_objects_of_every_family_site_and_mutation_were_read() -> None:
    read = all_entries()
    kinds = {entry["object"].rpartition(": ")[2].split()[0] for entry in read}
    families = {family(kind) for kind in WORKLOADS.values() if kind.kind in kinds}

    assert len(read) >= 60
    assert {entry["site"] for entry in read} == {file.stem for file in FOLDER.iterdir()}
    assert min(Counter(entry["site"] for entry in read).values()) >= 10
    assert {
        family(kind) for kind in WORKLOADS.values() if kind.group not in OUT_OF_REACH | WITHOUT_MANIFESTS
    } - families == set()
    assert {name for entry in read for name in entry["mutations"]} >= {
        "disruption-protection",
        "gpu-node-affinity",
        "gpu-toleration",
        "ipc-lock",
        "kai-routing",
        "kueue-topology",
        "nccl-conf",
        "nccl-environment",
        "network-attachments",
        "network-devices",
        "priority-class",
        "queue-label",
        "requests-from-limits",
        "shared-memory",
        "topology-file",
        "visible-devices-void",
        "volcano-routing",
        "workload-priority-class",
    }


def family(kind: Kind) -> str:
    """Kubernetes' own groups are one family, as those of Volcano and of KServe are."""
    group = kind.group
    if group in {"", "apps", "batch"}:
        return "kubernetes"
    return ".".join(group.split(".")[-2:]) if group.endswith(("volcano.sh", "kubeflow.org")) else group


def test_a_change_drops_the_verdict_and_nothing_else() -> None:
    entry = {"object": "core/plain-pod.yaml: Pod metrics-proxy", "site": "eks-karpenter", "namespace": "team-speech"}
    change = record_reading.changed(entry, corpus=shared_files.OWN.folder, sites=FOLDER)
    read = {**entry, "mutations": list(change.mutations), "digest": change.digest, "right": "It sees no GPU."}

    assert record_reading.merged(read, change) == read
    assert record_reading.merged({**read, "digest": "another"}, change) == {
        **{key: value for key, value in read.items() if key != "right"},
        "unread": "read it again",
    }
    assert "+      value: void" in change.diff()


def test_a_missing_object_is_named() -> None:
    entry = {"object": "core/plain-pod.yaml: Pod nobody", "site": "eks-karpenter", "namespace": "team-speech"}

    with pytest.raises(LookupError, match="0 objects are Pod nobody"):
        record_reading.changed(entry, corpus=shared_files.OWN.folder, sites=FOLDER)


def test_the_page_has_a_row_for_every_entry_and_escapes_what_it_shows() -> None:
    hostile = {
        "object": "a|b.yaml: Pod `x`",
        "site": "defaults",
        "namespace": "other",
        "mutations": ["gpu-toleration"],
        "right": "one | two",
    }

    page = "\n".join(document_reading.page({"own": list(entries("own")), "hostile": [hostile]}))

    assert sum(line.startswith("| ") for line in page.splitlines()) == len(entries("own")) + 1 + 2 * 2
    assert r"| a\|b.yaml: Pod \`x\` | defaults, other | gpu-toleration | **right**: one \| two |" in page
