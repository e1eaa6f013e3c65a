"""The formats of an audit document. Each module reads the document alone, so a saved one gives the same report."""
