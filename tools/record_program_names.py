"""Records the names that KEDA, NCCL and vLLM read: metadata of triggers, and variables.

    .venv/bin/python tools/record_program_names.py FOLDER >webhooks/usher/kinds/reading/program_names.json

FOLDER holds a checkout of kedacore/keda (`keda`) and of NVIDIA/nccl (`nccl`), and in folder `vllm` versions of
module envs of vllm-project/vllm. `_MORE` has names that these files do not show.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

_SOURCES = (
    "kedacore/keda 8b4f083c schema/generated/scalers-schema.json; NVIDIA/nccl 5067397c; vllm-project/vllm vllm/envs.py "
    "at f218f9c2 and 001f69f8; names of plugins and of torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp by hand"
)
_MORE = """
NCCL_ASYNC_ERROR_HANDLING NCCL_BLOCKING_WAIT NCCL_DEBUG_FILE NCCL_DEBUG_TIMESTAMP_FORMAT NCCL_DEBUG_TIMESTAMP_LEVELS
NCCL_DESYNC_DEBUG NCCL_IB_CUDA_SUPPORT NCCL_LIB_DIR NCCL_LL_THRESHOLD NCCL_RINGS NCCL_TIMEOUT NCCL_TREE_THRESHOLD
NCCL_VERSION NCCL_WARN_ENABLE_DEBUG_INFO NCCL_DYNAMIC_CHUNK_SIZE NCCL_NET_SHARED_BUFFERS NCCL_NET_GDR_FLUSH
TORCH_NCCL_ASYNC_ERROR_HANDLING TORCH_NCCL_AVOID_RECORD_STREAMS TORCH_NCCL_BLOCKING_WAIT TORCH_NCCL_COORD_CHECK_MILSEC
TORCH_NCCL_CUDA_EVENT_CACHE TORCH_NCCL_DEBUG_INFO_PIPE_FILE TORCH_NCCL_DEBUG_INFO_TEMP_FILE TORCH_NCCL_DESYNC_DEBUG
TORCH_NCCL_DUMP_ON_TIMEOUT TORCH_NCCL_ENABLE_MONITORING TORCH_NCCL_ENABLE_TIMING TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC
TORCH_NCCL_HIGH_PRIORITY TORCH_NCCL_LOG_CPP_STACK_ON_UNCLEAN_SHUTDOWN TORCH_NCCL_NAN_CHECK
TORCH_NCCL_NONBLOCKING_TIMEOUT TORCH_NCCL_PROPAGATE_ERROR TORCH_NCCL_RETHROW_CUDA_ERRORS TORCH_NCCL_TRACE_BUFFER_SIZE
TORCH_NCCL_TRACE_CPP_STACK TORCH_NCCL_USE_COMM_NONBLOCKING TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK
TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC VLLM_COMMIT VLLM_IMAGE VLLM_VERSION VLLM_URL
"""
"""Names of plugins, of PyTorch and of images, and older ones."""
_LISTS = {
    "features": """
cpu.cpuid cpu.coprocessor cpu.cstate cpu.model cpu.pstate cpu.rdt cpu.se cpu.security cpu.sgx cpu.sst cpu.topology
kernel.config kernel.enabledmodule kernel.kvm kernel.loadedmodule kernel.selinux kernel.version local.feature
local.label memory.hugepages memory.numa memory.nv memory.swap network.device network.virtual pci.device rule.backrefs
rule.matched storage.block system.dmiid system.name system.osrelease usb.device""",
    "vllm": """
num_requests_running num_requests_waiting num_requests_swapped gpu_cache_usage_perc cpu_cache_usage_perc
kv_cache_usage_perc num_preemptions prompt_tokens generation_tokens time_to_first_token_seconds
time_per_output_token_seconds inter_token_latency_seconds e2e_request_latency_seconds request_prompt_tokens
request_generation_tokens request_params_n request_params_max_tokens request_success iteration_tokens
request_queue_time_seconds request_inference_time_seconds request_prefill_time_seconds request_decode_time_seconds
gpu_prefix_cache_queries gpu_prefix_cache_hits prefix_cache_queries prefix_cache_hits gpu_prefix_cache_hit_rate
cpu_prefix_cache_hit_rate avg_prompt_throughput_toks_per_s avg_generation_throughput_toks_per_s lora_requests_info
cache_config_info request_max_num_generation_tokens""",
    "llamacpp": """
prompt_tokens prompt_seconds tokens_predicted tokens_predicted_seconds n_decode n_tokens_max prompt_tokens_seconds
predicted_tokens_seconds n_busy_slots_per_decode requests_processing requests_deferred""",
}
"""Features of node feature discovery (docs/usage/customization-guide.md), and metrics of servers without endings:
vllm/v1/metrics and vllm/engine of vLLM, tools/server/README.md of llama.cpp.
"""
_COMPLETE = """
aws-sqs-queue cpu cron external external-push gcp-storage kafka kubernetes-workload loki memory mysql nats-jetstream
prometheus rabbitmq temporal
"""
"""Triggers that need all fields which the schema does not call optional; the code of others decides by other fields."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    lists = {name: " ".join(text.split()) for name, text in _LISTS.items()}
    found = {
        "source": _SOURCES,
        "features": lists.pop("features"),
        "metrics": lists,
        "triggers": _triggers(folder),
        "variables": " ".join(_variables(folder)),
    }
    print(json.dumps(found, indent=0, ensure_ascii=False))


def _variables(folder: Path) -> list[str]:
    texts = [each.read_text(errors="replace") for each in folder.glob("nccl/**/*.[ch]*") if each.is_file()]
    found = {f"NCCL_{name}" for text in texts for name in re.findall(r'NCCL_PARAM\(\w+, *"([A-Z0-9_]+)"', text)}
    for pattern in (r'"(NCCL_[A-Z0-9_]+)"', r"DEFINE_NCCL_PARAM\(\w+,[^,]+, *(NCCL_[A-Z0-9_]+)"):
        found |= {name for text in texts for name in re.findall(pattern, text)}
    for each in folder.glob("vllm/*.py"):
        found |= set(re.findall(r"\bVLLM_[A-Z0-9_]+", each.read_text()))
    return sorted(found | set(_MORE.split()))


def _triggers(folder: Path) -> dict[str, dict[str, str]]:
    """By type: the names that it needs in its metadata, and the others that it reads there."""
    schema = json.loads((folder / "keda/schema/generated/scalers-schema.json").read_text())
    return {each["type"]: _names(each) for each in schema["scalers"]}


def _names(scaler: dict[str, Any]) -> dict[str, str]:
    is_complete = scaler["type"] in _COMPLETE.split()
    needs, others = [], []
    for each in scaler["parameters"]:
        is_needed = not each.get("optional") and "default" not in each and each.get("metadataVariableReadable")
        elsewhere = each.get("triggerAuthenticationVariableReadable")
        (needs if is_needed and not elsewhere and is_complete else others).append(each["name"])
    return {"needs": " ".join(needs), "others": " ".join(dict.fromkeys(others))}


if __name__ == "__main__":
    main()
