"""Certificates of the webhook server: making them, keeping them in a directory, serving and reloading them.

`certificates` makes and reads them; `issue` keeps a directory good; `managed` keeps them in a Secret; `serving` makes
TLS contexts and reloads them.
"""
