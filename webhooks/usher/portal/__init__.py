"""Answers people's questions to a running server: its decision, the reason, when a job could start, the rest of a
quota.
"""
