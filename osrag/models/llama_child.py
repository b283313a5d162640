"""The process that holds the chat model. Run by `llama_cpp`, as a file of its own.

The engine lives in a child so that its death is an error to report and not the
death of the app, so that its thread pool and that of the encoder do not spin against
each other in one process, and so that the signal handlers it installs catch
nothing of ours. It imports nothing of osrag: it starts in a tenth of a second.

Protocol: one JSON line of settings on stdin, the engine's address on stdout when ready.
When stdin closes, whoever started us is gone, and so are we.
"""

import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any


def engine_params(config: dict[str, Any]) -> Any:
    """Settings of llama.cpp; the reasons for the numbers are in docs/models.md."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = config["model"]
    if config["adapter"]:
        # Loaded beside the model and asleep: a request wakes it for itself.
        params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(config["adapter"], 0.0)]
    params.n_parallel = config["slots"]
    params.n_ctx = config["context_tokens"] * config["slots"]
    # One pool of memory for all slots: a long conversation may use what the others leave,
    # and a prompt that was read for one slot can serve another.
    params.kv_unified = True
    params.cpuparams.n_threads = config["threads"]
    params.cpuparams_batch.n_threads = config["threads"]
    params.n_batch = params.n_ubatch = config["batch"]
    # Read the file instead of mapping it: most weights are laid out anew for the processor, and the
    # mapped originals would stay in memory beside them (0.6 GB).
    params.load_mode = xllamacpp.llama_load_mode.LLAMA_LOAD_MODE_NONE
    # Answers repeat their passages: when the last four tokens stood there before, the eight that
    # followed are tried at once. What the model would not have said itself is dropped.
    speculative = xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE
    params.speculative.types = [speculative]
    params.speculative.ngram_simple.size_n = 4
    params.speculative.ngram_simple.size_m = 8
    # Our parent gives prompts to slots and keeps prefixes in files; the engine's own cache of old
    # prompts (8 GB by default) and its habit of clearing idle slots are not wanted.
    params.cache_ram_mib = 0
    params.cache_idle_slots = False
    params.slot_save_path = config["slot_folder"]
    # Nobody but our parent may talk to it.
    params.hostnames = [config["host"]]
    params.port = 0
    params.api_keys = [config["key"]]
    params.cors_origins = ""
    params.cors_credentials = False
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 1  # errors only
    return params


def main() -> None:
    """Serve until stdin closes."""
    config = json.loads(sys.stdin.readline())
    with suppress(OSError):
        # When memory runs out, the kernel should take the model and leave the app.
        Path("/proc/self/oom_score_adj").write_text("500", "ascii")
    import xllamacpp

    try:
        server = xllamacpp.Server(engine_params(config))
    except RuntimeError:
        sys.exit(1)  # the engine said why on stderr
    print(server.listening_address, flush=True)  # noqa: T201
    sys.stdin.read()
    with suppress(OSError):
        shutil.rmtree(config["folder"])
    # Not by sys.exit: the engine would finish the replies it is generating for nobody.
    os._exit(0)


if __name__ == "__main__":
    main()
