"""The openai package against a server: sync and async, whole and streamed, log probabilities, n, errors.
Usage: openai_client.py http://127.0.0.1:8000/v1"""
import asyncio
import sys

import openai

MESSAGES = [{"role": "user", "content": "Name a colour."}]


def check_sync(client: openai.OpenAI, model: str) -> None:
    whole = client.chat.completions.create(model=model, messages=MESSAGES, max_tokens=12, temperature=0)
    text = whole.choices[0].message.content
    assert whole.usage.prompt_tokens > 0 and whole.usage.completion_tokens > 0
    streamed, roles, usage = "", 0, None
    for chunk in client.chat.completions.create(model=model, messages=MESSAGES, max_tokens=12, temperature=0,
                                                stream=True, stream_options={"include_usage": True}):
        if not chunk.choices:
            usage = chunk.usage
            continue
        streamed += chunk.choices[0].delta.content or ""
        roles += chunk.choices[0].delta.role is not None
    assert streamed == text and roles == 1 and usage.total_tokens == whole.usage.total_tokens

    many = client.chat.completions.create(model=model, messages=MESSAGES, max_tokens=8, n=3, seed=5, temperature=1.5,
                                          logprobs=True, top_logprobs=4)
    assert [choice.index for choice in many.choices] == [0, 1, 2]
    for choice in many.choices:
        assert choice.logprobs.content and all(len(token.top_logprobs) == 4 for token in choice.logprobs.content)
    again = client.chat.completions.create(model=model, messages=MESSAGES, max_tokens=8, n=3, seed=5, temperature=1.5)
    assert [c.message.content for c in again.choices] == [c.message.content for c in many.choices]

    plain = client.completions.create(model=model, prompt=["One two", "A B"], max_tokens=4, temperature=0, logprobs=2,
                                      echo=True)
    assert [choice.index for choice in plain.choices] == [0, 1] and plain.choices[0].text.startswith("One two")
    assert plain.choices[0].logprobs.token_logprobs[0] is None
    tokens = "".join(chunk.choices[0].text for chunk in client.completions.create(
        model=model, prompt="One two", max_tokens=4, temperature=0, stream=True))
    assert "One two" + tokens == plain.choices[0].text

    for wrong in ({"temperature": 1000.0}, {"tools": [{"type": "function", "function": {"name": "f"}}]}):
        try:
            client.chat.completions.create(model=model, messages=MESSAGES, **wrong)
            raise AssertionError(f"{wrong} was accepted")
        except openai.BadRequestError as error:
            assert error.param in wrong, error
    try:
        client.completions.create(model="no-such-model", prompt="x")
        raise AssertionError("an unknown model was accepted")
    except openai.NotFoundError:
        pass


async def check_async(client: openai.AsyncOpenAI, model: str) -> None:
    async def ask(seed: int) -> str:
        text = ""
        stream = await client.chat.completions.create(model=model, messages=MESSAGES, max_tokens=16, seed=seed,
                                                      temperature=1, stream=True)
        async for chunk in stream:
            text += chunk.choices[0].delta.content or ""
        return text

    together = await asyncio.gather(*(ask(seed) for seed in range(16)))
    for seed in (0, 7, 15):  # alone as among others
        assert await ask(seed) == together[seed]


def main() -> None:
    address = sys.argv[1]
    client = openai.OpenAI(base_url=address, api_key="none", max_retries=0)
    model = client.models.list().data[0].id
    assert client.models.retrieve(model).id == model
    check_sync(client, model)
    asyncio.run(check_async(openai.AsyncOpenAI(base_url=address, api_key="none", max_retries=0), model))
    print(f"openai {openai.__version__}: ok")


if __name__ == "__main__":
    main()
