"""Many clients at once: streams, disconnects at random, garbage. Usage: many_clients.py http://127.0.0.1:8000 [PID]
With the server's process id it reports how its memory grew."""
import asyncio
import json
import random
import sys
import urllib.parse

REQUESTS, AT_ONCE, DISCONNECTS, GARBAGE, TOKENS = 1000, 200, 50, 20, 32


def resident_kib(pid: str) -> int:
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def request(number: int, tokens: int = TOKENS) -> bytes:
    body = json.dumps({"prompt": f"Request {number}:", "max_tokens": tokens, "ignore_eos": True, "seed": number,
                       "stream": True, "stream_options": {"include_usage": True}}).encode()
    return (b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body)) + body


async def stream(host: str, port: int, number: int) -> bool:
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(request(number))
    data = await asyncio.wait_for(reader.read(), 300)
    writer.close()
    events = [line[6:] for line in data.decode().splitlines() if line.startswith("data: ")]
    return len(events) > 2 and events[-1] == "[DONE]" and json.loads(events[-2])["usage"]["completion_tokens"] == TOKENS


async def disconnect(host: str, port: int, number: int) -> bool:
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(request(number, 20 * TOKENS))  # may still run when the client leaves
    await asyncio.wait_for(reader.read(random.randrange(1, 400)), 300)
    await asyncio.sleep(random.random() / 10)
    writer.transport.abort()
    return True


async def garbage(host: str, port: int, number: int) -> bool:
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(random.Random(number).randbytes(random.randrange(1, 100_000)) + b"\r\n\r\n")
    try:
        await asyncio.wait_for(reader.read(), 300)
    except ConnectionError:
        pass
    writer.close()
    return True


async def run(host: str, port: int) -> list[bool]:
    limit = asyncio.Semaphore(AT_ONCE)

    async def within(task, number):
        async with limit:
            return await task(host, port, number)

    tasks = [stream] * REQUESTS + [disconnect] * DISCONNECTS + [garbage] * GARBAGE
    random.Random(1).shuffle(tasks)
    return await asyncio.gather(*(within(task, number) for number, task in enumerate(tasks)))


def main() -> None:
    address = urllib.parse.urlparse(sys.argv[1])
    pid = sys.argv[2] if len(sys.argv) > 2 else None
    for attempt in range(2):
        before = resident_kib(pid) if pid else 0
        results = asyncio.run(run(address.hostname, address.port))
        lost = results.count(False)
        grown = f", memory grew by {resident_kib(pid) - before} KiB" if pid else ""
        print(f"round {attempt}: {REQUESTS} streams, {AT_ONCE} at once, lost {lost}{grown}")
        if lost:
            sys.exit(1)


if __name__ == "__main__":
    main()
