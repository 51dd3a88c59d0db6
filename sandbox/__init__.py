"""Runs untrusted code; knows nothing of language models. Nothing lives here yet."""
