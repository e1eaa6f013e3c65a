"""sparkoperator.k8s.io: applications and Spark Connect."""
