"""What need not be read again, told with a model whose state is its tokens."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.cancel import CancelToken
from assistant.core.errors import Cancelled
from assistant.engine.llama import common_length
from assistant.engine.prompt_cache import PromptCache
from assistant.engine.snapshot_file import Identity
from assistant.engine.snapshots import Place, drop_all, left_in

CHAT, OTHER, SUMMARY = range(500), range(10_000, 10_400), range(20_000, 20_300)


class TokenModel:
    """Its state is its tokens; a state that is given for other tokens fails the test."""

    def __init__(self, keeps_part: bool = True) -> None:
        self.cached: list[int] = []
        self.keeps_part = keeps_part
        self.refuses = False

    def keep_first(self, count: int) -> int:
        kept = count if self.keeps_part or count == len(self.cached) else 0
        del self.cached[kept:]
        return kept

    def take_state(self) -> memoryview:
        return memoryview(bytearray(array("i", self.cached).tobytes())).cast("B")

    def put_state(self, state: bytearray | memoryview, tokens: Sequence[int]) -> bool:
        self.cached = []
        if self.refuses:
            return False
        assert array("i", tokens).tobytes() == bytes(state)
        self.cached = list(tokens)
        return True

    def read(self, tokens: Sequence[int]) -> int:
        """How many of the tokens had to be read."""
        kept = self.keep_first(min(common_length(self.cached, tokens), len(tokens) - 1))
        self.cached += tokens[kept:]
        return len(tokens) - kept


class Reader:
    def __init__(
        self, folder: Path | None = None, free: int | None = None, keeps_part: bool = True, limit: int = 10**9
    ) -> None:
        self.model = TokenModel(keeps_part)
        self.cache = PromptCache(self.model, Identity("model", "settings"), lambda: free)
        self.place = Place(folder, limit) if folder else None
        self.cache.keep_at(self.place)

    def read(self, conversation: str, *parts: Sequence[int], cancel: CancelToken | None = None) -> int:
        tokens = [token for part in parts for token in part]
        self.cache.keep_at(self.place)
        self.cache.prepare(tokens, conversation, cancel or CancelToken())
        return self.model.read(tokens)

    def keep(self, *conversations: str, row: Sequence[int] = ()) -> None:
        self.cache.keep_at(self.place)
        self.cache.keep(conversations, {}, row, CancelToken())


def test_a_prompt_that_stands_alone_costs_the_chat_nothing() -> None:
    reader = Reader()
    assert reader.read("chat", CHAT) == 500
    assert reader.read("", SUMMARY) == 300
    assert reader.read("", SUMMARY, range(9)) == 9
    assert reader.read("chat", CHAT, range(900, 950)) == 50


def test_two_chats_in_turn_read_only_what_is_new() -> None:
    reader = Reader()
    reader.read("one", CHAT)
    reader.read("two", OTHER)
    for turn in range(1, 4):
        assert reader.read("one", CHAT, range(900, 900 + turn)) == 1
        assert reader.read("two", OTHER, range(900, 900 + turn)) == 1


def test_a_chat_that_begins_like_another_reads_only_the_rest() -> None:
    reader = Reader()
    reader.read("one", CHAT, range(900, 1300))
    assert reader.read("two", CHAT, range(2000, 2010)) == 10
    assert reader.read("one", CHAT, range(900, 1300), [1]) == 1


@pytest.mark.parametrize("conversation", ["", "two"])
def test_what_begins_like_a_chat_that_was_set_aside_costs_that_chat_nothing(conversation: str) -> None:
    reader = Reader()
    reader.read("one", CHAT, range(900, 1000))
    reader.read("", SUMMARY)
    assert reader.read(conversation, CHAT, range(2000, 2010)) == 10
    assert reader.read("one", CHAT, range(900, 1000), [1]) == 1


def test_of_a_model_that_keeps_no_part_a_whole_state_serves_again() -> None:
    reader = Reader(keeps_part=False)
    reader.read("one", CHAT)
    for turn in range(3):
        reader.read("", SUMMARY)
        assert reader.read("one", CHAT, [turn]) == 1  # the reply is given anew


def test_a_branch_keeps_what_is_common_and_the_other_comes_back() -> None:
    reader = Reader()
    reader.read("chat", CHAT, range(900, 1300))
    assert reader.read("chat", CHAT, range(2000, 2300)) == 300
    assert reader.read("chat", CHAT, range(900, 1300), [1]) == 1
    assert reader.read("chat", CHAT, range(2000, 2300), [2]) == 1


def test_a_short_reply_that_is_given_again_is_no_branch_to_keep() -> None:
    reader = Reader()
    reader.read("chat", CHAT, range(900, 950))
    assert reader.read("chat", CHAT, range(2000, 2010)) == 10
    assert reader.read("chat", CHAT, range(900, 950)) == 50


def test_without_free_memory_nothing_is_held() -> None:
    reader = Reader(free=4000)
    reader.read("chat", CHAT)
    reader.read("", SUMMARY)
    assert reader.read("chat", CHAT) == 500


def test_a_restart_reads_only_what_is_new_with_any_chat(tmp_path: Path) -> None:
    before = Reader(tmp_path)
    before.read("one", CHAT)
    before.read("two", OTHER)
    before.keep("one", "two")
    after = Reader(tmp_path)
    assert after.read("one", CHAT, range(900, 903)) == 3
    assert after.read("two", OTHER, range(900, 905)) == 5
    assert after.read("one", CHAT, range(900, 904)) == 1


def test_a_stop_while_a_state_is_fetched_costs_nothing(tmp_path: Path) -> None:
    before, cancel = Reader(tmp_path), CancelToken()
    before.read("one", CHAT)
    before.keep("one")
    after = Reader(tmp_path)
    after.read("two", OTHER)
    cancel.cancel()
    with pytest.raises(Cancelled):
        after.read("one", CHAT, [1], cancel=cancel)
    assert after.read("two", OTHER, [1]) == 1
    assert after.read("one", CHAT, [1]) == 1


def test_only_what_was_named_is_written_and_the_rest_stays_in_memory(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.read("private", OTHER)
    reader.read("chat", CHAT)
    reader.keep("chat")
    assert len(left_in(tmp_path)) == 1
    assert reader.read("private", OTHER, [1]) == 1
    assert Reader(tmp_path).read("private", OTHER, [1]) == 401


def test_with_a_chat_on_disk_no_second_copy_is_held(tmp_path: Path) -> None:
    reader = Reader(tmp_path, free=0)
    reader.read("chat", CHAT)
    reader.keep("chat")
    reader.read("", SUMMARY)
    assert reader.read("chat", CHAT, [1]) == 1


def test_a_new_chat_after_a_restart_begins_with_the_row(tmp_path: Path) -> None:
    before = Reader(tmp_path)
    before.read("one", CHAT)
    before.keep("one", row=range(300))
    assert before.model.cached == list(CHAT)
    assert len(left_in(tmp_path)) == 2
    for path in left_in(tmp_path):
        if len(path.read_bytes()) > 4 * 500 * 2:  # the chat's own goes, as when the chat is deleted
            path.unlink()
    assert Reader(tmp_path).read("two", range(300), range(900, 910)) == 10


def test_a_state_that_the_library_refuses_is_deleted_and_read(tmp_path: Path) -> None:
    before = Reader(tmp_path)
    before.read("one", CHAT)
    before.keep("one")
    after = Reader(tmp_path)
    after.model.refuses = True
    assert after.read("one", CHAT, [1]) == 501
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("folder", [".", "not there yet"])
def test_what_was_forgotten_never_comes_back(tmp_path: Path, folder: str) -> None:
    reader = Reader(tmp_path / folder)
    reader.read("two", OTHER)
    reader.read("one", CHAT)
    drop_all(tmp_path / folder)
    reader.keep("one", "two")
    assert left_in(tmp_path / folder) == []
    assert reader.model.cached == []
    assert reader.read("two", OTHER, [1]) == 401
    reader.keep("two")
    assert len(left_in(tmp_path / folder)) == 1


def test_another_assistants_chats_are_never_written_into_this_ones_folder(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "one")
    reader.read("chat", OTHER)
    reader.read("other chat", CHAT)
    reader.place = Place(tmp_path / "two", 10**9)
    reader.keep("chat", "other chat")
    assert not (tmp_path / "two").exists()


def test_snapshots_that_are_not_wanted_are_neither_read_nor_written(tmp_path: Path) -> None:
    before = Reader(tmp_path)
    before.read("one", CHAT)
    before.keep("one")
    off = Reader()
    assert off.read("one", CHAT, [1]) == 501
    off.keep("one")
    assert len(left_in(tmp_path)) == 1


def test_a_model_that_keeps_no_part_goes_on_from_whole_states(tmp_path: Path) -> None:
    reader = Reader(tmp_path, keeps_part=False)
    reader.read("one", CHAT)
    reader.keep("one", row=range(300))
    reader.read("two", OTHER)
    assert reader.read("one", CHAT, [1]) == 1
    assert reader.read("one", CHAT, [2]) == 1  # the state after turn 1 is on disk
    assert reader.read("one", range(499), [2]) == 500


PROMPTS = st.lists(
    st.tuples(
        st.sampled_from(["", "one", "two"]),
        st.lists(st.sampled_from([range(300), range(1000, 1100), range(2000, 2300), [7]]), min_size=1, max_size=4),
        st.booleans(),
    ),
    max_size=12,
)


@given(prompts=PROMPTS, keeps_part=st.booleans(), on_disk=st.booleans(), free=st.sampled_from([None, 0, 9000]))
def test_whatever_is_asked_in_whatever_order_the_cache_is_the_prompt(
    tmp_path_factory: pytest.TempPathFactory,
    prompts: list[tuple[str, list[Sequence[int]], bool]],
    keeps_part: bool,
    on_disk: bool,
    free: int | None,
) -> None:
    folder = tmp_path_factory.mktemp("snapshots") if on_disk else None
    reader = Reader(folder, free, keeps_part)
    for conversation, parts, keep in prompts:
        tokens = [token for part in parts for token in part]
        read = reader.read(conversation, *parts)
        assert reader.model.cached == tokens
        assert 1 <= read <= len(tokens)
        if keep:
            reader.keep("one", "two")
            assert reader.model.cached == tokens
