"""What the clients of the API server and of Prometheus share: proxies, waits for busy servers, causes of failures."""
