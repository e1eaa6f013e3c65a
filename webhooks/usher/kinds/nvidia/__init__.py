"""NVIDIA's operators: GPU operator, NIM and NeMo."""
