"""A dylib to be changed: enough of its bytes is known to change one thing of it
and to sign it anew. Layouts as in MachO.h."""

import hashlib
import struct

COMMANDS = {
    0x2: "SYMTAB", 0xB: "DYSYMTAB", 0xC: "LOAD_DYLIB", 0xD: "ID_DYLIB",
    0x19: "SEGMENT_64", 0x1B: "UUID", 0x1D: "CODE_SIGNATURE",
    0x26: "FUNCTION_STARTS", 0x29: "DATA_IN_CODE", 0x2A: "SOURCE_VERSION",
    0x32: "BUILD_VERSION", 0x80000033: "EXPORTS_TRIE",
    0x80000034: "CHAINED_FIXUPS",
}
HEADER = 32


class Dylib:
    """Its bytes; `at` and `put` read and write numbers by struct's letters."""

    def __init__(self, data):
        self.data = bytearray(data)
        self.find()

    def at(self, offset, kind="I"):
        return struct.unpack_from("<" + kind, self.data, offset)[0]

    def put(self, offset, value, kind="I"):
        struct.pack_into("<" + kind, self.data, offset, value)

    def big(self, offset, kind="I"):
        return struct.unpack_from(">" + kind, self.data, offset)[0]

    def put_big(self, offset, value, kind="I"):
        struct.pack_into(">" + kind, self.data, offset, value)

    def text(self, offset, room=None):
        end = self.data.index(0, offset)
        if room and end > offset + room:
            end = offset + room
        return self.data[offset:end].decode()

    def find(self):
        """Where things are: commands by name, segments and sections by name."""
        self.commands, self.segments, self.sections = {}, {}, {}
        offset = HEADER
        for _ in range(self.at(16)):
            name = COMMANDS[self.at(offset)]
            if name == "SEGMENT_64":
                self.segments[self.text(offset + 8, 16)] = offset
                for number in range(self.at(offset + 64)):
                    section = offset + 72 + 80 * number
                    self.sections[self.text(section, 16)] = section
            else:
                self.commands[name] = offset
            offset += self.at(offset + 4)

    def linkedit(self, name):
        """Offset and size of a piece of __LINKEDIT."""
        command = self.commands[name]
        return self.at(command + 8), self.at(command + 12)

    def fixups(self):
        return self.linkedit("CHAINED_FIXUPS")[0]

    def starts(self, segment):
        """Where the starts of the fixups of one of the segments are."""
        number = list(self.segments).index(segment)
        image = self.fixups() + self.at(self.fixups() + 4)
        return image + self.at(image + 4 + 4 * number)

    def places(self):
        """Offsets in the file of what is fixed up, with the 8 bytes there."""
        for segment, command in self.segments.items():
            starts = self.starts(segment)
            image = self.fixups() + self.at(self.fixups() + 4)
            if starts == image:
                continue
            for page in range(self.at(starts + 20, "H")):
                start = self.at(starts + 22 + 2 * page, "H")
                if start == 0xFFFF:
                    continue
                place = self.at(command + 40, "Q") + 0x4000 * page + start
                while True:
                    pointer = self.at(place, "Q")
                    yield place, pointer
                    following = pointer >> 51 & 0xFFF
                    if not following:
                        break
                    place += 4 * following

    def imports(self):
        """(offset of the import, offset of its name, name)"""
        fixups = self.fixups()
        first, names = self.at(fixups + 8), self.at(fixups + 12)
        for number in range(self.at(fixups + 16)):
            where = fixups + first + 4 * number
            name = fixups + names + (self.at(where) >> 9)
            yield where, name, self.text(name)

    def directory(self):
        """Where the code directory is."""
        signature = self.linkedit("CODE_SIGNATURE")[0]
        return signature + self.big(signature + 16)

    def sign(self):
        """Hashes of all pages, where they were. Of what Dylib knew when it was
        made: a spoilt command does not lead elsewhere."""
        offset, size = self.signed
        limit = self.linkedit_begin
        for number in range(size):
            page = self.data[4096 * number : min(4096 * number + 4096, limit)]
            self.data[offset + 32 * number : offset + 32 * number + 32] = (
                hashlib.sha256(page).digest()
            )

    def copy(self):
        """To be spoilt; it signs as this would."""
        made = Dylib(self.data)
        directory = made.directory()
        made.signed = (
            directory + made.big(directory + 16), made.big(directory + 28)
        )
        made.linkedit_begin = made.linkedit("CODE_SIGNATURE")[0]
        return made

    def remove(self, name):
        """A load command out of their row; zeros at its end."""
        where = self.commands[name]
        size = self.at(where + 4)
        end = HEADER + self.at(20)
        self.data[where:end] = self.data[where + size : end] + bytes(size)
        self.put(16, self.at(16) - 1)
        self.put(20, self.at(20) - size)
