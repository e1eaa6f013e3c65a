"""The HTTP server: the webhook port over TLS, and the admin port. It makes no decisions itself."""
