"""Rules that the API server enforces while usher does not answer: policies in CEL for the critical checks."""
