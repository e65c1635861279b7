"""llama-cpp-python itself, alone in a process of its own: what the engine is measured against."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from assistant.core.cancel import CancelToken
from assistant.core.wire import Emit, serve, worker_channel


class Raw:
    """One llama_cpp.Llama; answers with times measured around the library's own calls."""

    def __init__(self) -> None:
        self._llama: Any = None

    def load(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> dict[str, Any]:
        from llama_cpp import Llama

        options = (
            {"n_threads": args["threads"], "n_threads_batch": args["threads_batch"]} if args.get("threads") else {}
        )
        self._llama = Llama(args["path"], n_ctx=args["window"], n_batch=args["batch"], verbose=False, **options)
        return {"threads": self._llama.n_threads, "threads_batch": self._llama.n_threads_batch}

    def tokens(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> dict[str, Any]:
        """The prompt of the messages as the library's own chat formatter writes it."""
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        metadata = self._llama.metadata
        piece = self._llama._model.token_get_text
        formatter = Jinja2ChatFormatter(
            metadata["tokenizer.chat_template"], piece(self._llama.token_eos()), piece(self._llama.token_bos())
        )
        text = formatter(messages=args["messages"]).prompt
        return {"tokens": self._llama.tokenize(text.encode(), add_bos=False, special=True)}

    def generate(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> dict[str, Any]:
        """Greedy text after the given tokens; reset True forgets the cache first, else the common prefix is kept."""
        if args["reset"]:
            self._llama.reset()
            self._llama._ctx.kv_cache_clear()
        began = time.perf_counter()
        first, text = 0.0, []
        stream = self._llama.create_completion(
            args["tokens"], max_tokens=args["max_tokens"], temperature=0.0, repeat_penalty=1.0, stream=True
        )
        for part in stream:
            first = first or time.perf_counter()
            text.append(part["choices"][0]["text"])
        last = time.perf_counter()
        generated = max(2, self._llama.n_tokens - len(args["tokens"]))
        return {
            "ttft_ms": (first - began) * 1000,
            "tokens_per_s": (generated - 1) / (last - first),
            "text": "".join(text),
            "tokens": generated,
        }


def main() -> None:
    channel = worker_channel()
    raw = Raw()
    serve(channel, {"load": raw.load, "tokens": raw.tokens, "generate": raw.generate})


if __name__ == "__main__":
    main()
