"""JPEGs for a GPU: which may be decoded there, and by what."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from portrayal.edges.sizes import LARGEST_PICTURE, MOST_PIXELS

BEGIN, END = b"\xff\xd8", b"\xff\xd9"
ADOBE, SCAN = 0xEE, 0xDA
FRAMES = (0xC0, 0xC2)  # baseline and progressive
YCBCR = (1, 2, 3)  # numbers of the channels; other numbers may mean other colours

Decode: TypeAlias = Callable[[list[Any]], list[Any]]


@dataclass
class DeviceJpegs:
    """JPEGs decoded by `decode`: tensors of bytes in, tensors of pixels (3 x height x width) out. One batch at a time."""

    decode: Decode
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def decoded(self, files: Sequence[bytearray | memoryview]) -> list[Any | None]:
        """Return the pixels of each file, or None where this decoder cannot read it."""
        import torch

        with self._lock:
            return self._halved([torch.frombuffer(data, dtype=torch.uint8) for data in files])

    def _halved(self, files: list[Any]) -> list[Any | None]:
        """Decode; where that fails, as it does for all when one is damaged, the halves are decoded."""
        try:
            return list(self.decode(files)) if files else []
        except RuntimeError:
            middle = len(files) // 2
            return [None] if not middle else [*self._halved(files[:middle]), *self._halved(files[middle:])]


def open_jpegs(device: str) -> DeviceJpegs | None:
    """Return what decodes JPEGs on this device, or None where nothing does."""
    decode = nvjpeg(device)
    return None if decode is None else DeviceJpegs(decode)


def nvjpeg(device: str) -> Decode | None:
    """Return torchvision's decoder on this GPU, or None: no GPU, no torchvision, or one that was built without nvJPEG."""
    if not device.startswith("cuda"):
        return None
    import torch

    try:
        from torchvision.io import ImageReadMode, decode_jpeg
    except (ImportError, OSError, RuntimeError):  # a torchvision of another torch raises the latter two
        return None
    stream = torch.cuda.Stream(device)

    def decode(files: list[Any]) -> list[Any]:
        # nvJPEG writes its pixels without waiting for what is queued on our stream. So it gets a stream, and with it memory, of
        # its own, on which nothing is queued; whoever reads the pixels must have read them before letting them go.
        with torch.cuda.stream(stream):
            stream.synchronize()
            found = decode_jpeg(files, ImageReadMode.RGB, device)
            stream.synchronize()
        return found

    try:
        decode([torch.frombuffer(_small_jpeg(), dtype=torch.uint8)])
    except RuntimeError:
        return None
    return decode


def read_plain_jpeg(path: str) -> bytearray | None:
    """Read a file that may be decoded on a GPU; None for all that Pillow is to look at, damaged and missing files too."""
    try:
        with Path(path).open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if size > LARGEST_PICTURE:
                return None
            data = bytearray(size)
            whole = file.readinto(data) == size
    except OSError:
        return None
    return data if whole and is_plain_jpeg(data) else None


def is_plain_jpeg(data: bytes | bytearray) -> bool:
    """Whether bytes are a whole JPEG of 8 bits and three channels in YCbCr, of a size that is read."""
    if data[:2] != BEGIN or data[-2:] != END:
        return False
    place = 2
    while place + 20 < len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker in FRAMES:
            return _is_plain_frame(data[place + 4 : place + 19])
        # Adobe's mark says in its last byte how colours are stored: 1 is YCbCr.
        if marker == ADOBE and data[place + 4 : place + 9] == b"Adobe" and data[place + 15] != 1:
            return False
        if marker == SCAN or marker == 0xFF or (0xC0 <= marker <= 0xCF and marker != 0xC4):
            return False
        place += 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    return False


def _is_plain_frame(frame: bytes | bytearray) -> bool:
    """Look at bits, height, width and the three channels of a frame."""
    height, width = int.from_bytes(frame[1:3], "big"), int.from_bytes(frame[3:5], "big")
    channels = (frame[6], frame[9], frame[12])
    return frame[0] == 8 and frame[5] == 3 and channels == YCBCR and 0 < width * height <= MOST_PIXELS


def _small_jpeg() -> bytearray:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (16, 16), "white").save(buffer, "JPEG")
    return bytearray(buffer.getvalue())
