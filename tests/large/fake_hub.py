"""A local model hub: enough of its HTTP for the real client to list, fetch and push."""

import base64
import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "c" * 40


class Hub(ThreadingHTTPServer):
    """`repos` maps "models/owner/name" or "datasets/owner/name" to files."""

    daemon_threads = True

    def __init__(self, repos: dict[str, dict[str, bytes]]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repos = repos
        self.gated: set[str] = set()
        self.broken_files: set[str] = set()  # sent with other bytes than are listed
        self.cut_after: int | None = None  # bytes of any file after which the line breaks
        self.sent: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._get(body=False)

    def do_GET(self) -> None:
        self._get(body=True)

    def _get(self, *, body: bool) -> None:
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        if parts[0] == "api" and "tree" in parts:
            files = self.server.repos.get("/".join(parts[1:4]), {})
            self._json(200, [{"type": "file", "path": n, "size": len(d), "oid": "0"} for n, d in files.items()])
            return
        if parts[0] == "api":
            self._info(f"{parts[1]}/{parts[2]}/{parts[3]}")
            return
        kind = "datasets" if parts[0] == "datasets" else "models"
        if kind == "datasets":
            parts = parts[1:]
        self._file(f"{kind}/{parts[0]}/{parts[1]}", "/".join(parts[4:]), body=body)

    def _info(self, repo: str) -> None:
        files = self.server.repos.get(repo)
        if files is None:
            self._json(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
            return
        siblings = [
            {
                "rfilename": name,
                "size": len(data),
                "lfs": {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130},
            }
            for name, data in files.items()
        ]
        kind, owner, name = repo.split("/")
        value = {"_id": "0", "id": f"{owner}/{name}", "sha": COMMIT, "siblings": siblings, "private": False, "tags": []}
        self._json(200, {**value, "downloads": 0, "likes": 0, "kind": kind})

    def _file(self, repo: str, name: str, *, body: bool) -> None:
        data = self.server.repos.get(repo, {}).get(name)
        if repo in self.server.gated:
            self._json(403, {"error": "gated"}, {"X-Error-Code": "GatedRepo"})
            return
        if data is None:
            self._json(404, {"error": "Entry not found"}, {"X-Error-Code": "EntryNotFound"})
            return
        etag = hashlib.sha256(data).hexdigest()
        if name in self.server.broken_files:
            data = bytes(reversed(data))
        first = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")[0])
        self.send_response(206 if "Range" in self.headers else 200)
        self.send_header("Content-Length", str(len(data) - first))
        self.send_header("Accept-Ranges", "bytes")
        if "Range" in self.headers:
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        self.send_header("ETag", f'"{etag}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if not body:
            return
        self.server.sent.append(name)
        if self.server.cut_after is not None and len(data) - first > self.server.cut_after:
            self.wfile.write(data[first : first + self.server.cut_after])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        self.wfile.write(data[first:])

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        path = urlsplit(self.path).path
        if self.headers.get("Authorization") != "Bearer hf_goodtoken":
            self._json(401, {"error": "Invalid username or password."})
        elif path == "/api/repos/create":
            wanted = json.loads(raw)
            repo = f"{wanted.get('type', 'model')}s/{wanted.get('organization') or 'me'}/{wanted['name']}"
            self.server.repos.setdefault(repo, {})
            self._json(200, {"url": f"https://huggingface.co/{repo.removeprefix('models/')}"})
        elif "/preupload/" in path:
            files = [{"path": entry["path"], "uploadMode": "regular"} for entry in json.loads(raw)["files"]]
            self._json(200, {"files": [{**entry, "shouldIgnore": False, "oid": None} for entry in files]})
        elif "/commit/" in path:
            self._commit("/".join(path.split("/")[2:5]), raw)
        else:
            self._json(200, {})

    def _commit(self, repo: str, raw: bytes) -> None:
        files = self.server.repos[repo]
        for line in raw.splitlines():
            entry = json.loads(line)
            if entry["key"] == "file":
                files[entry["value"]["path"]] = base64.b64decode(entry["value"]["content"])
            elif entry["key"] == "deletedFile":
                files.pop(entry["value"]["path"], None)
        url = f"https://huggingface.co/{repo}/commit/{COMMIT}"
        self._json(200, {"success": True, "commitOid": COMMIT, "commitUrl": url, "hookOutput": ""})

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


@contextmanager
def hub(repos: dict[str, dict[str, bytes]]) -> Iterator[Hub]:
    server = Hub(repos)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
