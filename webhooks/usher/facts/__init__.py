"""What is known of a cluster: which kinds of objects decisions look at, what is kept of each, and who has it at hand.

Pure. Where the objects come from (a live cluster, files, a snapshot) is the matter of whoever fills the store.
"""
