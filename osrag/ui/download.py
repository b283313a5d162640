"""Files that are made in the page, for the browser to save: nothing lies on a disk of the server."""

import base64
import json

SAVE = (
    "(file) => { if (!file) return; const link = document.createElement('a'); "
    "[link.download, link.href] = JSON.parse(file); link.click(); }"
)


def as_file(name: str, kind: str, data: bytes) -> str:
    """What `SAVE` turns into a download: the name and a data link, as JSON; of no data nothing."""
    if not data:
        return ""
    return json.dumps([name, f"data:{kind};base64,{base64.b64encode(data).decode()}"])
