"""Parts that the clients of the API server and Prometheus share: proxies, waits for busy servers, failures."""
