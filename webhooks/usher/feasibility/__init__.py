"""Whether a workload could ever run, by what is known of a cluster. Pure arithmetic; nothing is asked of anybody.

Every answer is on the side of the user: "never" is said of what nothing but a change of the cluster or of the workload
can help, and never of how full, cordoned or ill a cluster is at the moment.
"""
