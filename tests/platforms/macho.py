"""Reader of Mach-O files, the programs and libraries of macOS."""

import struct

# Numbers of mach-o/fat.h, mach-o/loader.h and mach/machine.h, and of code signatures (cs_blobs.h), in Apple's xnu.
FAT, MACH_O_64 = 0xCAFEBABE, 0xFEEDFACF
PROCESSORS = {"x86_64": 0x01000007, "arm64": 0x0100000C}
LOADS = {0xC: "needs", 0x80000018: "weak", 0x8000001F: "reexports", 0x20: "lazy", 0x80000023: "upward"}
SIGNATURE, BUILD_VERSION, INFO, INFO_ONLY, TRIE = 0x1D, 0x32, 0x22, 0x80000022, 0x80000033
BLOBS, DIRECTORY = 0xFADE0CC0, 0xFADE0C02


def images(data):
    """Returns the images in a file, a universal one or not, by the name of their processor."""
    names = {number: name for name, number in PROCESSORS.items()}
    magic, count = struct.unpack_from(">II", data)
    if magic != FAT:
        image = Image(data)
        return {names[image.processor]: image}
    found, end = {}, 8 + 20 * count
    for i in range(count):
        processor, _, offset, size, alignment = struct.unpack_from(">5I", data, 8 + 20 * i)
        assert offset >= end and offset + size <= len(data) and offset % (1 << alignment) == 0
        image = found[names[processor]] = Image(data[offset : offset + size])
        assert image.processor == processor
        end = offset + size
    return found


class Image:
    """Program or library for one processor."""

    def __init__(self, data):
        self.data = data
        magic, self.processor, _, self.kind, count, size, _, _ = struct.unpack_from("<8I", data)
        assert magic == MACH_O_64
        self.commands, at = [], 32
        for _ in range(count):
            command, length = struct.unpack_from("<II", data, at)
            self.commands.append((command, data[at : at + length]))
            at += length
        assert at == 32 + size

    def only(self, *kinds):
        """Returns the only load command of these kinds."""
        (found,) = [command for kind, command in self.commands if kind in kinds]
        return found

    def build_version(self):
        """Returns the platform (1: macOS) and its oldest version."""
        _, _, platform, oldest = struct.unpack_from("<4I", self.only(BUILD_VERSION))
        return platform, (oldest >> 16, oldest >> 8 & 0xFF)

    def linked(self):
        """Returns the libraries that the system loads with this image, each with the kind of the link."""
        linked = []
        for kind, command in self.commands:
            if kind in LOADS:
                (offset,) = struct.unpack_from("<I", command, 8)
                linked.append((LOADS[kind], command[offset:].split(b"\0")[0].decode()))
        return linked

    def exported(self):
        """Returns the exported symbols, from the trie of the dynamic linker."""
        if any(kind == TRIE for kind, _ in self.commands):
            offset, size = struct.unpack_from("<II", self.only(TRIE), 8)
        else:
            offset, size = struct.unpack_from("<II", self.only(INFO, INFO_ONLY), 40)
        trie = self.data[offset : offset + size]

        def number(at):
            """Returns the number at a position, in ULEB128, and the position after it."""
            value = shift = 0
            while True:
                byte = trie[at]
                value |= (byte & 0x7F) << shift
                at, shift = at + 1, shift + 7
                if byte < 0x80:
                    return value, at

        names, nodes = [], [(0, b"")]
        while nodes:
            node, name = nodes.pop()
            size, at = number(node)
            if size:
                names.append(name.decode())
            at += size
            children, at = trie[at], at + 1
            for _ in range(children):
                end = trie.index(b"\0", at)
                child, after = number(end + 1)
                nodes.append((child, name + trie[at:end]))
                at = after
        return names

    def code_directory(self):
        """Returns the code directory of the signature, and the number of signed bytes."""
        offset, size = struct.unpack_from("<II", self.only(SIGNATURE), 8)
        blobs = self.data[offset : offset + size]
        magic, _, count = struct.unpack_from(">III", blobs)
        assert magic == BLOBS
        starts = [struct.unpack_from(">II", blobs, 12 + 8 * i)[1] for i in range(count)]
        (directory,) = [blobs[at:] for at in starts if struct.unpack_from(">I", blobs, at)[0] == DIRECTORY]
        return directory, offset
