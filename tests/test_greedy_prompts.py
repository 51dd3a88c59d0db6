"""The shipped greedy prompts: complete, distinct, long enough to part."""

import json
import re
from collections import Counter
from importlib.resources import files

from tasks.base import Message
from tasks.extract import is_degenerate
from tasks.greedy import prompts


def length_words(text: str) -> int:
    """Words of spaced scripts plus Chinese characters."""
    return len(re.findall(r"[一-鿿]|[^\W一-鿿]+", text))


def test_thirty_six_prompts_of_five_kinds() -> None:
    kinds = Counter(sample.id.rpartition("-")[0] for sample in prompts())
    assert kinds == {"code": 8, "en": 8, "zh": 8, "structured": 6, "long": 6}


def test_ids_are_numbered_within_their_kind() -> None:
    entries = [json.loads(line) for line in files("tasks").joinpath("greedy_prompts.jsonl").read_text("utf-8").splitlines()]
    seen: Counter[str] = Counter()
    for entry in entries:
        assert set(entry) == {"id", "kind", "prompt"}
        seen[entry["kind"]] += 1
        assert entry["id"] == f"{entry['kind']}-{seen[entry['kind']]:02d}"


def test_each_is_one_user_message_with_nothing_to_mark() -> None:
    for sample in prompts():
        (message,) = sample.messages
        assert message == Message(role="user", content=message.content.strip())
        assert message.content
        assert sample.target == ""


def test_no_prompt_is_asked_twice() -> None:
    contents = [sample.messages[0].content for sample in prompts()]
    assert len(set(contents)) == len(contents)


def test_long_prompts_carry_a_context_and_the_others_do_not() -> None:
    for sample in prompts():
        words = length_words(sample.messages[0].content)
        if sample.id.startswith("long-"):
            assert 300 <= words <= 1300, (sample.id, words)
        else:
            assert words <= 150, (sample.id, words)


def test_chinese_prompts_are_chinese() -> None:
    for sample in prompts():
        if sample.id.startswith("zh-"):
            content = sample.messages[0].content
            assert len(re.findall(r"[一-鿿]", content)) > len(content) / 2


def test_ordinary_prose_is_not_taken_for_a_loop() -> None:
    for sample in prompts():
        for cut in (False, True):
            assert not is_degenerate(sample.messages[0].content, cut=cut), sample.id


def test_every_call_gives_the_same_prompts() -> None:
    assert prompts() == prompts()
