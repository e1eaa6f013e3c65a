"""The input document of the policies: what Rego sees of an object, its pods, the site and the cluster."""
