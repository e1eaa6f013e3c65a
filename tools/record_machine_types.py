"""Records the machine types of AWS with accelerators that Karpenter documents: labels, and what pods get of a node.

The page is website/content/en/docs/reference/instance-types.md of aws/karpenter-provider-aws.

    .venv/bin/python tools/record_machine_types.py PAGE --date DATE >webhooks/usher/accelerators/machine_types.json
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

_TYPE = re.compile(r"^### `(?P<name>[\w.-]+)`$", re.MULTILINE)
_ROW = re.compile(r"^ ?\|(?P<key>[\w./-]+)\|(?P<value>[\w./-]+)\|$", re.MULTILINE)
_LABELS = ("instance-category", "instance-cpu", "instance-family", "instance-generation", "instance-gpu-count",
           "instance-gpu-manufacturer", "instance-gpu-memory", "instance-gpu-name", "instance-accelerator-name",
           "instance-accelerator-count", "instance-accelerator-manufacturer", "instance-memory",
           "instance-size")  # fmt: skip
_PREFIX = "karpenter.k8s.aws/"
_ACCELERATORS = (
    "nvidia.com/gpu",
    "amd.com/gpu",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "habana.ai/gaudi",
)
_AMOUNTS = ("cpu", "memory", "pods", "vpc.amazonaws.com/efa", *_ACCELERATORS)


def _types(text: str) -> Iterator[tuple[str, dict[str, dict[str, str]]]]:
    starts = list(_TYPE.finditer(text))
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        part = text[start.end() : end.start() if end is not None else None]
        rows = {row["key"]: row["value"] for row in _ROW.finditer(part)}
        if any(name in rows for name in _ACCELERATORS):
            labels = {key: rows[_PREFIX + key] for key in _LABELS if _PREFIX + key in rows}
            yield (
                start["name"],
                {
                    "labels": labels | {"arch": rows.get("kubernetes.io/arch", "amd64")},
                    "amounts": {key: rows[key] for key in _AMOUNTS if key in rows},
                },
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--date", required=True, help="the date of the page")
    arguments = parser.parse_args()
    found = dict(sorted(_types(arguments.page.read_text(encoding="utf-8"))))
    source = f"aws/karpenter-provider-aws website/content/en/docs/reference/instance-types.md, {arguments.date}"
    print(f'{{"source": {json.dumps(source)}, "types": {{')
    print(",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in found.items()))
    print("}}")


if __name__ == "__main__":
    main()
