"""Writes changes of objects into the text that people wrote. Comments, styles and the order of keys stay.

It opens no file. `rounds` gets the findings and the mutations. `rewriting` makes the new text and proves it.
"""
