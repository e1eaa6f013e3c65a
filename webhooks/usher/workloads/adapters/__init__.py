"""One adapter per family of kinds; each lists its kinds in KINDS. Facts and sources: gpu-domain 1.1 to 1.3 and 1.5."""
