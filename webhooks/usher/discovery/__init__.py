"""What a cluster has that usher.yaml can declare: written as a file, or compared with one."""
