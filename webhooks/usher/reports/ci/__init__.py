"""Formats that CI systems read: one module each. All of them write the same entries, each in its own escapes."""
