"""What the scheduler would say: tolerations against taints, selectors and affinity against labels. Pure."""
