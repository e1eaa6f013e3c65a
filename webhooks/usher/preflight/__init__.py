"""What a cluster must have before usher enforces anything in it, and what would happen then. It changes nothing."""
