"""GPUs and money: series of samples to GPU-hours allocated, used and idle, their cost, targets and savings."""
