"""Reports: one format per module, each a function from a Report to text. They only read the Report."""
