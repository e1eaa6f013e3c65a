"""A live cluster: requests to its API server, and its facts, kept up to date by lists and watches."""
