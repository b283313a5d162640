"""What this machine has for large models, found out without loading torch."""

import ctypes
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

MIB = 1 << 20
NF4_MIB = 7_500  # Qwen3-8B in NF4 with 4k tokens of context
BFLOAT16_MIB = 20_000  # the same in bfloat16
KV_MIB = 604  # keys and values of 4,096 tokens: 36 layers × 8 heads × 128 × 2 × 2 bytes a token


@dataclass(frozen=True, slots=True)
class Machine:
    """`gpu_mib` is the memory of the first CUDA device, 0 without one."""

    gpu_mib: int = 0
    zerogpu: bool = False

    @property
    def large(self) -> bool:
        """Can it run the large models?"""
        return self.zerogpu or self.gpu_mib >= NF4_MIB


def this_machine(environ: Mapping[str, str] | None = None) -> Machine:
    """Asks the driver and the environment; a few milliseconds, nothing is allocated."""
    env = os.environ if environ is None else environ
    zerogpu = env.get("SPACES_ZERO_GPU", "").lower() in {"1", "t", "true"}
    return Machine(gpu_mib=0 if zerogpu else _first_device_mib(), zerogpu=zerogpu)


def _first_device_mib() -> int:
    """From the driver's own library, so that `auto` on a laptop does not import torch to learn "none"."""
    try:
        cuda = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    except OSError:
        return 0
    device, size = ctypes.c_int(), ctypes.c_size_t()
    asked = cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0)
    if asked or cuda.cuDeviceTotalMem_v2(ctypes.byref(size), device):
        return 0
    return int(size.value // MIB)


def have_packages(*names: str) -> bool:
    return all(find_spec(name) is not None for name in names)


def slots_that_fit(gpu_mib: int, weights_mib: int, context_tokens: int, wanted: int) -> int:
    """Replies at once whose keys and values fit beside the weights; one at least."""
    each = max(1, KV_MIB * context_tokens // 4096)
    return max(1, min(wanted, (gpu_mib - weights_mib) // each + 1))
