"""usher reads whole manifests, ours and published ones, as kubectl and PyYAML do."""

import datetime as dt
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import shared_files
from shared_files import OWN, PUBLISHED, Corpus
from unit.documents import kubectl
from usher import errors
from usher.documents import reader

every_corpus = pytest.mark.parametrize("corpus", shared_files.thorough_corpora)

_TWICE = "the key 'resources' stands twice in one mapping"

# Published with `resources` twice in a container: kubectl drops the first without a word.
REFUSED = {
    OWN: {
        "odd/chart-template.yaml": "looks like an unrendered template",
        "odd/tabs.yaml": "tab",
        "odd/twice.yaml": _TWICE,
    },
    PUBLISHED: {
        f"GoogleCloudPlatform+container-engine-accelerators/gpudirect-rdma/{name}.yaml": _TWICE
        for name in (
            "nccl-test",
            "nccl-test-a4",
            "nccl-test-a4x-max",
            "nccl-test-autopilot",
            "nccl-test-imex-a4x",
            "nccl-test-managed-rdma",
        )
    },
}
"""Files of each corpus that are not manifests, and why."""

NO_OBJECTS = {"odd/values.yaml"}


def manifests(corpus: Corpus) -> list[Path]:
    files = sorted(path for suffix in ("yaml", "yml") for path in corpus.folder.rglob(f"*.{suffix}"))
    left_out = REFUSED[corpus].keys() | NO_OBJECTS
    return [path for path in files if str(path.relative_to(corpus.folder)) not in left_out]


def values(content: str | bytes) -> list[Any]:
    return [document.value for document in reader.parse(content, source="test.yaml")]


def leaves(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict | list) and value:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*at, key))
    else:
        yield at, value


@every_corpus
def test_a_file_that_is_not_a_manifest_is_refused_with_a_reason(corpus: Corpus) -> None:
    for name, reason in REFUSED[corpus].items():
        with pytest.raises(errors.ManifestError, match=reason):
            values((corpus.folder / name).read_bytes())


@every_corpus
def test_manifests_differ_from_pyyaml_in_dates_and_final_line_feeds_only(corpus: Corpus) -> None:
    for path in manifests(corpus):
        content = path.read_text(encoding="utf-8")
        expected = [value for value in yaml.load_all(content, Loader=yaml.CSafeLoader) if value is not None]
        for (at, ours), (theirs_at, theirs) in zip(leaves(values(content)), leaves(expected), strict=True):
            assert at == theirs_at, path
            if isinstance(theirs, dt.date) and not isinstance(theirs, dt.datetime):
                assert ours == theirs.isoformat(), (path, at)
            elif isinstance(theirs, dt.date):
                assert ours == f"{theirs:%Y-%m-%dT%H:%M:%SZ}", (path, at)
            elif ours == f"{theirs}\n":
                assert not content.endswith("\n"), (path, at)
            else:
                assert ours == theirs, (path, at)
                assert type(ours) is type(theirs) or math.isclose(ours, theirs), (path, at)


@every_corpus
@kubectl.needs_kubectl
def test_manifests_agree_with_kubectl(corpus: Corpus) -> None:
    ours: list[Any] = []
    for path in manifests(corpus):
        for value in values(path.read_bytes()):
            ours.extend(value["items"] if str(value["kind"]).endswith("List") and "items" in value else [value])
    theirs = kubectl.sent(manifests(corpus))
    assert len(ours) == len(theirs)
    for mine, sent in zip(ours, theirs, strict=True):
        assert kubectl.same(mine, sent), mine["metadata"]
