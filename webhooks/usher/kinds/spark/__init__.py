"""sparkoperator.k8s.io: applications and Spark Connect."""

from usher.kinds.spark import applications

KINDS = (*applications.KINDS,)
