"""Local models: files, the worker protocol and the llama.cpp worker."""
