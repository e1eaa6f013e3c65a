"""The formats of audits and fleets. Each reads a document alone, so a saved one gives the same report."""
