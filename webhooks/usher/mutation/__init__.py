"""Intents -> changed object -> RFC 6902 patch. Pure.

Rego says which value belongs where; the strategies here write it.
"""
