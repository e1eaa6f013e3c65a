"""The scheduler's rules: tolerations against taints, selectors and affinity against labels. Pure."""
