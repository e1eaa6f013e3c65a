"""Rules that the API server keeps by itself while usher does not answer: policies in CEL for the critical checks."""
