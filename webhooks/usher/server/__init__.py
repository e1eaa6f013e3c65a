"""HTTP: the webhook port over TLS, the admin port beside it. Nothing is decided here."""
