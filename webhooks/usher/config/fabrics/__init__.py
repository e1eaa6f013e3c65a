"""Fabric profiles: the NCCL settings for the network of a node pool."""
