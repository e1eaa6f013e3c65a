"""Intents -> changed object -> RFC 6902 patch. Pure. Rego says what should be where; the strategies here know how."""
