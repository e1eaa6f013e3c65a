"""What changes the number of pods of a workload: autoscalers, and KEDA."""
