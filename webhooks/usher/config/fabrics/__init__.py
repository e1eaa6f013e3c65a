"""Fabric profiles: what NCCL needs to know of the network of a node pool."""
