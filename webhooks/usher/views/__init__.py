"""What rules read of an object as it is written: typed shapes in the words of the manifest, validated by pydantic."""
