"""A live cluster: the way to its API server, and what is known of it, kept up to date by lists and watches."""
