"""What the native libraries under the models are told before they load: how to wait, and what to keep."""

import ctypes
import os

# Threads of OpenMP wait for each other by spinning. Beside anything else that runs, a browser or a
# search, the one that waits takes the processor from the one it waits for: 0.4 tokens a second
# with two busy processes. Spinning briefly costs 3 % alone and gives 5.6 there (docs/models.md).
# oneDNN, under torch, keeps the code it made for 1,024 sizes of a batch; batches of an encoder have any size.
ENVIRONMENT = {"GOMP_SPINCOUNT": "1000", "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64"}
M_MMAP_THRESHOLD = -3  # malloc.h of glibc
# Bytes from which memory is mapped apart and goes back whole. It is glibc's own first value; left to itself glibc
# raises it to 32 MB with what is freed, and the heap of every thread keeps the holes of other threads' batches.
MAPPED_APART = 128 * 1024


def prepare() -> None:
    """To be called before torch loads. What the environment says stays; only glibc can be told the last."""
    os.environ.update({**ENVIRONMENT, **os.environ})
    if os.name == "posix" and hasattr(c := ctypes.CDLL(None), "mallopt"):
        c.mallopt(M_MMAP_THRESHOLD, MAPPED_APART)
