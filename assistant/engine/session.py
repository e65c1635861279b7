"""The model that the worker has loaded, its template, and the replies it gave."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import ChatEvent, Done, EngineSettings, GenerateOptions, Message, ModelInfo, Role, ToolSpec
from assistant.engine.call_grammar import call_grammar
from assistant.engine.fit import available_memory
from assistant.engine.generation import generate
from assistant.engine.gguf import GgufInfo
from assistant.engine.jinja import Extras
from assistant.engine.library import Library, LoadPlan, state_layout
from assistant.engine.llama import LlamaModel, common_length
from assistant.engine.planning import plan_load
from assistant.engine.prompt_cache import PromptCache
from assistant.engine.prompt_writer import PromptWriter
from assistant.engine.protocol import NO_MODEL
from assistant.engine.replies import OwnReplies
from assistant.engine.reply_parts import ReplyShape
from assistant.engine.restored_replies import RestoredReplies
from assistant.engine.snapshot_file import Identity
from assistant.engine.snapshots import Place, model_identity
from assistant.engine.speed import Speed, exact_draft, measure_speed
from assistant.engine.templates import ChatTemplate, choose_template
from assistant.engine.thinking import THOUGHT_MARKS, opens_thought
from assistant.engine.tool_formats import RESULT_MARKS, ToolFormat

_log = logging.getLogger(__name__)
_PROMPT_END = 8  # tokens of a prompt in which the marks of a thought stand that it begins, or leaves empty


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
        planned = plan_load(path, settings, self._free_memory(settings))
        self._library = self._library or Library()
        self._loaded = _load(self._library, planned, cancel, progress)
        return self._loaded.info

    def chat(
        self,
        messages: Sequence[Message],
        options: GenerateOptions,
        cancel: CancelToken,
        show: Callable[[ChatEvent], None],
        place: Place | None = None,
    ) -> Done:
        """One reply. place: of snapshots, for what was read before (None: none are used)."""
        return self._need().chat(messages, options, cancel, show, place)

    def keep(self, conversations: Sequence[str], place: Place | None, cancel: CancelToken) -> None:
        """Write what was read of these conversations to disk, as far as it is still known. Raises Cancelled."""
        if self._loaded:
            self._loaded.keep(conversations, place, cancel)

    def count(self, texts: Sequence[str]) -> list[int]:
        with self._counting:
            loaded = self._need()
            return [len(loaded.model.tokenise(text, False)) for text in texts]

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        with self._counting:
            return len(self._need().prompt(messages, Extras(tuple(tools))))

    def has_gpu(self) -> bool:
        """Whether the library was built with a back end that takes layers off the processor."""
        self._library = self._library or Library()
        return bool(self._library.api.llama_supports_gpu_offload())

    def measure(self, trial: Mapping[str, Any], cancel: CancelToken) -> Speed:
        """How fast the model is with the trial's threads, threads_batch and give_way; the rest as measure_speed."""
        with self._need().stoppable(cancel) as model:
            model.use_threads(trial["threads"], trial["threads_batch"], trial["give_way"])
            chunk = min(trial["chunk"] or model.step, model.step)
            return measure_speed(model, trial["read"], trial["decode"], chunk, trial["seconds"], warm=trial["give_way"])

    def exact_draft(self, trial: Mapping[str, Any], cancel: CancelToken) -> int:
        """As speed.exact_draft, with the trial's threads, threads_batch and give_way."""
        with self._need().stoppable(cancel) as model:
            return exact_draft(model, trial["threads"], trial["threads_batch"], trial["give_way"])

    def unload(self) -> None:
        with self._counting:  # whoever counts now needs the vocabulary until the end
            loaded, self._loaded = self._loaded, None
            if loaded:
                loaded.model.close()

    def _free_memory(self, settings: EngineSettings) -> int | None:
        """Bytes; None where nobody knows, or a graphics card takes a part of the model: what it has is not known."""
        return None if settings.gpu_layers and self.has_gpu() else available_memory()

    def _need(self) -> _Loaded:
        if self._loaded is None:
            raise AssistantError(NO_MODEL, "No model is loaded.", "Choose a model first.")
        return self._loaded


class _Loaded:
    def __init__(
        self, model: LlamaModel, cache: PromptCache, writer: PromptWriter, template: ChatTemplate, info: ModelInfo
    ) -> None:
        self.model = model
        self.info = info
        self._cache = cache
        self._restored = RestoredReplies()
        self._asked: tuple[Sequence[Message], Extras] = ((), Extras())  # what is fixed of the last prompt
        self._writer = writer
        self._template = template
        self._replies = OwnReplies(model.piece, template.tools)

    def prompt(self, messages: Sequence[Message], extras: Extras) -> list[int]:
        try:
            return self._writer.tokens(messages, self._restored.behind(self._replies.known), extras)
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
        place: Place | None,
    ) -> Done:
        self._cache.keep_at(place)
        self._restored.learn(self._cache.snapshots())
        prompt = self.prompt(messages, Extras(options.tools, options.thinking))
        shape = self._shape(prompt, _allowed(options))
        stopping = replace(options, stop=(*options.stop, *self._template.stops))

        with self.stoppable(cancel) as model:
            done, tokens = generate(
                model,
                prompt,
                stopping,
                cancel,
                show,
                shape=shape,
                prepare=lambda tokens: self._cache.prepare(tokens, options.conversation, cancel),
                opening=self._opening(options, shape),
            )
        if options.conversation:  # what stands alone is never told to the model again
            self._replies.add(done, tokens, prompt[-_PROMPT_END:])
            self._asked = (messages[:1], Extras(options.tools, options.thinking))
        return done

    @contextmanager
    def stoppable(self, cancel: CancelToken) -> Iterator[LlamaModel]:
        """The model, whose computing ``cancel`` ends."""
        self.model.resume()
        take_back = cancel.on_cancel(self.model.stop)
        try:
            yield self.model
        finally:
            take_back()

    def keep(self, conversations: Sequence[str], place: Place | None, cancel: CancelToken) -> None:
        """As EngineSession.keep."""
        self._cache.keep_at(place)
        try:
            self._cache.keep(conversations, self._restored.by_digest(self._replies.known), self._row(), cancel)
        except MemoryError:
            _log.warning("there was no memory to keep what was read")

    def _row(self) -> Sequence[int]:
        """What the last conversation's prompt begins with whatever is asked; () where nothing is fixed in it."""
        first, extras = self._asked
        if not first or first[0].role is not Role.SYSTEM:
            return ()
        one, other = (self.prompt([*first, Message(Role.USER, text)], extras) for text in ("a", "1"))
        return one[: common_length(one, other)]

    def _opening(self, options: GenerateOptions, shape: ReplyShape) -> list[int]:
        """The mark of a call, where the reply has to begin with one."""
        form = shape.calls
        return self.model.tokenise(form.opening, True) if options.must and form and not shape.thinking else []

    def _shape(self, prompt: Sequence[int], tools: Sequence[ToolSpec]) -> ReplyShape:
        end = b"".join(map(self.model.piece, prompt[-_PROMPT_END:])).decode("utf-8", "replace")
        calls = self._template.tools if tools else None
        if calls is None:
            return ReplyShape(opens_thought(end))
        return ReplyShape(opens_thought(end), calls, tuple(tool.name for tool in tools), self._grammar(calls, tools))

    def _grammar(self, form: ToolFormat, tools: Sequence[ToolSpec]) -> str:
        try:
            return call_grammar(form, tools)
        except ValueError as error:  # what a tool gets is checked by the tool, too
            _log.warning("%s", error)
            return ""


def _load(
    library: Library, planned: tuple[LoadPlan, GgufInfo], cancel: CancelToken, progress: Callable[[float], None]
) -> _Loaded:
    plan, facts = planned

    def on_progress(fraction: float) -> bool:
        progress(fraction)
        return not cancel.cancelled

    model = LlamaModel(library, plan, on_progress)
    try:
        return _made_ready(model, plan, facts)
    except BaseException:
        model.close()
        raise


def _made_ready(model: LlamaModel, plan: LoadPlan, facts: GgufInfo) -> _Loaded:
    control, bos = model.control_texts(), model.bos()
    template = choose_template(facts.template, bos[1], model.eos_text(), control)
    writer = PromptWriter(template, model.tokenise, control | _marks(model, template, control), bos)
    _log.info(
        "loaded %s: %d threads, %d to read, steps of %d", plan.path.name, plan.threads, plan.threads_read, plan.step
    )
    info = _model_info(plan.path, facts, model.window, template)
    identity = Identity(model_identity(plan.path), state_layout(plan, model.window))
    return _Loaded(model, PromptCache(model, identity, available_memory), writer, template, info)


def _marks(model: LlamaModel, template: ChatTemplate, control: Mapping[str, int]) -> dict[str, int]:
    """The marks of thoughts and calls that are tokens: they show in replies, and nobody else can write them."""
    marks: dict[str, int] = {}
    for mark in (*THOUGHT_MARKS, *(template.tools.marks if template.tools else ()), *RESULT_MARKS):
        tokens = model.tokenise(mark, True)
        if len(tokens) == 1:
            marks[mark] = tokens[0]
            if mark in control:
                model.spell(tokens[0], mark)
    return marks


def _model_info(path: Path, info: GgufInfo, window: int, template: ChatTemplate) -> ModelInfo:
    return ModelInfo(
        name=path.stem,
        path=path,
        architecture=info.architecture,
        quantisation=info.quantisation,
        size_bytes=info.size_bytes,
        window=window,
        window_trained=info.window_trained,
        template=template.name,
        licence=info.licence,
        tools=template.tools is not None,
    )


def _allowed(options: GenerateOptions) -> tuple[ToolSpec, ...]:
    """The tools that this reply may call."""
    return tuple(tool for tool in options.tools if not options.must or tool.name in options.must)
