"""The settings of usher.yaml that a cluster suggests: written as a file, or compared with one."""
