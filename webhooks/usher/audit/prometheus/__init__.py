"""The HTTP API of Prometheus, and of what answers as it does: Thanos, Mimir, VictoriaMetrics."""
