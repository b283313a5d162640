"""C files of a kernel source tree, from Debian's .tar.xz or from a directory."""

import re
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from osrag.errors import BadInput
from osrag.types import Progress, silent

SUFFIXES = (".c", ".h")
FILE_BYTES = 8_000_000  # a larger one is generated data, not something to read
_VERSION = re.compile(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION)[ \t]*=[ \t]*(.*)$", re.M)
READING = "read source"  # as the progress names it
TELL_EVERY = 2000  # members of an archive between two reports of progress
GET_SOURCE = "apt install linux-source-6.1, then name /usr/src/linux-source-6.1.tar.xz"


@dataclass(frozen=True, slots=True)
class KernelTree:
    """The files that were asked for."""

    version: str  # "6.1.192", from the Makefile
    files: Mapping[str, bytes]  # path inside the tree -> content, by path
    skipped: tuple[str, ...] = ()  # files too large to be source

    def under(self, subsystem: str) -> dict[str, bytes]:
        """Files of one subsystem."""
        return {path: data for path, data in self.files.items() if path.startswith(f"{subsystem}/")}


def read_tree(source: Path, subsystems: Sequence[str], progress: Progress = silent) -> KernelTree:
    """Read the C files of `subsystems` (`kernel`, `mm`, `drivers/net`) and the version.

    `source` is Debian's .tar.xz or a directory; of an archive `progress` counts the bytes. Raises BadInput when
    it is no kernel tree or lacks a subsystem.
    """
    size = source.stat().st_size if source.is_file() else 1
    progress(READING, 0, size)
    wanted = [_clean_name(name) for name in subsystems]
    if source.is_dir():
        files, folders = _from_directory(source, wanted)
    elif source.is_file():
        files, folders = _from_archive(source, wanted, progress)
    else:
        raise BadInput(f"no kernel source at {str(source)!r}", hint=GET_SOURCE)
    version = _version(files.pop("Makefile", b""), source)
    skipped = tuple(path for path, data in files.items() if len(data) > FILE_BYTES)
    tree = KernelTree(version, {path: files[path] for path in sorted(files) if path not in skipped}, skipped)
    for name in wanted:
        if not tree.under(name):
            hint = f"its directories: {', '.join(sorted(folders)[:30])}" if folders else ""
            raise BadInput(f"{source.name} has no C files under {name!r}", hint=hint)
    progress(READING, size, size)
    return tree


def _clean_name(name: str) -> str:
    """A directory inside the tree. Raises BadInput for what cannot be one."""
    path = PurePosixPath(name.strip("/"))
    if not path.parts or ".." in path.parts or not re.fullmatch(r"[\w./+-]+", str(path)):
        raise BadInput(f"{name!r} is no directory of a kernel tree", hint="for example: kernel, mm, fs, net/ipv4")
    return str(path)


def _version(makefile: bytes, source: Path) -> str:
    """The version that the Makefile at the top names. Raises BadInput when it names none."""
    parts: dict[str, str] = dict(_VERSION.findall(makefile.decode("utf-8", "replace")))
    if "VERSION" not in parts or "PATCHLEVEL" not in parts:
        raise BadInput(f"{str(source)!r} is no kernel source: its Makefile names no version", hint=GET_SOURCE)
    numbers = [parts.get(key, "").strip() for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    return ".".join(number for number in numbers if number) + parts.get("EXTRAVERSION", "").strip()


def _from_directory(root: Path, wanted: Sequence[str]) -> tuple[dict[str, bytes], set[str]]:
    """The Makefile and the C files that are wanted, by path, and the names of the directories at the top."""
    found = [root / "Makefile"]
    for name in wanted:
        found += [path for path in (root / name).rglob("*") if path.suffix in SUFFIXES and not path.is_symlink()]
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in found if path.is_file()}
    return files, {entry.name for entry in root.iterdir() if entry.is_dir()}


def _from_archive(archive: Path, wanted: Sequence[str], progress: Progress) -> tuple[dict[str, bytes], set[str]]:
    """The same of a tar archive, in one pass, without writing anything to disk."""
    files: dict[str, bytes] = {}
    folders: set[str] = set()
    size = archive.stat().st_size
    try:
        with archive.open("rb") as file, tarfile.open(fileobj=file, mode="r|*") as tar:
            for number, member in enumerate(tar):
                if number % TELL_EVERY == 0:
                    progress(READING, min(file.tell(), size - 1), size)
                _, _, path = member.name.removeprefix("./").partition("/")
                if "/" in path:
                    folders.add(path.partition("/")[0])
                is_source = path.endswith(SUFFIXES) and any(path.startswith(f"{name}/") for name in wanted)
                if member.isfile() and (path == "Makefile" or is_source):
                    content = tar.extractfile(member)
                    files[path] = content.read() if content else b""
    except (tarfile.TarError, EOFError, OSError) as error:
        raise BadInput(f"{archive.name} is no readable source archive: {error}", hint=GET_SOURCE) from error
    return files, folders
