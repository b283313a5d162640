"""What the gateway costs a call (floor: 5 ms), and the client of a served model, against a local server.

python bench/gateway.py
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from osrag.models.gateway import ChatGateway, Pace
from osrag.models.protocols import ChatOptions, Message, complete
from osrag.models.served import ServedChat, connect
from osrag.models.usage import UsageMeter
from osrag.settings import Settings
from tests.fakes import ScriptedChat
from tests.large.faulty_server import faulty

CALLS = 200
ASK = [Message("user", "what is a process?" * 20)]


def median_ms(call: Callable[[], object]) -> float:
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> int:
    meter = UsageMeter()
    scripted = ScriptedChat([["a "] * 100])
    gate = ChatGateway(4, meter, Pace(1e9, retries=2))

    def gated() -> str:
        pieces = gate.stream(
            ASK, ChatOptions(), lambda messages, options, slot, call: scripted.stream(messages, options)
        )
        return "".join(pieces)

    found = {
        "calls": CALLS,
        "bare_ms": median_ms(lambda: complete(scripted, ASK, ChatOptions())),
        "gateway_ms": median_ms(gated),
    }
    found["gateway_adds_ms"] = found["gateway_ms"] - found["bare_ms"]
    with faulty("good") as server:
        where = {"endpoint_url": server.url, "endpoint_key": server.key, "endpoint_model": server.model}
        chosen = Settings(**where, _env_file=None)  # type: ignore[arg-type]
        gate = ChatGateway(4, meter, Pace(1e9, retries=2))
        model = ServedChat(connect(chosen), server.model, gate, context_tokens=4096)
        found["served_ms"] = median_ms(lambda: complete(model, ASK, ChatOptions()))
    print(json.dumps(found, indent=1))
    return int(found["gateway_adds_ms"] > 5)


if __name__ == "__main__":
    sys.exit(main())
