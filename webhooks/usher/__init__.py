"""gpu-usher: shows every GPU workload to its right seat, and turns away those that have none."""

__version__ = "0.1.0"

__all__ = ["__version__"]
