"""A Hugging Face Space out of this repository: what is pushed, and whether it will start."""
