"""The input document of the policies: an object, its pods, the site and the cluster, as Rego sees them."""
