"""GPUs and money: turns series of samples into GPU-hours allocated, used and idle, their cost, targets and savings."""
