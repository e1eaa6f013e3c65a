"""Formats that CI systems read, one module each. All write the same entries, with their own escapes."""
