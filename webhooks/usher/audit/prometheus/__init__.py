"""The HTTP API of Prometheus and of compatible servers: Thanos, Mimir, VictoriaMetrics."""
