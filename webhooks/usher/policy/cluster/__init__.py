"""What Rego sees of a cluster: for each family of facts the answer to what rules ask of one workload.

A slice is small, and stable as long as the cluster's configuration is: decisions are remembered by it.
"""
