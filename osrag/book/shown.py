"""Slides and Word files as pages to look at: LibreOffice makes a PDF of a copy, where it is installed.

The copy has no macros and nothing in it points outside, so that showing a file fetches nothing.
"""

import functools
import hashlib
import os
import resource
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Lock

from osrag.book.formats.package import cleaned
from osrag.errors import BadDocument
from osrag.files import write_whole
from osrag.models.sources import writing
from osrag.wording import Said

SUFFIXES = (".docx", ".docm", ".dotx", ".pptx", ".pptm", ".ppsx", ".potx")
WAIT_S = 120.0  # a deck of 100 slides takes 20 s
MEMORY_BYTES = 8 << 30  # address space, of which it uses a tenth
KEPT = 100  # files; the oldest go
_ONE = Lock()  # LibreOffice runs once at a time: two take longer than one after the other


@functools.cache
def office() -> str | None:
    """The command of LibreOffice; None where it is not installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


def as_pdf(path: Path, cache_dir: Path) -> Path | None:
    """A PDF that shows the file, kept in `cache_dir`; None without LibreOffice. Raises BadDocument where it fails."""
    program = office()
    if program is None:
        return None
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    folder = cache_dir / "shown"
    out = folder / f"{digest}.pdf"
    with _ONE:
        if not out.is_file():
            with writing(folder), tempfile.TemporaryDirectory(prefix="osrag-") as made:
                _convert(program, path, Path(made))
                folder.mkdir(parents=True, exist_ok=True)
                write_whole(out, (Path(made) / "copy.pdf").read_bytes())
                for old in sorted(folder.glob("*.pdf"), key=lambda one: one.stat().st_mtime)[:-KEPT]:
                    old.unlink(missing_ok=True)
    return out


def _convert(program: str, path: Path, folder: Path) -> None:
    """Raises BadDocument where LibreOffice makes no `copy.pdf` in time."""
    copy = folder / f"copy{path.suffix.lower()}"
    copy.write_bytes(cleaned(path, media=True).getvalue())
    command = [program, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless", "--norestore"]
    limits = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    process = subprocess.Popen(
        [*command, "--convert-to", "pdf", "--outdir", str(folder), str(copy)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=limits,
    )
    with suppress(subprocess.TimeoutExpired):
        process.wait(WAIT_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if not (folder / "copy.pdf").is_file():
        raise BadDocument(Said("doc_not_shown", name=path.name), hint=Said("doc_do_pdf"))
