"""Parts of pages that are one file each: elements, tables, charts and the frame. They load nothing from elsewhere."""
