"""The ways in which spoil.py spoils a dylib, each in one place, with a part of
what the loader has to say. All are signed anew unless they say UNSIGNED."""

import struct

UNSIGNED = "unsigned"


def in_header(offset, value):
    return lambda d: d.put(offset, value)


def in_command(name, offset, value, kind="I"):
    """`value` may be a function of what is there."""
    return lambda d: change(d, d.commands[name] + offset, value, kind)


def in_segment(name, offset, value, kind="I"):
    return lambda d: change(d, d.segments[name] + offset, value, kind)


def in_section(name, offset, value, kind="I"):
    return lambda d: change(d, d.sections[name] + offset, value, kind)


def in_fixups(offset, value, kind="I"):
    return lambda d: change(d, d.fixups() + offset, value, kind)


def in_starts(offset, value, kind="I"):
    return lambda d: change(d, d.starts("__DATA_CONST") + offset, value, kind)


def in_directory(offset, value, kind="I"):
    def spoil(d):
        d.put_big(d.directory() + offset, value, kind)
    return spoil


def in_signature(offset, value):
    return lambda d: d.put_big(d.linkedit("CODE_SIGNATURE")[0] + offset, value)


def change(d, offset, value, kind):
    d.put(offset, value(d.at(offset, kind)) if callable(value) else value, kind)


def removed(name):
    return lambda d: d.remove(name)


def in_place(binds, value):
    """The first place that is fixed up, and is or is not a bind."""
    def spoil(d):
        place, pointer = next(
            (p, v) for p, v in d.places() if v >> 63 == binds
        )
        d.put(place, value(pointer), "Q")
    return spoil


def in_import(value):
    return lambda d: change(d, next(d.imports())[0], value, "I")


def import_named(name):
    """A name in the place of one that is as long or longer."""
    def spoil(d):
        where = next(
            place for _, place, there in d.imports() if len(there) >= len(name)
        )
        d.data[where : where + len(name) + 1] = name.encode() + b"\0"
    return spoil


def renamed_section(name):
    def spoil(d):
        where = d.segments["__DATA_CONST"] + 8
        d.data[where : where + 16] = name.encode().ljust(16, b"\0")
    return spoil


def command_text(name, text):
    """In the room that its name has."""
    def spoil(d):
        where = d.commands[name]
        room = d.at(where + 4) - d.at(where + 8)
        where += d.at(where + 8)
        d.data[where : where + room] = text.encode().ljust(room, b"\0")[:room]
    return spoil


def unended(name):
    def spoil(d):
        where = d.commands[name]
        begin, end = d.at(where + 8), d.at(where + 4)
        d.data[where + begin : where + end] = b"x" * (end - begin)
    return spoil


def in_trie(search, found):
    """Other bytes for those, which are there."""
    def spoil(d):
        begin, size = d.linkedit("EXPORTS_TRIE")
        where = d.data.index(search, begin, begin + size)
        d.data[where : where + len(found)] = found
    return spoil


def last_export(d):
    """Its node, behind which there is nothing but padding: a size, flags 0, an
    address, no edges."""
    begin, length = d.linkedit("EXPORTS_TRIE")
    end = begin + len(d.data[begin : begin + length].rstrip(b"\0"))
    return next(n for n in (end - 3, end - 4, end - 5) if n + d.data[n] + 1 == end)


def in_meaning(offset, *found):
    def spoil(d):
        node = last_export(d) + offset
        d.data[node : node + len(found)] = bytes(found)
    return spoil


def trie_again(d):
    """The last node's edge leads to the first node: round and round."""
    begin, size = d.linkedit("EXPORTS_TRIE")
    text = d.data.index(b"library\0", begin, begin + size)
    d.data[text + 8] = 0


def appended(d):
    d.data += bytes(16)


def shortened(d):
    del d.data[-1:]


def changed_code(d):
    where = d.at(d.sections["__text"] + 48)
    d.data[where] ^= 1


def linkedit_at(name, other):
    """One piece of __LINKEDIT where another one is."""
    def spoil(d):
        d.put(d.commands[name] + 8, d.linkedit(other)[0])
    return spoil


def first_fixups_of_text(d):
    """__TEXT has the starts that __DATA_CONST has."""
    image = d.fixups() + d.at(d.fixups() + 4)
    number = list(d.segments).index("__DATA_CONST")
    d.put(image + 4, d.at(image + 4 + 4 * number))


HEADERS = [
    (in_header(0, 0xFEEDFACE), "it begins with 0xfeedface"),
    (in_header(4, 0x01000007), "its CPU type is 0x1000007, arm64 is"),
    (in_header(8, 2), "its CPU subtype is 0x2"),
    (in_header(12, 2), "its file type is 2"),
    (in_header(16, 1000), "begins at the end of all of them"),
    (lambda d: d.put(16, d.at(16) - 1), "load commands have"),
    (in_header(20, 0x7FFFFFF8), "its load commands have 2147483640 bytes"),
    (lambda d: d.put(20, d.at(20) + 8), "load commands have"),
    (lambda d: d.put(20, d.at(20) - 8), "beyond the end of all of them"),
    (lambda d: d.put(24, d.at(24) & ~0x80), "lack MH_DYLDLINK or MH_TWOLEVEL"),
    (lambda d: d.put(24, d.at(24) & ~0x4), "lack MH_DYLDLINK or MH_TWOLEVEL"),
    (lambda d: d.put(24, d.at(24) | 0x8000), "its flags have 0x8000"),
    (lambda d: d.put(24, d.at(24) | 0x800000), "say that it has thread-local storage"),
    (in_header(28, 1), "the reserved word of its header"),
]

COMMANDS = [
    (removed("SYMTAB"), "it has no LC_SYMTAB"),
    (removed("DYSYMTAB"), "it has no LC_DYSYMTAB"),
    (removed("ID_DYLIB"), "it has no LC_ID_DYLIB"),
    (removed("LOAD_DYLIB"), "it has no LC_LOAD_DYLIB"),
    (removed("UUID"), "it has no LC_UUID"),
    (removed("BUILD_VERSION"), "it has no LC_BUILD_VERSION"),
    (removed("CHAINED_FIXUPS"), "it has no LC_DYLD_CHAINED_FIXUPS"),
    (removed("EXPORTS_TRIE"), "it has no LC_DYLD_EXPORTS_TRIE"),
    (removed("CODE_SIGNATURE"), "it has no LC_CODE_SIGNATURE"),
    (in_command("UUID", 0, 0x1C), "is 0x1c, which this loader does not know"),
    (in_command("LOAD_DYLIB", 0, 0x80000018), "is 0x80000018, which"),
    (in_command("DATA_IN_CODE", 0, 0x26), "is a second LC_FUNCTION_STARTS"),
    (in_command("LOAD_DYLIB", 0, 0xD), "is a second LC_ID_DYLIB"),
    (in_command("SYMTAB", 4, 0), "has 0 bytes: not at least 8"),
    (in_command("SYMTAB", 4, 28), "has 28 bytes: not at least 8"),
    (in_command("SYMTAB", 4, 0xFFFFFFF8), "has 4294967288 bytes"),
    (in_command("SYMTAB", 4, 16), "(0x2) has 16 bytes, not 24"),
    (in_command("DYSYMTAB", 4, 24), "(0xb) has 24 bytes, not 80"),
    (in_command("UUID", 4, 16), "(0x1b) has 16 bytes, not 24"),
    (in_command("CHAINED_FIXUPS", 4, 8), "(0x80000034) has 8 bytes, not 16"),
    (in_command("EXPORTS_TRIE", 4, 8), "(0x80000033) has 8 bytes, not 16"),
    (in_command("FUNCTION_STARTS", 4, 8), "(0x26) has 8 bytes, not 16"),
    (in_command("CODE_SIGNATURE", 4, 8), "(0x1d) has 8 bytes, not 16"),
    (in_command("UUID", 0, 0x2A), "(0x2a) has 24 bytes, not 16"),
    (in_command("ID_DYLIB", 8, 4), "has no name that ends within it"),
    (in_command("ID_DYLIB", 8, 0xFFFFFFFF), "has no name that ends within it"),
    (unended("ID_DYLIB"), "has no name that ends within it"),
    (command_text("ID_DYLIB", "/lib/x"), "its install name '/lib/x' is not"),
    (command_text("ID_DYLIB", "@rpath/"), "its install name '@rpath/' is not"),
    (unended("LOAD_DYLIB"), "has no name that ends within it"),
    (command_text("LOAD_DYLIB", "/usr/lib/libc++.1.dylib"), "it needs '/usr/lib/libc++.1.dylib'"),
    (in_command("BUILD_VERSION", 8, 2), "it is for platform 2, macOS is 1"),
    (in_command("BUILD_VERSION", 12, 13 << 16 | 1 << 8), "it wants macOS 13.1.0"),
    (in_command("BUILD_VERSION", 12, 14 << 16), "it wants macOS 14.0.0"),
    (in_command("BUILD_VERSION", 20, 0x20000000), "LC_BUILD_VERSION, has"),
    (in_command("BUILD_VERSION", 20, 0), "LC_BUILD_VERSION, has 32 bytes for 0 tools"),
    (lambda d: d.data.__setitem__(slice(d.commands["UUID"] + 8, d.commands["UUID"] + 24), bytes(16)), "its UUID is zeros"),
]

SEGMENTS = [
    (in_segment("__DATA_CONST", 24, 0x4008, "Q"), "__DATA_CONST does not begin and end at pages"),
    (in_segment("__DATA_CONST", 24, 0x5000, "Q"), "__DATA_CONST does not begin and end at pages"),
    (in_segment("__TEXT", 32, 0x3000, "Q"), "__TEXT does not begin and end at pages"),
    (in_segment("__TEXT", 24, 1 << 63, "Q"), "__TEXT has"),
    (in_segment("__LINKEDIT", 32, 1 << 31, "Q"), "__LINKEDIT has 2147483648 bytes"),
    (in_segment("__LINKEDIT", 32, 0, "Q"), "__LINKEDIT has 0 bytes"),
    (in_segment("__LINKEDIT", 32, 16, "Q"), "more bytes in the file than in memory"),
    (in_segment("__LINKEDIT", 24, 0, "Q"), "__LINKEDIT begins within"),
    (in_segment("__LINKEDIT", 40, 0, "Q"), "__LINKEDIT has bytes of the file that"),
    (in_segment("__LINKEDIT", 48, lambda size: size - 16, "Q"), "and __LINKEDIT ends at"),
    (in_segment("__LINKEDIT", 40, 1 << 40, "Q"), "of a file of"),
    (in_segment("__LINKEDIT", 40, (1 << 64) - 0x4000, "Q"), "of a file of"),
    (in_segment("__TEXT", 60, 7), "segment __TEXT begins with rights 7 and may have 5"),
    (in_segment("__TEXT", 56, 7), "__TEXT can be written and executed"),
    (in_segment("__TEXT", 60, 1), "__TEXT has rights 1 of at most 5"),
    (in_segment("__DATA_CONST", 60, 1), "__DATA_CONST has rights 1 of at most 3"),
    (in_segment("__DATA_CONST", 68, 0), "__DATA_CONST has flags 0"),
    (in_segment("__LINKEDIT", 56, 3), "__LINKEDIT has rights 1 of at most 3"),
    (in_segment("__TEXT", 68, 4), "__TEXT has flags 0x4, not 0"),
    (renamed_section("__OTHER"), "segment __OTHER is none that a library"),
    (renamed_section("__TEXT"), "segment __TEXT is there twice"),
    (in_segment("__TEXT", 64, 0x2000000), "which its sections do not fill"),
    (in_segment("__TEXT", 64, 0), "which its sections do not fill"),
    (appended, "and __LINKEDIT ends at"),
    (shortened, "__LINKEDIT has", UNSIGNED),
]

SECTIONS = [
    (in_section("__const", 64, 0x11), "section __const has thread-local storage"),
    (in_section("__const", 64, 0x12), "section __const has thread-local storage"),
    (in_section("__const", 64, 0x13), "section __const has thread-local storage"),
    (in_section("__const", 64, 0x15), "section __const has thread-local storage"),
    (in_section("__const", 64, 0x9), "section __const has initialisers"),
    (in_section("__const", 64, 0xA), "section __const has initialisers"),
    (in_section("__const", 64, 0x16), "section __const has initialisers"),
    (in_section("__const", 64, 0x7), "section __const has type 0x7, which"),
    (in_section("__const", 64, 0xB), "section __const has type 0xb, which"),
    (in_section("__const", 64, 0x1), "is zeros and has bytes of the file"),
    (in_section("__const", 52, 15), "is not aligned to 2^15"),
    (in_section("__text", 32, lambda address: address + 1, "Q"), "is not aligned to"),
    (in_section("__const", 32, 0x10, "Q"), "section __const"),
    (in_section("__const", 40, 1 << 62, "Q"), "is not within its segment"),
    (in_section("__const", 40, (1 << 64) - 8, "Q"), "is not within its segment"),
    (in_section("__const", 48, lambda offset: offset + 8), "where its address does not have them"),
    (in_section("__text", 60, 1), "has relocations of an object file"),
    (in_section("__const", 16, 0x41), "says that it is in A"),
    (in_section("__stubs", 68, 4000), "names indirect symbols from 4000"),
    (in_section("__stubs", 72, 0), "names indirect symbols"),
    (in_section("__got", 68, 0xFFFFFFFF), "names indirect symbols"),
]

LINKEDIT = [
    (in_command("SYMTAB", 8, 0x7FFFFFF8), "LC_SYMTAB: symbols"),
    (in_command("SYMTAB", 12, 0xFFFFFFFF), "LC_SYMTAB: symbols"),
    (in_command("SYMTAB", 16, 8), "LC_SYMTAB: names"),
    (in_command("SYMTAB", 20, 0x7FFFFFFF), "LC_SYMTAB: names"),
    (in_command("SYMTAB", 8, lambda offset: offset + 4), "are not aligned to 8"),
    (in_command("CHAINED_FIXUPS", 8, 0), "LC_DYLD_CHAINED_FIXUPS"),
    (in_command("EXPORTS_TRIE", 12, 0xFFFFFFF0), "LC_DYLD_EXPORTS_TRIE"),
    (linkedit_at("EXPORTS_TRIE", "CHAINED_FIXUPS"), "LC_DYLD_EXPORTS_TRIE share bytes"),
    (linkedit_at("FUNCTION_STARTS", "EXPORTS_TRIE"), "share bytes"),
    (in_command("DYSYMTAB", 28, 0xFFFF), "names symbols beyond"),
    (in_command("DYSYMTAB", 24, 0xFFFFFFFF), "names symbols beyond"),
    (in_command("DYSYMTAB", 76, 1), "has modules or relocations"),
    (in_command("DYSYMTAB", 60, 0xFFFF), "LC_DYSYMTAB: indirect symbols"),
    (lambda d: d.put(d.at(d.commands["DYSYMTAB"] + 56), 0x3FFFFFFF), "is symbol 1073741823 of"),
    (lambda d: d.put(d.at(d.commands["SYMTAB"] + 8), 0x7FFFFFFF), "symbol 0 has a name at 2147483647"),
    (lambda d: d.put(d.at(d.commands["SYMTAB"] + 8) + 5, 200, "B"), "of section 200 of"),
    (lambda d: d.put(d.at(d.commands["SYMTAB"] + 8) + 8, 1 << 50, "Q"), "is at 0x4000000000000"),
    (lambda d: d.put(d.linkedit("FUNCTION_STARTS")[0], 0x7FFFFF, "I"), "LC_FUNCTION_STARTS"),
    (in_command("DATA_IN_CODE", 12, 4), "LC_DATA_IN_CODE"),
]

FIXUPS = [
    (in_command("CHAINED_FIXUPS", 12, 8), "chained fixups: they have 8 bytes"),
    (in_fixups(0, 1), "their version is 1, not 0"),
    (in_fixups(4, 0xFFFFFFFF), "starts at 4294967295 are beyond"),
    (in_fixups(8, 0xFFFFFFFC), "imports at 4294967292, or their names"),
    (in_fixups(12, 0xFFFFFFFC), "or their names at 4294967292"),
    (in_fixups(16, 0xFFFFFFFF), "4294967295 imports at"),
    (in_fixups(20, 2), "imports have format 2"),
    (in_fixups(24, 1), "names have format 1"),
    (in_fixups(32, 1), "starts of 1 segments"),
    (in_fixups(32, 0xFFFFFFFF), "starts of 4294967295 segments"),
    (in_fixups(40, 0xFFFFFF0), "starts of __DATA_CONST are beyond their end"),
    (first_fixups_of_text, "chained fixups: __TEXT cannot be written"),
    (in_starts(0, 0xFFFFFF), "starts of __DATA_CONST"),
    (in_starts(0, 22), "starts of __DATA_CONST"),
    (in_starts(4, 0x1000, "H"), "has pages of 4096 bytes, not 16384"),
    (in_starts(6, 1, "H"), "has pointer format 1"),
    (in_starts(6, 12, "H"), "has pointer format 12"),
    (in_starts(8, 0, "Q"), "is said to be at 0"),
    (in_starts(16, 1), "has a largest pointer"),
    (in_starts(20, 0xFFFF, "H"), "starts of __DATA_CONST"),
    (in_starts(22, 0x3FFC, "H"), "is beyond its page or segment"),
    (in_starts(22, 2, "H"), "or not aligned"),
    (in_starts(22, 0x8000, "H"), "is beyond its page or segment"),
    (in_place(1, lambda p: p | 0xFFF << 51), "is beyond its page or segment"),
    (in_place(1, lambda p: p & ~(0xFFF << 51) | 1 << 51), "is within it"),
    (in_place(1, lambda p: p | 0xFFFFFF), "wants import 16777215 of"),
    (in_place(1, lambda p: p | 1 << 40), "has reserved bits"),
    (in_place(1, lambda p: p | 8 << 24), "wants 8 bytes behind an import"),
    (in_place(0, lambda p: p | 1 << 35), "which is in no segment"),
    (in_place(0, lambda p: p | 1 << 36), "has a tag or reserved bits"),
    (in_place(0, lambda p: p | 1 << 44), "has a tag or reserved bits"),
    (in_import(lambda i: i & ~0xFF | 2), "is of library 2, libSystem is 1"),
    (in_import(lambda i: i & ~0xFF), "is of library 0"),
    (in_import(lambda i: i | 0xFE), "is of library 25"),
    (in_import(lambda i: i | 0x100), "is weak"),
    (in_import(lambda i: i | 0xFFFFFE00), "has a name beyond their end"),
    (import_named("_xyz"), "import '_xyz' is none that a library of kvc may have"),
    (import_named("_exp"), "import '_exp' is none that"),
    (import_named("_open"), "import '_open' is variadic"),
    (import_named("_fcntl"), "import '_fcntl' is variadic"),
    (import_named("_printf"), "import '_printf' is variadic"),
]

EXPORTS = [
    (in_trie(b"library\0", b"librar\xff\xff"), "LC_DYLD_EXPORTS_TRIE: node"),
    (trie_again, "two edges lead to it"),
    (in_meaning(1, 4), "its export is weak"),
    (in_meaning(1, 8), "of another library or has a resolver"),
    (in_meaning(0, 2), "LC_DYLD_EXPORTS_TRIE: node"),
    (in_meaning(0, 100), "LC_DYLD_EXPORTS_TRIE: node"),
    (in_meaning(0, 4, 0, 0xFF, 0xFF, 0x7F, 0), "its address is in no segment"),
    (lambda d: d.put(d.linkedit("EXPORTS_TRIE")[0] + 1, 255, "B"), "LC_DYLD_EXPORTS_TRIE: node 0"),
    (lambda d: d.put(d.linkedit("EXPORTS_TRIE")[0], 0xFFFFFFFF), "LC_DYLD_EXPORTS_TRIE: node 0"),
]

SIGNATURE = [
    (changed_code, "is not what was signed", UNSIGNED),
    (lambda d: d.put(d.commands["UUID"] + 8, 0), "the page at 0 is not what was signed", UNSIGNED),
    (lambda d: change(d, d.signed[0], lambda b: b ^ 1, "B"), "the page at 0 is not what was signed", UNSIGNED),
    # The last byte of all before it may end a name, which is looked at first.
    (lambda d: change(d, d.linkedit_begin - 2, lambda b: b ^ 1, "B"), "is not what was signed", UNSIGNED),
    (in_command("CODE_SIGNATURE", 12, 32), "do not end the file"),
    (in_signature(0, 0xFADE0CC1), "it begins with 0xfade0cc1"),
    (in_signature(4, 0x7FFFFFFF), "it says 2147483647 bytes of"),
    (in_signature(8, 2), "it has 2 parts"),
    (in_signature(12, 0x10000), "the first of type 0x10000"),
    (in_signature(16, 0x7FFFFFFF), "code directory: at 2147483647"),
    (in_signature(16, 0), "code directory: at 0 of"),
    (in_directory(0, 0xFADE0C01), "it begins with 0xfade0c01"),
    (in_directory(4, 0x7FFFFFFF), "it says 2147483647 bytes of"),
    (in_directory(8, 0x20300), "its version is 0x20300"),
    (in_directory(12, 0x20000), "not ad hoc"),
    (in_directory(12, 0x10002), "not ad hoc"),
    (in_directory(16, 0x7FFFFFFF), "are beyond its"),
    (in_directory(20, 0x7FFFFFFF), "it has no identifier"),
    (in_directory(24, 1), "special slots"),
    (in_directory(28, 1), "it has 1 hashes for"),
    (in_directory(32, 4096), "it signs 4096 bytes, not"),
    (in_directory(36, 20, "B"), "not SHA-256"),
    (in_directory(37, 1, "B"), "its hashes have type 1"),
    (in_directory(38, 1, "B"), "a platform"),
    (in_directory(39, 13, "B"), "its pages have 2^13 bytes"),
    (in_directory(39, 14, "B"), "hashes for"),
    (in_directory(48, 1), "a team"),
    (in_directory(64, 4096, "Q"), "what it says to be code is not __TEXT"),
    (in_directory(80, 1, "Q"), "a main program's"),
]

SPOILS = (
    HEADERS + COMMANDS + SEGMENTS + SECTIONS + LINKEDIT + FIXUPS + EXPORTS
    + SIGNATURE
)
