"""Records the machine types with accelerators of public sources: labels, and the most that pods get of a node.

    .venv/bin/python tools/record_machine_types.py FOLDER >webhooks/usher/accelerators/machine_types.json

FOLDER holds the sources of _SOURCES, each under the name there. The page of Karpenter gives what pods get of a node.
The others give what the machine has; pods get a little less. `machine_types.csv` beside this tool is written by hand.
"""

import argparse
import csv
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_Row = tuple[str, dict[str, Any]]

_SOURCES = {
    "aws.md": "aws/karpenter-provider-aws website/content/en/docs/reference/instance-types.md, 2026-08-21",
    "azure.go": "kubernetes/autoscaler cluster-autoscaler/cloudprovider/azure/azure_instance_types.go, 2026-08-22",
    "coreweave.go": "kubernetes/autoscaler cluster-autoscaler/cloudprovider/coreweave/coreweave_instance_types.go, "
    "2026-08-22",
    "gcp.csv": "Cyclenerd/google-cloud-pricing-cost-calculator tools/machinetypes.csv, 2026-08-20; accelerators and "
    "their labels: AI-Hypercomputer/xpk src/xpk/core/system_characteristics.py, 2026-06-25, and "
    "docs.cloud.google.com/kubernetes-engine/docs/concepts/tpus",
    "machine_types.csv": "skypilot-org/skypilot-catalog vms.csv of oci, nebius and lambda (catalogs/v8, 2026), of do "
    "and scaleway (catalogs/v6 at 1fbe7331) and of ovhcloud (catalogs/v6 at 8a258f54); dstackai/gpuhunt "
    "src/gpuhunt/providers/vultr.py, 2026; crusoecloud/slurm and crusoecloud/crusoe-ml-k3s, 2026, without CPUs and "
    "memory",
}

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


def _of_aws(text: str) -> Iterator[_Row]:
    starts = list(_TYPE.finditer(text))
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        part = text[start.end() : end.start() if end is not None else None]
        rows = {row["key"]: row["value"] for row in _ROW.finditer(part)}
        if any(name in rows for name in _ACCELERATORS):
            labels = {key: rows[_PREFIX + key] for key in _LABELS if _PREFIX + key in rows}
            arch = {"arch": rows.get("kubernetes.io/arch", "amd64")}
            yield start["name"], _row("aws", labels | arch, {key: rows[key] for key in _AMOUNTS if key in rows})


_GO = re.compile(r'^\t"(?P<name>[\w.-]+)": \{\n(?P<fields>.*?)^\t\},', re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'(\w+):\s+"?([\w ]+)"?,')
_NOT_NVIDIA = {"Standard_ND96isr_MI300X_v5": "amd.com/gpu"}
_NO_GPU_OF_A_PLUGIN = re.compile(r"Standard_NP|Standard_NV\d+as_v4")
"""FPGAs, and parts of GPUs of AMD that no device plugin offers."""


def _of_azure(text: str) -> Iterator[_Row]:
    for found in _GO.finditer(text):
        name, fields = found["name"], dict(_FIELD.findall(found["fields"]))
        if int(fields["GPU"]) and not _NO_GPU_OF_A_PLUGIN.match(name):
            maker = "amd" if name in _NOT_NVIDIA else "nvidia"
            labels = {
                "arch": fields["Architecture"],
                "sku-name": name,
                "sku-cpu": fields["VCPU"],
                "sku-memory": fields["MemoryMb"],
                "sku-gpu-count": fields["GPU"],
                "sku-gpu-manufacturer": maker,
            }
            amounts = {"cpu": fields["VCPU"], "memory": fields["MemoryMb"] + "Mi", f"{maker}.com/gpu": fields["GPU"]}
            yield name, _row("azure", labels, amounts)


def _of_coreweave(text: str) -> Iterator[_Row]:
    for found in _GO.finditer(text):
        fields = dict(_FIELD.findall(found["fields"]))
        if int(fields["GPU"]):
            amounts = {"cpu": fields["VCPU"], "memory": fields["MemoryKi"] + "Ki", "nvidia.com/gpu": fields["GPU"]}
            yield found["name"], _row("coreweave", {"arch": fields["Architecture"]}, amounts)


_GCP = {
    "a2-highgpu": "nvidia-tesla-a100",
    "a2-megagpu": "nvidia-tesla-a100",
    "a2-ultragpu": "nvidia-a100-80gb",
    "a3-edgegpu": "nvidia-h100-80gb",
    "a3-highgpu": "nvidia-h100-80gb",
    "a3-megagpu": "nvidia-h100-mega-80gb",
    "a3-ultragpu": "nvidia-h200-141gb",
    "a4-highgpu": "nvidia-b200",
    "a4x-highgpu": "nvidia-gb200",
    "a4x-maxgpu": "nvidia-gb300",
    "g2-standard": "nvidia-l4",
    "g4-standard": "nvidia-rtx-pro-6000",
    "ct5lp-hightpu": "tpu-v5-lite-podslice",
    "ct5p-hightpu": "tpu-v5p-slice",
    "ct6e-standard": "tpu-v6e-slice",
    "tpu7x-standard": "tpu7x",
}
_COUNTED = re.compile(r"-(\d+)[gt](?:-|$)")
_BY_CPUS = {
    "g2-standard": {4: 1, 8: 1, 12: 1, 16: 1, 24: 2, 32: 1, 48: 4, 96: 8},
    "g4-standard": {48: 1, 96: 2, 192: 4, 384: 8},
}
"""GPUs by CPUs; smaller machines of G4 have a part of a GPU."""


def _of_gcp(text: str) -> Iterator[_Row]:
    for row in csv.DictReader(text.splitlines(), delimiter=";"):
        name, cpus = row["NAME"], int(row["CPUS"])
        family = "-".join(name.split("-")[:2])
        counted = _COUNTED.search(name)
        count = int(counted[1]) if counted else _BY_CPUS.get(family, {}).get(cpus, 0)
        if family in _GCP and count:
            tpu = "tpu" in family or family.startswith("ct")
            resource, label = (
                ("google.com/tpu", "gke-tpu-accelerator") if tpu else ("nvidia.com/gpu", "gke-accelerator")
            )
            labels = {"arch": "arm64" if family.startswith("a4x") else "amd64", label: _GCP[family]}
            labels |= {} if tpu else {"instance-gpu-count": str(count)}
            amounts = {"cpu": str(cpus), "memory": f"{float(row['MEMORY_GB']):g}Gi", resource: str(count)}
            yield name, _row("gcp", labels, amounts)


_WITH_ARM = re.compile(r"\.GB|^gb200|gh200")


def _by_hand(text: str) -> Iterator[_Row]:
    for row in csv.DictReader(text.splitlines()):
        amounts = {"cpu": row["cpu"], "memory": row["memory"], row["resource"]: row["count"]}
        arch = "arm64" if _WITH_ARM.search(row["name"]) else "amd64"
        yield row["name"], _row(row["of"], {"arch": arch}, {key: text for key, text in amounts.items() if text})


def _row(of: str, labels: Mapping[str, str], amounts: Mapping[str, str]) -> dict[str, Any]:
    return {"of": of, "labels": dict(labels), "amounts": dict(amounts)}


_READERS = {
    "aws.md": _of_aws,
    "azure.go": _of_azure,
    "coreweave.go": _of_coreweave,
    "gcp.csv": _of_gcp,
    "machine_types.csv": _by_hand,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    found: dict[str, Any] = {}
    for name, reader in _READERS.items():
        file = Path(__file__).with_name(name) if name == "machine_types.csv" else folder / name
        found |= reader(file.read_text(encoding="utf-8"))
    print(f'{{"sources": {json.dumps(list(_SOURCES.values()))}, "types": {{')
    print(",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(found.items())))
    print("}}")


if __name__ == "__main__":
    main()
