"""llama.cpp's own OpenAI-compatible server as a process of its own: model, key, "chat" or "embed", context."""

import json
import sys


def main() -> None:
    import xllamacpp

    model, key, what, *context = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = int(context[0]) if context else 2048
    params.n_parallel = 2
    params.cpuparams.n_threads = 2
    params.n_batch = params.n_ubatch = 256
    params.cache_ram_mib = 0
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.verbosity = 1
    if what == "embed":
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(params)
    sys.stdout.write(json.dumps({"address": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
