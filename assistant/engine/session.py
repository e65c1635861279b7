"""The model that the worker has loaded, its template, and the replies it gave."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import ChatEvent, Done, EngineSettings, GenerateOptions, Message, ModelInfo
from assistant.engine.fit import available_memory, check_fit
from assistant.engine.generation import generate
from assistant.engine.gguf import GgufInfo, read_gguf_info
from assistant.engine.llama import Library, LlamaModel, LoadPlan
from assistant.engine.protocol import NO_MODEL
from assistant.engine.speed import Speed, exact_draft, measure_speed
from assistant.engine.templates import PromptWriter, choose_template
from assistant.engine.threads import ThreadPlan, plan_threads, usable_cores

_log = logging.getLogger(__name__)
_REPLIES_KEPT = 200


class EngineSession:
    """One model at a time; a failed load leaves none and the session usable.

    count and count_prompt may be called from a second thread while the first one chats or loads.
    """

    def __init__(self) -> None:
        self._counting = threading.Lock()
        self._library: Library | None = None
        self._loaded: _Loaded | None = None

    def load(
        self, path: Path, settings: EngineSettings, cancel: CancelToken, progress: Callable[[float], None]
    ) -> ModelInfo:
        """Load a model in place of the one before. progress: 0..1. Raises AssistantError (``model.*``), Cancelled."""
        self.unload()
        cancel.check()
        plan = _plan(path, settings)
        self._library = self._library or Library()
        self._loaded = _load(self._library, plan, cancel, progress)
        return self._loaded.info

    def chat(
        self,
        messages: Sequence[Message],
        options: GenerateOptions,
        cancel: CancelToken,
        show: Callable[[ChatEvent], None],
    ) -> Done:
        return self._need().chat(messages, options, cancel, show)

    def count(self, texts: Sequence[str]) -> list[int]:
        with self._counting:
            loaded = self._need()
            return [len(loaded.model.tokenise(text, False)) for text in texts]

    def count_prompt(self, messages: Sequence[Message]) -> int:
        with self._counting:
            return len(self._need().prompt(messages))

    def has_gpu(self) -> bool:
        """Whether the library was built with a back end that takes layers off the processor."""
        self._library = self._library or Library()
        return bool(self._library.api.llama_supports_gpu_offload())

    def measure(self, trial: Mapping[str, Any], cancel: CancelToken) -> Speed:
        """How fast the model is with the trial's threads, threads_batch and give_way; the rest as measure_speed."""
        with self._stoppable(cancel) as model:
            model.use_threads(trial["threads"], trial["threads_batch"], trial["give_way"])
            chunk = min(trial["chunk"] or model.step, model.step)
            return measure_speed(
                model, trial["read"], trial["decode"], chunk, trial["seconds"], warm=trial["give_way"]
            )

    def exact_draft(self, trial: Mapping[str, Any], cancel: CancelToken) -> int:
        """As speed.exact_draft, with the trial's threads, threads_batch and give_way."""
        with self._stoppable(cancel) as model:
            return exact_draft(model, trial["threads"], trial["threads_batch"], trial["give_way"])

    @contextmanager
    def _stoppable(self, cancel: CancelToken) -> Iterator[LlamaModel]:
        model = self._need().model
        model.resume()
        take_back = cancel.on_cancel(model.stop)
        try:
            yield model
        finally:
            take_back()

    def unload(self) -> None:
        with self._counting:  # whoever counts now needs the vocabulary until the end
            loaded, self._loaded = self._loaded, None
            if loaded:
                loaded.model.close()

    def _need(self) -> _Loaded:
        if self._loaded is None:
            raise AssistantError(NO_MODEL, "No model is loaded.", "Choose a model first.")
        return self._loaded


class _Loaded:
    def __init__(self, model: LlamaModel, writer: PromptWriter, stops: tuple[str, ...], info: ModelInfo) -> None:
        self.model = model
        self.info = info
        self._writer = writer
        self._stops = stops
        self._replies: OrderedDict[str, list[int]] = OrderedDict()

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        try:
            return self._writer.tokens(messages, self._replies)
        except Exception as error:
            raise AssistantError(
                "engine.template", f"The model's chat template refused these messages: {error}.", "Try another model."
            ) from error

    def chat(
        self,
        messages: Sequence[Message],
        options: GenerateOptions,
        cancel: CancelToken,
        show: Callable[[ChatEvent], None],
    ) -> Done:
        prompt = self.prompt(messages)
        self.model.resume()
        take_back = cancel.on_cancel(self.model.stop)
        try:
            done, tokens = generate(self.model, prompt, _with_stops(options, self._stops), cancel, show)
        finally:
            take_back()
        self._remember(done.text, tokens)
        return done

    def _remember(self, text: str, tokens: list[int]) -> None:
        """Keep the reply's tokens, if they spell exactly its text; also as it is without its last white space."""
        for kept in dict.fromkeys((text, text.rstrip())):
            count = _tokens_of(kept.encode("utf-8", "replace"), tokens, self.model.piece)
            if kept and count:
                self._replies[kept] = tokens[:count]
        while len(self._replies) > _REPLIES_KEPT:
            self._replies.popitem(last=False)


def _tokens_of(text: bytes, tokens: Sequence[int], piece: Callable[[int], bytes]) -> int:
    """How many of the tokens spell exactly the text; 0 if none do, or if one of them is a control token."""
    size = 0
    for count, token in enumerate(tokens, 1):
        part = piece(token)
        if not part or text[size : size + len(part)] != part:
            return 0
        size += len(part)
        if size == len(text):
            return count
    return 0


def _with_stops(options: GenerateOptions, stops: tuple[str, ...]) -> GenerateOptions:
    values: Mapping[str, object] = {name: getattr(options, name) for name in GenerateOptions.__slots__}
    return GenerateOptions(**{**values, "stop": (*options.stop, *stops)})  # type: ignore[arg-type] # the same fields


def _plan(path: Path, settings: EngineSettings) -> tuple[LoadPlan, GgufInfo]:
    """How to load the file, after checking that it can be: before llama.cpp is even loaded."""
    info = read_gguf_info(path)
    if not info.vocabulary or not info.window_trained:
        raise AssistantError(
            "model.unsupported",
            f"{path.name} is no chat model ({info.architecture or 'unknown kind'}).",
            "Choose a model that can chat.",
        )
    window = max(1, min(settings.window or info.window_trained, info.window_trained))
    threads = plan_threads(settings, info.size_bytes, usable_cores())
    check_fit(info, info.size_bytes * info.parts, window, threads.step, available_memory())
    return _load_plan(path, window, threads, settings), info


def _load_plan(path: Path, window: int, threads: ThreadPlan, settings: EngineSettings) -> LoadPlan:
    """The plan of a model with these threads; a cache that flash attention alone can use turns it on."""
    attention = settings.flash_attention if settings.kv_type == "f16" else "on"
    return LoadPlan(
        path=path,
        window=window,
        step=threads.step,
        threads=threads.decode,
        threads_read=threads.read,
        gpu_layers=settings.gpu_layers,
        flash_attention=attention,
        kv_type=settings.kv_type,
        mmap=settings.mmap,
        mlock=settings.mlock,
        give_way=settings.give_way,
        draft=settings.draft,
    )


def _load(
    library: Library, planned: tuple[LoadPlan, GgufInfo], cancel: CancelToken, progress: Callable[[float], None]
) -> _Loaded:
    plan, facts = planned

    def on_progress(fraction: float) -> bool:
        progress(fraction)
        return not cancel.cancelled

    model = LlamaModel(library, plan, on_progress)
    control, bos = model.control_texts(), model.bos()
    template = choose_template(facts.template, bos[1], model.eos_text(), control)
    writer = PromptWriter(template, model.tokenise, control, bos)
    _log.info(
        "loaded %s: %d threads, %d to read, steps of %d", plan.path.name, plan.threads, plan.threads_read, plan.step
    )
    info = _model_info(plan.path, facts, model.window, template.name)
    return _Loaded(model, writer, template.stops, info)


def _model_info(path: Path, info: GgufInfo, window: int, template: str) -> ModelInfo:
    return ModelInfo(
        name=path.stem,
        path=path,
        architecture=info.architecture,
        quantisation=info.quantisation,
        size_bytes=info.size_bytes,
        window=window,
        window_trained=info.window_trained,
        template=template,
        licence=info.licence,
    )
