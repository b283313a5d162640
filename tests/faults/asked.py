"""Starts the app, asks it one question by its API and prints what came, in the place where it is run."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
from httpx_sse import connect_sse

from osrag.settings import load_settings

START_S = 180.0  # a busy machine; what it took is printed
QUESTION = "Which four conditions must hold for a deadlock?"


def writable(folder: Path) -> bool:
    """Whether anything can be written there."""
    try:
        (folder / "probe").write_text("x")
    except OSError:
        return False
    return True


def connected() -> bool:
    """Whether there is a way out of this machine: a datagram of no content is routed."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 53))
        except OSError:
            return False
    return True


def main() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    url, start = f"http://127.0.0.1:{port}", time.monotonic()
    app = subprocess.Popen([sys.executable, "app.py"], env={**os.environ, "OSRAG_PORT": str(port)}, stdout=sys.stderr)
    try:
        with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
            while True:
                try:
                    client.get("/readyz").raise_for_status()
                    break
                except httpx.HTTPError:
                    assert app.poll() is None, f"the app ended with {app.returncode}"
                    assert time.monotonic() - start < START_S, "the app is not up"
                    time.sleep(0.2)
            up_s = time.monotonic() - start
            begun = client.post("/gradio_api/call/v2/chat", json={"question": QUESTION}).raise_for_status().json()
            with connect_sse(client, "GET", f"/gradio_api/call/chat/{begun['event_id']}") as stream:
                *_, last = [json.loads(event.data)[0] for event in stream.iter_sse() if event.event == "generating"]
    finally:
        app.terminate()
        app.wait(30)
    told = {"up_s": up_s, "ended": app.returncode, "answer": last}
    sys.stdout.write(
        json.dumps(told | {"writable": writable(load_settings().cache_dir), "connected": connected()}) + "\n"
    )


if __name__ == "__main__":
    main()
