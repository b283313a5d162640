"""The course material: documents to chunks, and search over them."""
