"""Analyses for an editor: a text becomes findings, explanations, completions and changes, as values of our own.

Only `protocol` and `serving` know the Language Server Protocol. Only `neighbours` and `site` read files, and
`documents` looks for the Chart.yaml above a template.
"""
