"""The server's own tokenizer, over the wire."""

import pytest
from stub_server import Reply, StubServer, error, pieces, render

from evals import tokens
from evals.client import Endpoint
from evals.errors import NoTokenCount
from evals.records import JsonDict, Message
from evals.tokens import TokenCounter

ASKED = (Message(role="system", content="Be brief."), Message(role="user", content="你好, world"))


def counter(stub: StubServer, settings: JsonDict | None = None, model: str = "stub") -> TokenCounter:
    return TokenCounter(Endpoint(url=stub.url, model=model, api_key="k"), settings or {})


def test_a_prompt_is_counted_as_the_server_renders_it() -> None:
    with StubServer() as stub:
        stub.max_model_len = 40960
        count = counter(stub)
        assert count.max_model_len is None
        got = count(ASKED)
    (sent,) = stub.tokenized
    assert sent == {
        "model": "stub",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "你好, world"}],
        "add_generation_prompt": True,
    }
    assert got == len(pieces(render(sent))) > 10
    assert count.max_model_len == 40960


def test_the_template_sees_what_it_will_see_of_the_arms_requests() -> None:
    settings = {"temperature": 0.0, "chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "low"}
    with StubServer() as stub:
        longer, plain = counter(stub, settings)(ASKED), counter(stub)(ASKED)
    assert stub.tokenized[0]["chat_template_kwargs"] == {"enable_thinking": False, "reasoning_effort": "low"}
    assert "temperature" not in stub.tokenized[0]
    assert longer > plain


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (Reply(status=404, payload={"detail": "Not Found"}), "HTTP 404.*needles need the endpoint of vLLM itself"),
        (error(400, "This model's maximum context length is 32 tokens."), "HTTP 400: .*maximum context length"),
        (Reply(text="<html>\n<p>a gateway's page</p>"), "tokenize: "),
        (Reply(payload={"tokens": [1, 2]}), 'no count in its answer: {"tokens"'),
        (Reply(payload={"count": True}), "no count"),
        (Reply(payload={"count": 0}), "no count"),
        (Reply(payload=[3]), "no count"),
        (Reply(fault="reset"), "tokenize: "),
    ],
)
def test_an_answer_without_a_count_is_one_line(page: Reply, said: str) -> None:
    with StubServer() as stub:
        stub.pages["/tokenize"] = page
        with pytest.raises(NoTokenCount, match=said) as raised:
            counter(stub)(ASKED)
    assert stub.url in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_server_that_is_gone_or_hangs_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "TIMEOUT_S", 0.2)
    with StubServer() as stub:
        stub.pages["/tokenize"] = Reply(fault="hang")
        with pytest.raises(NoTokenCount, match="no answer in 0 s"):
            counter(stub)(ASKED)
        stub.close()
        with pytest.raises(NoTokenCount, match="tokenize: "):
            counter(stub)(ASKED)


def test_another_model_is_told() -> None:
    with StubServer() as stub, pytest.raises(NoTokenCount, match="HTTP 404"):
        counter(stub, model="other")(ASKED)
