"""Questions of people to a running server: its decision, the reason, when a job could start, what a quota has left."""
