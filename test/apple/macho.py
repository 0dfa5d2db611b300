"""Reads a Mach-O library for arm64, as far as tests ask of it."""

import hashlib
import struct

SEGMENT, SYMTAB, DYSYMTAB, ID_DYLIB, LOAD_DYLIB, UUID = (
    0x19, 0x2, 0xB, 0xD, 0xC, 0x1B)
SIGNATURE, STARTS, DATA_IN_CODE, BUILD, TRIE, FIXUPS = (
    0x1D, 0x26, 0x29, 0x32, 0x80000033, 0x80000034)
READ, WRITE, EXECUTE = 1, 2, 4


def text_at(data, at):
    return data[at:data.index(0, at)].decode()


def uleb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


class Segment:
    def __init__(self, data, at):
        (name, self.address, self.size, self.offset, self.in_file, self.most,
         self.begin, count, self.flags) = struct.unpack_from(
             "<16sQQQQiiII", data, at + 8)
        self.name = name.rstrip(b"\0").decode()
        self.sections = {}
        for i in range(count):
            section = struct.unpack_from("<16s16sQQIIIIIII", data,
                                         at + 72 + 80 * i)
            self.sections[section[0].rstrip(b"\0").decode()] = Section(*section)


class Section:
    def __init__(self, name, segment, address, size, offset, align, *rest):
        self.address, self.size, self.offset = address, size, offset
        self.align = 1 << align


class Library:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        (self.magic, self.cpu, self.subtype, self.type, count, size,
         self.flags, _) = struct.unpack_from("<IiiIIIII", self.data)
        self.commands, self.segments = [], {}
        at = 32
        for _ in range(count):
            kind, length = struct.unpack_from("<II", self.data, at)
            self.commands.append((kind, at))
            if kind == SEGMENT:
                segment = Segment(self.data, at)
                self.segments[segment.name] = segment
            at += length
        self.commands_end = at

    def at(self, kind):
        """Where the one command of that kind is."""
        found = [at for known, at in self.commands if known == kind]
        assert len(found) == 1, f"{len(found)} commands of kind {kind:#x}"
        return found[0]

    def fields(self, kind, form):
        return struct.unpack_from("<" + form, self.data, self.at(kind) + 8)

    def name_of(self, kind):
        at = self.at(kind)
        return text_at(self.data,
                       at + struct.unpack_from("<I", self.data, at + 8)[0])

    def link_edit(self, kind):
        """The bytes that a command of __LINKEDIT's points to."""
        offset, size = self.fields(kind, "II")
        return self.data[offset:offset + size]

    def exports(self):
        trie, found, seen = self.link_edit(TRIE), {}, set()

        def walk(at, prefix):
            assert at not in seen, "the trie has a loop"
            seen.add(at)
            size, at = uleb(trie, at)
            if size:
                flags, place = uleb(trie, at)
                found[prefix] = (flags, uleb(trie, place)[0])
            at += size
            children, at = trie[at], at + 1
            for _ in range(children):
                edge = text_at(trie, at)
                child, at = uleb(trie, at + len(edge) + 1)
                walk(child, prefix + edge)

        walk(0, "")
        return found

    def imports(self):
        """Names and the numbers of the libraries that they are of."""
        blob = self.link_edit(FIXUPS)
        (_, _, table, symbols, count, form, _) = struct.unpack_from("<7I", blob)
        assert form == 1, f"imports of format {form}"
        words = struct.unpack_from(f"<{count}I", blob, table)
        return {text_at(blob, symbols + (word >> 9)): word & 0xFF
                for word in words}

    def function_starts(self):
        table, at = self.link_edit(STARTS), 0
        address, found = self.segments["__TEXT"].address, []
        while at < len(table):
            step, at = uleb(table, at)
            if not step:
                break
            address += step
            found.append(address)
        return found

    def unwind_encodings(self):
        """(address, encoding) in ascending order, of regular and compressed
        pages of __unwind_info."""
        section = self.segments["__TEXT"].sections["__unwind_info"]
        blob = self.data[section.offset:section.offset + section.size]
        (version, common, commons, _, _, index,
         count) = struct.unpack_from("<7I", blob)
        assert version == 1
        base = self.segments["__TEXT"].address
        shared = struct.unpack_from(f"<{commons}I", blob, common)
        found = []
        for i in range(count - 1):
            first, page, _ = struct.unpack_from("<III", blob, index + 12 * i)
            (kind,) = struct.unpack_from("<I", blob, page)
            if kind == 2:
                entries, number = struct.unpack_from("<HH", blob, page + 4)
                found += [(base + a, e) for a, e in struct.iter_unpack(
                    "<II", blob[page + entries:page + entries + 8 * number])]
                continue
            assert kind == 3
            entries, number, own, owns = struct.unpack_from("<HHHH", blob,
                                                            page + 4)
            encodings = shared + struct.unpack_from(f"<{owns}I", blob,
                                                    page + own)
            for (word,) in struct.iter_unpack(
                    "<I", blob[page + entries:page + entries + 4 * number]):
                found.append((base + first + (word & 0xFFFFFF),
                              encodings[word >> 24]))
        return found

    def code_directory(self):
        """Header of the signature's CodeDirectory and its page hashes."""
        blob = self.link_edit(SIGNATURE)
        magic, _, count = struct.unpack_from(">III", blob)
        assert magic == 0xFADE0CC0
        slots = [struct.unpack_from(">II", blob, 12 + 8 * i)
                 for i in range(count)]
        at = dict(slots)[0]
        return Directory(blob, at)


class Directory:
    def __init__(self, blob, at):
        (magic, _, self.version, self.flags, hashes, identifier, self.special,
         count, self.limit, self.hash_size, self.hash_type, _, page,
         _) = struct.unpack_from(">9I4BI", blob, at)
        assert magic == 0xFADE0C02
        self.identifier = text_at(blob, at + identifier)
        self.page = 1 << page
        self.hashes = [blob[at + hashes + i * self.hash_size:
                            at + hashes + (i + 1) * self.hash_size]
                       for i in range(count)]

    def wanted(self, data):
        """What the hashes are to be."""
        return [hashlib.sha256(data[at:min(at + self.page, self.limit)]).digest()
                for at in range(0, self.limit, self.page)]
