"""Families of programs that show the purpose of a workload: model servers, trainers, notebooks, tests of devices.

A family matches the first words of a command or the end of an image's path, like a rule of `roles` in usher.yaml
(`config.fields`). Sources are the documentation of each project, read in November 2026.
"""

from typing import Final

from msgspec import Struct

from usher import model


class Family(Struct, frozen=True, kw_only=True):
    """Programs with one purpose."""

    name: str
    role: model.Role
    source: str
    commands: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


_INFERENCE: Final = model.Role.INFERENCE
_TRAINING: Final = model.Role.TRAINING
_INTERACTIVE: Final = model.Role.INTERACTIVE
_TEST: Final = model.Role.BATCH

TRAINERS: Final = (
    Family(
        name="torchrun",
        role=_TRAINING,
        commands=("torchrun", "python -m torch.distributed.run", "python -m torch.distributed.launch"),
        source="https://docs.pytorch.org/docs/stable/elastic/run.html",
    ),
    Family(
        name="Accelerate",
        role=_TRAINING,
        commands=("accelerate launch", "accelerate-launch", "python -m accelerate.commands.launch"),
        source="https://huggingface.co/docs/accelerate/package_reference/cli",
    ),
    Family(
        name="DeepSpeed",
        role=_TRAINING,
        commands=("deepspeed", "python -m deepspeed.launcher*"),
        source="https://www.deepspeed.ai/getting-started/",
    ),
    Family(
        name="Horovod",
        role=_TRAINING,
        commands=("horovodrun",),
        images=("horovod/horovod*",),
        source="https://horovod.readthedocs.io/en/stable/running_include.html",
    ),
    Family(
        name="torchtune",
        role=_TRAINING,
        commands=("tune run",),
        source="https://docs.pytorch.org/torchtune/stable/tune_cli.html",
    ),
    Family(
        name="Axolotl",
        role=_TRAINING,
        commands=("axolotl train", "python -m axolotl.cli.train"),
        images=("axolotlai/axolotl*", "winglian/axolotl*"),
        source="https://docs.axolotl.ai/docs/cli.html",
    ),
    Family(
        name="LLaMA-Factory",
        role=_TRAINING,
        commands=("llamafactory-cli train",),
        images=("hiyouga/llamafactory*",),
        source="https://llamafactory.readthedocs.io/en/latest/getting_started/sft.html",
    ),
    Family(
        name="verl",
        role=_TRAINING,
        commands=("python -m verl.trainer.*",),
        images=("verlai/verl*",),
        source="https://verl.readthedocs.io/en/latest/start/quickstart.html",
    ),
    Family(
        name="TRL",
        role=_TRAINING,
        commands=("trl sft", "trl dpo", "trl grpo", "trl kto", "trl reward", "trl rloo"),
        source="https://huggingface.co/docs/trl/clis",
    ),
    Family(
        name="a training script",
        role=_TRAINING,
        commands=(
            "python *train*.py",
            "python *finetun*.py",
            "python *fine_tun*.py",
            "python *fine-tun*.py",
            "python -m *train",
            "python -m *trainer",
            "python -m *.train.*",
            "python -m *.finetune*",
        ),
        source="how projects name their scripts; usher cannot know a program by less",
    ),
)

SERVERS: Final = (
    Family(
        name="vLLM",
        role=_INFERENCE,
        commands=("vllm serve", "python -m vllm.entrypoints.*"),
        # Vendors name their builds after the device: vllm-cuda-rhel9 and odh-vllm-rocm-rhel9 of Red Hat, vllm-gaudi of
        # Intel, pytorch-inference-vllm-neuronx of AWS, vllm of AMD and NVIDIA. llm-d names them after itself.
        images=("vllm", "vllm-*", "odh-vllm-*", "*vllm-neuronx", "*vllm-openai", "*vllm-serve", "llm-d/llm-d*"),
        source="https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
    ),
    Family(
        name="SGLang",
        role=_INFERENCE,
        commands=("python -m sglang.launch_server", "python -m sglang_router.*", "sglang serve"),
        images=("lmsysorg/sglang*",),
        source="https://docs.sglang.ai/basic_usage/send_request.html",
    ),
    Family(
        name="Text Generation Inference",
        role=_INFERENCE,
        commands=("text-generation-launcher", "text-generation-server serve"),
        images=("*text-generation-inference*", "tgi-gaudi"),
        source="https://huggingface.co/docs/text-generation-inference/reference/launcher",
    ),
    Family(
        name="Text Embeddings Inference",
        role=_INFERENCE,
        commands=("text-embeddings-router",),
        images=("*text-embeddings-inference*", "tei-gaudi"),
        source="https://huggingface.co/docs/text-embeddings-inference/cli_arguments",
    ),
    Family(
        name="Triton",
        role=_INFERENCE,
        commands=("tritonserver",),
        images=("nvidia/tritonserver",),
        source="https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/getting_started/quickstart.html",
    ),
    Family(
        name="NVIDIA NIM",
        role=_INFERENCE,
        commands=("/opt/nim/start_server.sh", "/opt/nim/start-server.sh"),
        images=("nvcr.io/nim/*",),
        source="https://docs.nvidia.com/nim/large-language-models/latest/getting-started.html",
    ),
    Family(
        name="TensorRT-LLM",
        role=_INFERENCE,
        commands=("trtllm-serve",),
        source="https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve/index.html",
    ),
    Family(
        name="NVIDIA Dynamo",
        role=_INFERENCE,
        commands=("dynamo serve", "python -m dynamo.*"),
        images=("nvidia/ai-dynamo/*",),
        source="https://docs.nvidia.com/dynamo/latest/",
    ),
    Family(
        name="Ollama",
        role=_INFERENCE,
        commands=("ollama serve",),
        images=("ollama/ollama",),
        source="https://docs.ollama.com/docker",
    ),
    Family(
        name="llama.cpp",
        role=_INFERENCE,
        commands=("llama-server", "python -m llama_cpp.server"),
        images=("ggml-org/llama.cpp:*server*", "ggerganov/llama.cpp:*server*"),
        source="https://github.com/ggml-org/llama.cpp/blob/master/docs/docker.md",
    ),
    Family(
        name="LMDeploy",
        role=_INFERENCE,
        commands=("lmdeploy serve",),
        images=("openmmlab/lmdeploy*",),
        source="https://lmdeploy.readthedocs.io/en/latest/llm/api_server.html",
    ),
    Family(
        name="KServe's Hugging Face server",
        role=_INFERENCE,
        commands=("python -m huggingfaceserver",),
        images=("kserve/huggingfaceserver*",),
        source="https://kserve.github.io/website/docs/model-serving/generative-inference/overview",
    ),
    Family(
        name="TensorFlow Serving",
        role=_INFERENCE,
        commands=("tensorflow_model_server",),
        images=("tensorflow/serving*", "tf-serving*"),
        source="https://www.tensorflow.org/tfx/serving/docker",
    ),
    Family(
        name="TorchServe",
        role=_INFERENCE,
        commands=("torchserve",),
        images=("pytorch/torchserve*", "torchserve*"),
        source="https://docs.pytorch.org/serve/",
    ),
    Family(
        name="JetStream",
        role=_INFERENCE,
        images=("inference/jetstream-*", "inference/maxengine-server"),
        source="https://github.com/AI-Hypercomputer/JetStream",
    ),
    Family(
        name="DJL Serving",
        role=_INFERENCE,
        commands=("djl-serving",),
        images=("deepjavalibrary/djl-serving*", "djl-inference"),
        source="https://docs.djl.ai/master/docs/serving/index.html",
    ),
    Family(
        name="Ray Serve",
        role=_INFERENCE,
        commands=("serve run", "serve deploy"),
        images=("anyscale/ray-llm*",),
        source="https://docs.ray.io/en/latest/serve/api/doc/serve.run.html",
    ),
)

NOTEBOOKS: Final = (
    Family(
        name="Jupyter",
        role=_INTERACTIVE,
        commands=(
            "jupyter",
            "jupyter-lab",
            "jupyter-notebook",
            "jupyterhub-singleuser",
            "start-notebook*",
            "start-singleuser*",
        ),
        images=("jupyter/*notebook", "notebook-servers/*", "kubeflownotebookswg/*", "tensorflow/tensorflow:*jupyter*"),
        source="https://jupyter-docker-stacks.readthedocs.io/en/latest/using/common.html",
    ),
    Family(
        name="an editor in the browser",
        role=_INTERACTIVE,
        commands=("code-server", "rserver"),
        images=("codercom/code-server", "rocker/rstudio"),
        source="https://coder.com/docs/code-server",
    ),
)

TESTS: Final = (
    Family(
        name="tests of NCCL and of networks",
        role=_TEST,
        commands=("*_perf", "*_perf_mpi", "ib_*_bw", "ib_*_lat", "nvbandwidth", "nvloom*"),
        images=("*nccl-test*", "*rccl-test*", "k8s-samples:nvbandwidth*", "*nccl-plugin*-diagnostic*"),
        source="https://github.com/NVIDIA/nccl-tests, https://github.com/ROCm/rccl-tests, https://github.com/NVIDIA/nvbandwidth",
    ),
    Family(
        name="tests of GPUs",
        role=_TEST,
        commands=("dcgmproftester*", "dcgmi diag", "gpu_burn", "gpu-burn", "nvidia-smi", "rocm-smi", "clinfo"),
        images=("*gpu-burn*", "*dcgmproftester*"),
        source="https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/, https://github.com/wilicc/gpu-burn",
    ),
    Family(
        name="samples of CUDA",
        role=_TEST,
        commands=("vectorAdd", "nbody", "deviceQuery", "bandwidthTest", "p2pBandwidthLatencyTest", "matrixMul"),
        images=("k8s/cuda-sample", "nvidia/samples:vectoradd*", "cuda-vector-add"),
        source="https://github.com/NVIDIA/cuda-samples",
    ),
)  # fmt: skip

ALL: Final = (*TRAINERS, *NOTEBOOKS, *SERVERS, *TESTS)
"""In this order a container gets the role of the first family that one of its programs belongs to. So a server cannot
hide a trainer: the role with fewer rights comes first.
"""
