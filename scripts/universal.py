"""Joins two libraries of macOS, for x86-64 and for arm64, into a universal one, as lipo does:

    universal.py x86_64.dylib arm64.dylib universal.dylib
"""

import pathlib
import struct
import sys

# Alignment of the libraries in the file: the size of a page on arm64.
ALIGNMENT = 14


def cpu(image):
    """Returns type and subtype of the processor in the header of a 64-bit Mach-O file."""
    magic, cpu_type, cpu_subtype = struct.unpack_from("<III", image)
    if magic != 0xFEEDFACF:
        raise ValueError(f"no 64-bit Mach-O file: magic number {magic:#x}")
    return cpu_type, cpu_subtype


def universal(images):
    """Returns a universal file: a header with the position of each library, then the libraries."""
    page = 1 << ALIGNMENT
    header, body = struct.pack(">II", 0xCAFEBABE, len(images)), b""
    for image in images:
        header += struct.pack(">IIIII", *cpu(image), page + len(body), len(image), ALIGNMENT)
        body += image.ljust(-(-len(image) // page) * page, b"\0")
    return header.ljust(page, b"\0") + body


if __name__ == "__main__":
    *sources, target = map(pathlib.Path, sys.argv[1:])
    target.write_bytes(universal([source.read_bytes() for source in sources]))
