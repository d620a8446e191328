"""The text of reproducers: pieces of Python that look as if a person had written them."""
