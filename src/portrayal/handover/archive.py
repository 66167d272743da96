"""Archives that are the same for the same files, and fingerprints that place a change.

Members are stored as they are, so that nothing can unpack to more than it is.
"""

import hashlib
import shutil
import stat
import unicodedata
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

from portrayal.edges.sizes import LARGEST_ARRAY
from portrayal.errors import PortrayalError

MOST_FILES = 200_000
LONGEST_NAME = 200
FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest a zip file can say
LOCAL_HEADER = 30  # bytes before a member's name
NAMES_AT = slice(26, 30)  # in it: the lengths of the name and of what follows it
CHUNK = 1024 * 1024
STRANGE = '\\:*?"<>|'  # what some system cannot have in a name, or takes for a folder or a drive
# Names that stand for devices on some systems, whatever ending they have.
DEVICES = {"con", "prn", "aux", "nul", *(f"{kind}{number}" for kind in ("com", "lpt") for number in range(10))}


def write_archive(path: Path, files: Mapping[str, Path]) -> None:
    """Write files into an archive; the same files give the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            member = zipfile.ZipInfo(name, FIXED_TIME)
            member.create_system, member.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            member.file_size = files[name].stat().st_size
            with files[name].open("rb") as file, archive.open(member, "w") as into:
                shutil.copyfileobj(file, into, CHUNK)


def unpack_archive(path: Path, folder: Path) -> list[str]:
    """Write an archive's members into a folder and return their names."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
        _refuse_strange(path, members)
        with path.open("rb") as file:
            spans = {member.filename: _span(file, member) for member in members}
            end, whole = 0, path.stat().st_size
            for start, size in sorted(
                spans.values()
            ):  # those that share bytes: any number of large ones in a small file
                if start < end or start + size > whole:
                    raise _refused(path, "holds files that overlap or end after it does")
                end = start + size
            for name, (start, size) in spans.items():
                _copy(file, start, size, folder / name)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, ValueError) as error:
        raise PortrayalError(f"{path} cannot be read as a zip archive: {error}.") from None
    except FileNotFoundError:
        raise PortrayalError(f"no file at {path}. Expected what portrayal pack wrote.") from None
    except IsADirectoryError:
        raise PortrayalError(f"{path} is a folder. Expected a file that portrayal pack wrote.") from None
    return sorted(spans)


def _refuse_strange(path: Path, members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MOST_FILES:
        raise _refused(path, f"holds {len(members):,} files, and at most {MOST_FILES:,} are read")
    if sum(member.file_size for member in members) > LARGEST_ARRAY:
        raise _refused(path, f"says that it holds more than {LARGEST_ARRAY:,} bytes")
    seen: set[str] = set()
    for member in members:
        if why := _why_refused(member):
            raise _refused(path, f"holds {member.filename[:80]!r}, which {why}")
        plain = unicodedata.normalize("NFKC", member.filename).casefold()
        if plain in seen:
            raise _refused(path, f"holds {member.filename!r} twice, perhaps in other letters")
        seen.add(plain)
    parents = {str(parent) for name in seen for parent in PurePosixPath(name).parents}
    for name in parents & seen:
        raise _refused(path, f"holds {name!r} both as a file and as a folder")


def _why_refused(member: zipfile.ZipInfo) -> str:
    """Say why a member is refused; `orig_filename` is its name before zipfile cut it."""
    name, mode, parts = member.filename, member.external_attr >> 16, member.filename.split("/")
    packed = member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size
    odd = member.orig_filename != name or len(name) > LONGEST_NAME or any(ord(letter) < 32 for letter in name)
    leads_out = any(letter in name for letter in STRANGE) or name.startswith("/") or ".." in parts
    misplaced = len(parts) > 2 or any(part in ("", ".") or part != part.strip(" .") for part in parts)
    reasons = {
        "is a link or no plain file": stat.S_IFMT(mode) and not stat.S_ISREG(mode),
        "is encrypted": member.flag_bits & 0x1,
        "is compressed, and a pack stores files as they are": packed,
        "has a name no file should have": odd,
        "leads out of the folder it is unpacked to": leads_out,
        "is no file of a pack": misplaced,
        "has the name of a device": any(part.partition(".")[0].casefold() in DEVICES for part in parts),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _span(file: IO[bytes], member: zipfile.ZipInfo) -> tuple[int, int]:
    """Return where a member's bytes begin in the archive, and how many there are."""
    file.seek(member.header_offset)
    header = file.read(LOCAL_HEADER)
    if len(header) < LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
        raise zipfile.BadZipFile(f"{member.filename!r} does not begin where the list of files says")
    lengths = header[NAMES_AT]
    name = file.read(int.from_bytes(lengths[:2], "little"))
    if name != member.filename.encode("utf-8" if member.flag_bits & 0x800 else "cp437"):
        raise zipfile.BadZipFile(f"{member.filename!r} has another name where it begins")
    start = member.header_offset + LOCAL_HEADER + len(name) + int.from_bytes(lengths[2:], "little")
    return start, member.file_size


def _copy(file: IO[bytes], start: int, size: int, path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    file.seek(start)
    with path.open("xb") as into:
        while size:
            chunk = file.read(min(CHUNK, size))
            into.write(chunk)
            size -= len(chunk)


def _refused(path: Path, why: str) -> PortrayalError:
    return PortrayalError(f"{path} {why}. It is no pack of Portrayal; nothing of it was used.")


BLOCK = 1024  # bytes; all 255 other values of each of them are tried in half a second
SHORT = 16  # hex digits kept of a block's hash


def fingerprint(path: Path) -> dict[str, Any]:
    """Return a file's size, its SHA-256, and shortened hashes of its blocks."""
    whole, short, size = hashlib.sha256(), [], 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            whole.update(block)
            short.append(hashlib.sha256(block).hexdigest()[:SHORT])
            size += len(block)
    return {"bytes": size, "sha256": whole.hexdigest(), "blocks": "".join(short)}


def first_change(path: Path, before: Mapping[str, Any]) -> str:
    """Say where a file differs first from the one that was fingerprinted, if anywhere."""
    now = fingerprint(path)
    if now == before:
        return ""
    size = "" if now["bytes"] == before["bytes"] else f"; it has {now['bytes']:,} bytes and had {before['bytes']:,}"
    one, other = now["blocks"], before["blocks"]
    starts = range(0, max(len(one), len(other)), SHORT)
    changed = [start for start in starts if one[start : start + SHORT] != other[start : start + SHORT]]
    if not changed:
        return f"its hash is another{size}"
    block = changed[0] // SHORT
    wanted = other[changed[0] : changed[0] + SHORT]
    if len(changed) == 1 and not size and (exact := _one_byte(path, block, wanted)):
        return exact
    return f"the first change lies in bytes {block * BLOCK} to {(block + 1) * BLOCK - 1}{size}"


def first_offset(one: bytes, other: bytes) -> int:
    """Return the place of the first byte in which two texts differ."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _one_byte(path: Path, block: int, wanted: str) -> str:
    """Find the one byte whose change gives the stored block, if there is one."""
    with path.open("rb") as file:
        file.seek(block * BLOCK)
        content = file.read(BLOCK)
    for place in range(len(content)):
        before, after = hashlib.sha256(content[:place]), content[place + 1 :]
        for value in range(256):
            tried = before.copy()
            tried.update(bytes([value]) + after)
            if tried.hexdigest()[:SHORT] == wanted:
                return f"byte {block * BLOCK + place} was changed: it is 0x{content[place]:02x} and was 0x{value:02x}"
    return ""
