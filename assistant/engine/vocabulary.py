"""The tokens of a model: text to tokens and back, and which of them control the conversation."""

from __future__ import annotations

import ctypes
from typing import Any

_NO_TOKEN = -1


class Vocabulary:
    """Of a loaded model. ``tokenise`` may be called from any thread."""

    def __init__(self, library: Any, model: Any) -> None:
        """library: llama_cpp's low-level functions; model: its handle."""
        self._library: Any = library
        self._vocabulary = library.llama_model_get_vocab(model)
        self._pieces: dict[int, bytes] = {}

    def tokenise(self, text: str, special: bool) -> list[int]:
        """The tokens of a text. special: whether ``<|im_end|>`` and the like become control tokens."""
        data = text.encode("utf-8", "replace")
        size = len(data) + 8
        tokens = (self._library.llama_token * size)()
        count = self._library.llama_tokenize(self._vocabulary, data, len(data), tokens, size, False, special)
        if count < 0:
            size = -count
            tokens = (self._library.llama_token * size)()
            count = self._library.llama_tokenize(self._vocabulary, data, len(data), tokens, size, False, special)
        return list(tokens[:count])

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for; none for a control token."""
        known = self._pieces.get(token)
        if known is None:
            known = self._pieces[token] = self._read_piece(token, special=False)
        return known

    def spell(self, token: int, text: str) -> None:
        """Let a control token show in replies as this text: the marks of calls and thoughts must be seen."""
        self._pieces[token] = text.encode()

    def is_end(self, token: int) -> bool:
        """Whether the token ends the reply or the turn."""
        return bool(self._library.llama_vocab_is_eog(self._vocabulary, token))

    def control_texts(self) -> dict[str, int]:
        """What is written for control tokens -> the token; in a template they count, in people's text they must not."""
        library = self._library
        mask = library.LLAMA_TOKEN_ATTR_CONTROL | library.LLAMA_TOKEN_ATTR_UNKNOWN
        attributes = library.llama_vocab_get_attr
        tokens = range(library.llama_vocab_n_tokens(self._vocabulary))
        special = [token for token in tokens if attributes(self._vocabulary, token) & mask]
        texts = {self._read_piece(token, special=True).decode("utf-8", "replace"): token for token in special}
        return {text: token for text, token in texts.items() if text}

    def bos(self) -> tuple[int, str, bool]:
        """The token that starts a text (-1: none), how it is written, and whether the model wants it."""
        token = int(self._library.llama_vocab_bos(self._vocabulary))
        wanted = bool(self._library.llama_vocab_get_add_bos(self._vocabulary))
        return token, self._written(token), wanted and token != _NO_TOKEN

    def eos_text(self) -> str:
        return self._written(int(self._library.llama_vocab_eos(self._vocabulary)))

    def _written(self, token: int) -> str:
        return "" if token == _NO_TOKEN else self._read_piece(token, special=True).decode("utf-8", "replace")

    def _read_piece(self, token: int, special: bool) -> bytes:
        size = 64
        buffer = ctypes.create_string_buffer(size)
        length = self._library.llama_token_to_piece(self._vocabulary, token, buffer, size, 0, special)
        if length < 0:
            size = -length
            buffer = ctypes.create_string_buffer(size)
            length = self._library.llama_token_to_piece(self._vocabulary, token, buffer, size, 0, special)
        return buffer.raw[: max(0, length)]
