"""Reads a screenshot: 8-bit RGB or RGBA PNG without interlacing, by the standard library alone."""
import struct
import zlib


def _paeth(left: int, above: int, corner: int) -> int:
    guess = left + above - corner
    distances = (abs(guess - left), abs(guess - above), abs(guess - corner))
    return (left, above, corner)[distances.index(min(distances))]


def _unfilter(kind: int, line: bytearray, above: bytes, step: int) -> None:
    """PNG specification, section 9: each byte is stored as a difference to its neighbours."""
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        if kind == 1:
            line[i] = (line[i] + left) & 255
        elif kind == 2:
            line[i] = (line[i] + above[i]) & 255
        elif kind == 3:
            line[i] = (line[i] + (left + above[i]) // 2) & 255
        elif kind == 4:
            line[i] = (line[i] + _paeth(left, above[i], above[i - step] if i >= step else 0)) & 255


def count_colours(data: bytes) -> dict[bytes, int]:
    """Colour -> number of pixels. ValueError when the data is not such a PNG."""
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        raise ValueError("not a PNG")
    at, packed = 8, b""
    width = height = step = 0
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
            step = {2: 3, 6: 4}.get(colour, 0)
            if depth != 8 or step == 0 or interlace != 0:
                raise ValueError(f"PNG of depth {depth}, colour type {colour}, interlace {interlace}")
        elif kind == b"IDAT":
            packed += body
        at += 12 + size
    raw = zlib.decompress(packed)
    counts: dict[bytes, int] = {}
    above, row_bytes = bytes(width * step), width * step
    for row in range(height):
        start = row * (row_bytes + 1)
        line = bytearray(raw[start + 1 : start + 1 + row_bytes])
        if raw[start] != 0:
            _unfilter(raw[start], line, above, step)
        above = bytes(line)
        for i in range(0, row_bytes, step):
            colour_bytes = above[i : i + 3]
            counts[colour_bytes] = counts.get(colour_bytes, 0) + 1
    return counts
