"""Certificates of the webhook server: making them, keeping them in a directory, serving and reloading them.

`authority` is pure; `pem`, `contents` and `files` read and write; `issue` keeps a directory good; `serving` makes TLS
contexts and reloads them.
"""
