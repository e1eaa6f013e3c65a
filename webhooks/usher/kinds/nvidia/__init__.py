"""NVIDIA's operators: GPU operator, NIM and NeMo."""

from usher.kinds.nvidia import gpu_operator, nemo, nim_operator

KINDS = (*nim_operator.KINDS, *nemo.KINDS, *gpu_operator.KINDS)
