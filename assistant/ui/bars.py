"""The bar above the chat (title, context window, model, memory) and the status line below."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QSizePolicy, QWidget

from assistant.core.errors import AssistantError
from assistant.core.values import ModelInfo
from assistant.ui.chat.kinds import PrivateMark
from assistant.ui.i18n import tr, translate_message
from assistant.ui.icons import paint_icon
from assistant.ui.server_mark import ServerMark, goes_out
from assistant.ui.theme import Theme
from assistant.ui.widgets import ElidedLabel, IconButton, button, label, restyle, spread
from assistant.ui.window_gauge import WindowGauge


class ModelState(StrEnum):
    """What the model button shows."""

    NONE = "none"
    LOADING = "loading"
    READY = "ready"
    RESTING = "resting"
    FAILED = "failed"


class TopBar(QWidget):
    """Above the chat."""

    sidebar_asked = Signal()
    memory_asked = Signal()
    models_asked = Signal()
    server_asked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("topbar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(48)
        self._theme = theme
        self._state, self._words = ModelState.NONE, ""
        self.sidebar = IconButton(theme, "sidebar", tr("Show or hide the chats (Ctrl+B)"), 20)
        self.title = ElidedLabel(role="title")
        self.private = PrivateMark(theme)
        self.gauge = WindowGauge(theme)
        self.server = ServerMark(theme)
        self.model = button("", "chip", self.models_asked.emit)
        self.model.setIconSize(QSize(10, 10))
        self.memory = IconButton(theme, "memory", tr("Memory (Ctrl+M)"), 20)
        self.memory.setCheckable(True)
        self._lay_out()
        self.server.clicked.connect(lambda: self.server_asked.emit())
        self.sidebar.clicked.connect(self.sidebar_asked)
        self.memory.clicked.connect(self.memory_asked)
        theme.changed.connect(self._refresh)
        self.show_no_model()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        spread(row, (12, 0, 12, 0), 8)
        row.addWidget(self.sidebar)
        row.addWidget(self.title, 1)
        row.addWidget(self.private)
        row.addWidget(self.gauge)
        row.addWidget(self.server)
        row.addWidget(self.model)
        row.addWidget(self.memory)

    @property
    def model_state(self) -> ModelState:
        return self._state

    def show_no_model(self) -> None:
        self._show(ModelState.NONE, tr("Choose a model"), tr("No model is loaded"))

    def show_loading(self, name: str, fraction: float) -> None:
        words = tr("Loading {name} · {n} %", name=short_name(name), n=round(100 * fraction))
        self._show(ModelState.LOADING, words, words)

    def show_ready(self, info: ModelInfo) -> None:
        if info.host:
            words = tr("{name} · context window {window} tokens", name=info.name, window=f"{info.window:,}")
            self._show(ModelState.READY, short_name(info.name), words)
            return
        tip = tr(
            "{name} · {quantisation} · {size} · context window {window} tokens",
            name=info.name,
            quantisation=info.quantisation,
            size=size_words(info.size_bytes),
            window=f"{info.window:,}",
        )
        self._show(ModelState.READY, short_name(info.name), tip)

    def show_resting(self, info: ModelInfo) -> None:
        words = tr("{name} · resting", name=short_name(info.name))
        tip = tr("The model was not used for a while and gave its memory back. Your next message wakes it.")
        self._show(ModelState.RESTING, words, tip)

    def show_failed(self, error: AssistantError) -> None:
        words = tr("No model yet") if error.code == "model.none" else tr("The model did not load")
        if error.code.startswith("remote."):
            words = tr("The server does not answer")
        self._show(ModelState.FAILED, words, translate_message(str(error)))

    def _show(self, state: ModelState, words: str, tip: str) -> None:
        self._state, self._words = state, words
        self.model.setToolTip(tip)
        self.model.setAccessibleName(tr("Model: {state}", state=words))
        self._refresh()

    def _refresh(self) -> None:
        colours = self._theme.palette
        colour = {
            ModelState.NONE: colours.border_strong,
            ModelState.RESTING: colours.accent,
            ModelState.LOADING: colours.amber,
            ModelState.READY: colours.accent,
            ModelState.FAILED: colours.red,
        }[self._state]
        self.model.setText(self._words)
        hollow = self._state is ModelState.RESTING
        self.model.setIcon(QIcon(_dot(colour, self.devicePixelRatioF(), hollow)))


class BottomBar(QWidget):
    """Below everything: that nothing leaves this laptop, and what goes on behind."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("bottombar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(28)
        self._theme = theme
        self._jobs: dict[str, tuple[str, int, int]] = {}
        self._lock = QLabel()
        self._icon = "lock"
        self._answers: ModelInfo | None = None
        self._fetches, self._fails = "", False
        self.offline = label(goes_out(None), "small")
        self.notice = ElidedLabel(role="small")
        self.notice.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.progress_words = label("", "small")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(96)
        self.progress.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._forget = QTimer(self)
        self._forget.setSingleShot(True)
        self._forget.timeout.connect(lambda: self.notice.set_text(""))
        self._lay_out()
        theme.changed.connect(self._draw_lock)
        self._draw_lock()
        self._refresh()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        spread(row, (16, 0, 16, 0), 8)
        row.addWidget(self._lock)
        row.addWidget(self.offline)
        row.addWidget(self.notice, 1)
        row.addWidget(self.progress_words)
        row.addWidget(self.progress)

    def show_notice(self, text: str, error: bool = False, seconds: float = 10) -> None:
        """A line that leaves by itself; an error stays longer."""
        restyle(self.notice, "role", "smallred" if error else "small")
        self.notice.set_text(text)
        self._forget.start(int(seconds * (3 if error else 1) * 1000))

    def show_where(self, info: ModelInfo | None, *, fails: bool = False) -> None:
        """Whether anything leaves, and to whom, while this model is in use. fails: a server is set, but fails."""
        self._answers, self._fails = info, fails
        self._show_traffic()

    def show_download(self, host: str) -> None:
        """That something is fetched from a host now; "" when nothing is."""
        self._fetches = host
        self._show_traffic()

    def _show_traffic(self) -> None:
        info, host = self._answers, self._fetches
        words = [] if host and (info is None or not info.host) else [goes_out(info)]
        words = [tr("A server is set, but it gives no answers now")] if self._fails else words
        words += [tr("Downloading from {host}", host=host)] if host else []
        self.offline.setText(" · ".join(words))
        leaves = self._fails or (info is not None and bool(info.host) and not info.here)
        restyle(self.offline, "role", "smallamber" if leaves or host else "small")
        self._icon = "server" if leaves or host else "lock"
        self._draw_lock()

    def show_job(self, name: str, words: str, done: int, total: int) -> None:
        """Progress of something behind; done == total ends it. total 0: not known."""
        if total > 0 and done >= total:
            self._jobs.pop(name, None)
        else:
            self._jobs[name] = (words, done, total)
        self._refresh()

    def end_job(self, name: str) -> None:
        self._jobs.pop(name, None)
        self._refresh()

    def _refresh(self) -> None:
        shown = next(reversed(self._jobs.values()), None)
        self.progress.setVisible(shown is not None)
        self.progress_words.setVisible(shown is not None)
        if shown is None:
            return
        words, done, total = shown
        self.progress_words.setText(words)
        self.progress.setAccessibleName(words)
        self.progress.setRange(0, total)
        self.progress.setValue(done)

    def _colour(self) -> str:
        return self._theme.palette.amber if self._icon == "server" else self._theme.palette.muted

    def _draw_lock(self) -> None:
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap(round(14 * ratio), round(14 * ratio))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        paint_icon(painter, QRectF(0, 0, 14, 14), self._icon, self._colour())
        painter.end()
        self._lock.setPixmap(pixmap)


def short_name(name: str) -> str:
    """A model's name without its file ending, cut in the middle when it is long."""
    bare = name.removesuffix(".gguf")
    return bare if len(bare) <= 32 else f"{bare[:20]}…{bare[-10:]}"


def size_words(size: int) -> str:
    """Bytes as people read them."""
    if size >= 1_000_000_000:
        return f"{size / 1_000_000_000:.1f} GB"
    if size >= 1_000_000:
        return f"{size / 1_000_000:.0f} MB"
    return f"{size / 1_000:.1f} kB" if size >= 1_000 else f"{size} B"


def _dot(colour: str, ratio: float, hollow: bool) -> QPixmap:
    pixmap = QPixmap(round(10 * ratio), round(10 * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(colour), 1.5) if hollow else QPen(Qt.PenStyle.NoPen))
    painter.setBrush(QBrush(Qt.BrushStyle.NoBrush) if hollow else QBrush(QColor(colour)))
    painter.drawEllipse(QRectF(2, 2, 6, 6) if hollow else QRectF(1, 1, 8, 8))
    painter.end()
    return pixmap
