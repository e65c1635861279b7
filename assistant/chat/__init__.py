"""One turn of conversation: prompt, streaming, overflow, distilling."""
