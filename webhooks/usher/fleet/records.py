"""The completeness record of a part: the shard that is done, what it lacks, and the digests of its files.

It is written last, so a part with a record is whole. A merge reads records of others, so each field has its bounds.
"""

import hashlib
import re
from typing import Annotated, Final, Literal

import pydantic
from pydantic import Field, StringConstraints

from usher.audit.document.part import Part
from usher.fleet.shards import MOST, Shard

NAME: Final = "record.json"
MOST_BYTES: Final = 1 << 20
"""Of a record."""

MOST_GAPS: Final = 100
LONGEST: Final = 500
"""Characters of a text."""

API_VERSION: Final = "gpu-usher.io/v1alpha1"

_Text = Annotated[str, StringConstraints(max_length=LONGEST)]
_Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_FileName = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}-[0-9a-f]{16}\.parquet$")]
"""The table and the beginning of the digest. It names a file beside the record and nothing else."""

_Time = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]
_Count = Annotated[int, Field(ge=0, le=2**53)]


class File(Part):
    table: Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}$")]
    name: _FileName
    size: _Count
    """Bytes."""
    sha256: _Digest
    rows: _Count


class Gap(Part):
    source: _Text
    reason: _Text
    read: _Count = 0


class Record(Part):
    api_version: Literal["gpu-usher.io/v1alpha1"] = API_VERSION
    kind: Literal["AuditPart"] = "AuditPart"
    version: _Text
    """Of the usher that wrote it."""
    cluster: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST)]
    cluster_id: _Text = ""
    """The uid of the namespace kube-system, by which two clusters of one name differ; empty where it is not known."""
    shard: Annotated[int, Field(ge=0, lt=MOST)]
    of: Annotated[int, Field(ge=1, le=MOST)]
    taken: _Time
    complete: bool
    gaps: Annotated[tuple[Gap, ...], Field(max_length=MOST_GAPS)] = ()
    files: Annotated[tuple[File, ...], Field(max_length=40)]

    @pydantic.model_validator(mode="after")
    def _check(self) -> "Record":
        if self.shard >= self.of:
            raise ValueError("shards count from 0")
        if len({each.table for each in self.files}) < len(self.files):
            raise ValueError("a table has two files")
        return self


def read(content: bytes) -> Record:
    """The record of a JSON text.

    Raises:
        ValueError: it is not a record of this version; the message says why, and quotes nothing of the text.
    """
    try:
        return Record.model_validate_json(content)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))[:80]
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from None


def written(record: Record) -> bytes:
    """The record as JSON."""
    return record.model_dump_json(by_alias=True, indent=2).encode() + b"\n"


def folder(cluster: str, cluster_id: str, shard: Shard) -> str:
    """The folder of a part, which two clusters never share: a readable name, a digest of the name, and the shard."""
    readable = re.sub(r"[^a-z0-9-]+", "-", cluster.lower()).strip("-")[:40] or "cluster"
    digest = hashlib.sha256(f"{cluster}\0{cluster_id}".encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{readable}-{digest}/{shard.index}-of-{shard.of}"
