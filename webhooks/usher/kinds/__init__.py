"""What usher knows of each kind of object: a folder, or a file, for each family."""
