"""Changes that free GPUs or make them cheaper, each with its evidence."""
