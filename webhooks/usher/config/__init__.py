"""usher.yaml: what a site says about its cluster and its rules."""
