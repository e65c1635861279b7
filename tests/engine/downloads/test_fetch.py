"""A download from a hub on loopback that does everything wrong which hubs and networks do."""

from __future__ import annotations

import contextlib
import errno
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.engine.downloads.fetch import CHECKING, READING, WAITING, Fetched, Fetcher, Order
from assistant.engine.downloads.part import PartFile, PartState, discard_part, parts_in
from assistant.engine.downloads.web import Patience, WebClient
from tests.engine.downloads.hub import DIGEST, MODEL, Hub, serve_hub

QUICK = Patience(connect=5, read=5, tries=3, pause=0.0)
PLENTY = 10**12


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serve_hub() as served:
        yield served


@pytest.fixture
def order(hub: Hub, tmp_path: Path) -> Order:
    page = f"{hub.url}/maker/model"
    return Order("m", f"{page}/resolve/main/m.gguf", page, tmp_path / "models" / "m.gguf", len(MODEL), DIGEST)


class Told:
    """Takes progress; ``at``: cancels when so many bytes are there."""

    def __init__(self, cancel: CancelToken | None = None, at: int = PLENTY) -> None:
        self.cancel, self.at = cancel, at
        self.seen: list[tuple[int, int, str]] = []

    def __call__(self, done: int, total: int, what: str) -> None:
        self.seen.append((done, total, what))
        if self.cancel and done >= self.at:
            self.cancel.cancel()


def fetch(order: Order, patience: Patience = QUICK, token: str = "", free: int = PLENTY) -> Fetched:
    fetcher = Fetcher(order, WebClient(patience=patience), token, lambda _: free)
    return fetcher.run(CancelToken(), Told())


def fails(order: Order, patience: Patience = QUICK, token: str = "", free: int = PLENTY) -> AssistantError:
    with pytest.raises(AssistantError) as caught:
        fetch(order, patience, token, free)
    assert caught.value.message and caught.value.hint
    assert not order.target.exists()
    return caught.value


def part_of(order: Order) -> Path:
    return order.target.with_name("m.gguf.part")


def names(order: Order) -> list[str]:
    return sorted(path.name for path in order.target.parent.iterdir())


def test_a_whole_file_is_there_checked_and_alone(order: Order) -> None:
    told = Told()
    fetched = Fetcher(order, WebClient(patience=QUICK)).run(CancelToken(), told)
    assert fetched == Fetched(order.target, len(MODEL), DIGEST, "catalogue")
    assert order.target.read_bytes() == MODEL
    assert names(order) == ["m.gguf"]
    assert order.target.stat().st_mode & 0o777 == 0o600
    assert told.seen[-1] == (len(MODEL), len(MODEL), CHECKING)
    assert all(what == READING for _, _, what in told.seen[:-1])


def test_a_file_that_is_there_is_not_fetched_over(order: Order, hub: Hub) -> None:
    fetch(order)
    with pytest.raises(AssistantError) as caught:
        fetch(order)
    assert caught.value.code == "download.there" and len(hub.asked) == 1


def test_cuts_are_resumed_where_they_happened(order: Order, hub: Hub) -> None:
    hub.cut_after = 30_000
    fetch(order)
    assert order.target.read_bytes() == MODEL
    assert hub.ranges_asked() == ["", "bytes=30000-", "bytes=60000-"]
    assert [one.headers.get("if-range", "") for one in hub.asked] == ["", '"v1"', '"v1"']


def test_a_server_that_only_cuts_is_given_up_and_what_came_is_kept_for_the_next_run(order: Order, hub: Hub) -> None:
    hub.cut_after = 30_000
    hub.ranges = False
    assert fails(order).code == "download.cut"
    hub.ranges, hub.cut_after = True, None
    hub.asked.clear()
    fetch(order)
    assert hub.ranges_asked() == ["bytes=30000-"]
    assert order.target.read_bytes() == MODEL


def test_a_server_without_ranges_begins_anew(order: Order, hub: Hub) -> None:
    hub.cut_after = 40_000
    fails(order, Patience(tries=1, pause=0.0))
    hub.ranges, hub.cut_after = False, None
    fetch(order)
    assert order.target.read_bytes() == MODEL


def test_another_version_of_the_file_is_not_joined_to_the_first(order: Order, hub: Hub) -> None:
    hub.cut_after = 40_000
    fails(order, Patience(tries=1, pause=0.0))
    old = MODEL[:40_000]
    assert part_of(order).read_bytes() == old
    hub.etag, hub.cut_after = '"v2"', None
    fetch(order)
    assert order.target.read_bytes() == MODEL


def test_bytes_that_were_changed_between_two_runs_are_found_out(order: Order, hub: Hub) -> None:
    hub.cut_after = 40_000
    fails(order, Patience(tries=1, pause=0.0))
    part_of(order).write_bytes(bytes(40_000))
    hub.cut_after = None
    assert fails(order).code == "download.wrong_bytes"
    assert names(order) == []


def test_wrong_bytes_are_not_kept(order: Order, hub: Hub) -> None:
    hub.data = MODEL[:-1] + b"\1"
    assert fails(order).code == "download.wrong_bytes"
    assert names(order) == []


@pytest.mark.parametrize("length", [str(len(MODEL) - 100), str(len(MODEL) + 100), "5"])
def test_a_length_that_is_not_the_published_one_is_refused_at_once(order: Order, hub: Hub, length: str) -> None:
    hub.length = length
    error = fails(order)
    assert error.code == "download.size" and str(len(MODEL)) in error.message
    assert len(hub.asked) == 1


def test_of_several_lengths_the_wrong_one_is_named(order: Order, hub: Hub) -> None:
    hub.extra = {"X-Linked-Size": "5"}
    error = fails(order)
    assert error.code == "download.size"
    assert f"a file of 5 bytes; it should have {len(MODEL)}" in error.message


def test_a_missing_length_is_no_harm_where_the_size_is_known(order: Order, hub: Hub) -> None:
    hub.length = ""
    fetch(order)
    assert order.target.read_bytes() == MODEL


def test_a_missing_length_is_refused_where_nobody_knows_the_size(order: Order, hub: Hub) -> None:
    hub.length = ""
    unknown = Order(order.name, order.url, order.page, order.target, sha256=DIGEST)
    assert fails(unknown).code == "download.no_size"


def test_an_endless_body_is_read_to_the_size_and_no_further(order: Order, hub: Hub) -> None:
    hub.length, hub.endless = "", True
    fetch(order)
    assert order.target.read_bytes() == MODEL


def test_a_web_page_in_the_place_of_the_file_is_recognised(order: Order, hub: Hub) -> None:
    hub.kind = "text/html; charset=utf-8"
    assert fails(order).code == "download.page"
    hub.kind, hub.data = "application/octet-stream", b"<html>log in</html>".ljust(len(MODEL))
    assert fails(order).code == "download.page"


def test_the_hubs_own_hash_stands_in_where_the_catalogue_has_none(order: Order, hub: Hub) -> None:
    unknown = Order(order.name, order.url, order.page, order.target)
    assert fails(unknown).code == "download.no_hash"
    hub.linked = DIGEST
    assert fetch(unknown).checked == "hub"
    order.target.unlink()
    hub.linked = "0" * 64
    assert fails(unknown).code == "download.wrong_bytes"


def test_a_hub_whose_hash_is_not_the_catalogues_is_refused_before_it_is_read(order: Order, hub: Hub) -> None:
    hub.linked = "0" * 64
    assert fails(order).code == "download.changed"


def test_a_redirect_to_another_host_gets_no_token(order: Order, hub: Hub) -> None:
    with serve_hub() as other:
        hub.status, hub.extra = 302, {"Location": f"{other.url}/cdn/file", "X-Linked-ETag": f'"{DIGEST}"'}
        fetch(Order(order.name, order.url, order.page, order.target, len(MODEL)), token="hf_secret")
    assert hub.asked[0].headers["authorization"] == "Bearer hf_secret"
    assert "authorization" not in other.asked[0].headers
    assert order.target.read_bytes() == MODEL


def test_what_is_cut_behind_a_redirect_goes_on_there(order: Order, hub: Hub) -> None:
    with serve_hub() as other:
        other.cut_after = 30_000
        hub.status, hub.extra = 302, {"Location": f"{other.url}/cdn/file?signed=1"}
        fetch(order, token="hf_secret")
        assert other.ranges_asked() == ["", "bytes=30000-", "bytes=60000-"]
        assert all("authorization" not in one.headers for one in other.asked)


def test_another_hosts_word_for_the_hash_does_not_count(order: Order, hub: Hub) -> None:
    with serve_hub() as other:
        other.linked = DIGEST
        hub.status, hub.extra = 302, {"Location": f"{other.url}/cdn/file"}
        assert fails(Order(order.name, order.url, order.page, order.target, len(MODEL))).code == "download.no_hash"


def test_redirects_in_a_circle_and_to_nowhere_end(order: Order, hub: Hub) -> None:
    hub.status, hub.extra = 302, {"Location": order.url}
    assert fails(order).code == "download.redirects"
    hub.extra = {"Location": "file:///etc/passwd"}
    assert fails(order).code == "download.host"
    hub.extra = {}
    assert fails(order).code == "download.insecure_redirect"


def test_a_connection_that_is_not_secure_is_not_used(order: Order, hub: Hub) -> None:
    secure = order.url.replace("http://", "https://")
    assert fails(Order("m", secure, order.page, order.target, len(MODEL), DIGEST)).code == "download.insecure"
    assert hub.asked == []


def test_a_host_that_is_not_there_is_told(order: Order) -> None:
    with serve_hub() as gone:
        url = gone.url
    assert fails(Order("m", f"{url}/x", order.page, order.target, len(MODEL), DIGEST)).code == "download.unreachable"


@pytest.mark.parametrize(
    ("status", "token", "code", "word"),
    [
        (401, "", "download.gated", "access token"),
        (403, "hf_x", "download.gated", "Accept its licence"),
        (404, "", "download.not_found", "maker/model"),
        (418, "", "download.refused", "later"),
    ],
)
def test_a_refusal_says_what_to_do(order: Order, hub: Hub, status: int, token: str, code: str, word: str) -> None:
    hub.status = status
    error = fails(order, token=token)
    assert error.code == code and word in error.hint
    assert len(hub.asked) == 1


def test_what_never_began_leaves_no_empty_file(order: Order, hub: Hub) -> None:
    hub.status = 404
    fails(order)
    assert names(order) == []


@pytest.mark.parametrize(("status", "code"), [(429, "download.busy_host"), (500, "download.host_failed")])
def test_a_server_in_trouble_is_asked_again_and_then_given_up(order: Order, hub: Hub, status: int, code: str) -> None:
    hub.status, hub.statuses = status, 2
    fetch(order)
    assert len(hub.asked) == 3
    order.target.unlink()
    hub.statuses = PLENTY
    assert fails(order).code == code
    assert len(hub.asked) == 6


def test_a_server_that_asks_for_an_hour_is_not_waited_for(order: Order, hub: Hub) -> None:
    hub.status, hub.extra = 429, {"Retry-After": "3600"}
    assert fails(order).code == "download.busy_host"
    assert len(hub.asked) == 1


def test_while_it_waits_it_can_be_stopped(order: Order, hub: Hub) -> None:
    hub.status, hub.extra = 503, {"Retry-After": "60"}
    cancel = CancelToken()
    told = Told(cancel, 0)
    with pytest.raises(Cancelled):
        Fetcher(order, WebClient(patience=QUICK)).run(cancel, told)
    assert told.seen == [(0, len(MODEL), WAITING)]


def test_a_server_that_falls_silent_is_not_waited_for(order: Order, hub: Hub) -> None:
    hub.slow = True
    assert fails(order, Patience(read=0.5, tries=1)).code in ("download.cut", "download.unreachable")


def test_a_trickle_counts_as_a_cut(order: Order, hub: Hub) -> None:
    assert fails(order, Patience(tries=1, stall_seconds=0.0, stall_bytes=PLENTY)).code == "download.slow"
    assert part_of(order).stat().st_size > 0
    fetch(order)
    assert order.target.read_bytes() == MODEL


def test_stopping_wakes_a_read_that_waits_and_keeps_what_came(order: Order, hub: Hub) -> None:
    hub.slow = True
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        Fetcher(order, WebClient(patience=Patience(read=600))).run(cancel, Told(cancel, 8))
    assert part_of(order).read_bytes() == MODEL[:8]
    hub.slow = False
    fetch(order)
    assert hub.ranges_asked() == ["", "bytes=8-"]


def test_too_little_room_is_told_before_and_while_it_reads(
    order: Order, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = fails(order, free=1_000_000)
    assert error.code == "download.no_room" and "0.0 GB free" in error.message
    monkeypatch.setattr("assistant.engine.downloads.fetch._LOOK_EVERY", 1000)
    left = iter([PLENTY, 10])
    with pytest.raises(AssistantError) as caught:
        Fetcher(order, WebClient(patience=QUICK), free=lambda _: next(left)).run(CancelToken(), Told())
    assert caught.value.code == "download.no_room"
    assert part_of(order).stat().st_size > 0


def test_a_disk_that_is_full_after_all_is_told(order: Order, hub: Hub) -> None:
    order.target.parent.mkdir()
    part_of(order).symlink_to("/dev/full")
    error = fails(order)
    assert error.code == "download.disk_full" and "is kept" in error.message


def test_one_file_is_fetched_by_one_process_at_a_time(order: Order) -> None:
    with PartFile(order.target, PartState("m", order.url)):
        assert fails(order).code == "download.busy"


def test_no_other_process_slips_in_while_one_ends(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of the lock goes while it is held: whoever held it already then would hold what nobody else sees."""
    unlink, seen = Path.unlink, []

    def looked_at(path: Path, missing_ok: bool = False) -> None:
        if path.name.endswith(".lock"):
            with pytest.raises(AssistantError) as caught, PartFile(order.target, PartState("m", order.url)):
                pass
            seen.append(caught.value.code)
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", looked_at)
    fetch(order)
    assert seen == ["download.busy"]
    assert names(order) == ["m.gguf"]


def test_a_file_that_another_process_has_just_finished_is_not_fetched_again(order: Order, hub: Hub) -> None:
    enter = PartFile.__enter__

    def late(part: PartFile) -> PartFile:
        entered = enter(part)
        order.target.write_bytes(MODEL)
        return entered

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PartFile, "__enter__", late)
        with pytest.raises(AssistantError) as caught:
            fetch(order)
    assert (caught.value.code, hub.asked) == ("download.there", [])


def test_a_drive_that_is_pulled_out_is_told(order: Order) -> None:
    def gone(_folder: Path) -> int:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    with pytest.raises(AssistantError) as caught:
        Fetcher(order, WebClient(patience=QUICK), free=gone).run(CancelToken(), Told())
    assert caught.value.code == "download.write"


def test_a_part_that_cannot_be_deleted_is_told(order: Order, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.cut_after = 40_000
    fails(order, Patience(tries=1, pause=0.0))
    unlink = Path.unlink

    def refused(path: Path, missing_ok: bool = False) -> None:
        if path.suffix == ".part":
            raise PermissionError(errno.EACCES, "Permission denied")
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(AssistantError) as caught:
        discard_part(order.target)
    assert caught.value.code == "download.write"


@pytest.mark.parametrize("etag", ["a\nb", "é\U0001f40c", 'W/"v1"'])
def test_an_etag_that_is_no_header_is_not_sent(order: Order, hub: Hub, etag: str) -> None:
    hub.cut_after = 40_000
    fails(order, Patience(tries=1, pause=0.0))
    state = order.target.with_name("m.gguf.part.json")
    state.write_text(json.dumps({**json.loads(state.read_text()), "etag": etag}))
    hub.cut_after = None
    fetch(order)
    assert order.target.read_bytes() == MODEL


def test_what_is_unfinished_is_known_and_can_be_thrown_away(order: Order, hub: Hub) -> None:
    folder = order.target.parent
    assert parts_in(folder) == []
    hub.cut_after = 40_000
    fails(order, Patience(tries=1, pause=0.0))
    ((target, state, size),) = parts_in(folder)
    assert (target, state.name, state.size, size) == (order.target, "m", len(MODEL), 40_000)
    discard_part(target)
    assert names(order) == []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", json.dumps({"name": 1, "url": "", "etag": "", "sha256": "", "size": 0})]
)
def test_a_part_that_nobody_knows_is_begun_anew(order: Order, hub: Hub, text: str) -> None:
    order.target.parent.mkdir()
    part_of(order).write_bytes(b"x" * 100)
    order.target.with_name("m.gguf.part.json").write_text(text)
    fetch(order)
    assert hub.ranges_asked() == [""]
    assert order.target.read_bytes() == MODEL


FAULT_NAMES = ("cut_after", "status", "length", "ranges", "etag", "data", "kind", "linked")
FAULTS = st.fixed_dictionaries(
    {},
    optional={
        "cut_after": st.none() | st.integers(0, len(MODEL)),
        "status": st.sampled_from([0, 0, 0, 403, 404, 416, 429, 500]),
        "length": st.none() | st.sampled_from(["", "5", str(len(MODEL)), str(2 * len(MODEL))]),
        "ranges": st.booleans(),
        "etag": st.sampled_from(['"v1"', '"v2"', 'W/"v1"', ""]),
        "data": st.sampled_from([MODEL, MODEL, MODEL[:-1] + b"\1", MODEL[:50_000], b"<html>", b""]),
        "kind": st.sampled_from(["", "text/html", "application/octet-stream"]),
        "linked": st.sampled_from(["", DIGEST, "0" * 64]),
    },
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(FAULTS, max_size=4), min_size=1, max_size=3), st.booleans())
def test_whatever_goes_wrong_there_is_the_right_file_or_none(
    tmp_path: Path, runs: list[list[dict[str, object]]], known: bool
) -> None:
    """Several runs, each with a server that changes its mind; then one with a server that behaves."""
    target = Path(tempfile.mkdtemp(dir=tmp_path)) / "m.gguf"
    with serve_hub() as hub:
        size, digest = (len(MODEL), DIGEST) if known else (0, "")
        order = Order("m", f"{hub.url}/m.gguf", hub.url, target, size, digest)
        for script in runs:
            hub.script = [dict(step) for step in script]
            with contextlib.suppress(AssistantError):
                fetch(order)
            assert not target.exists() or target.read_bytes() == MODEL
        good = Hub(linked=DIGEST)
        hub.script = [{name: getattr(good, name) for name in (*FAULT_NAMES, "statuses")}]
        if not target.exists():
            fetch(order)
        assert target.read_bytes() == MODEL
        assert [path.name for path in target.parent.iterdir()] == ["m.gguf"]
