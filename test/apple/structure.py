"""What is to be true of every library for macOS.

    structure.py --system TBD NAME LIBRARY

NAME is the model's. TBD is what libraries are linked against. Prints what it
found; ends with an error where that is not what it has to be.
"""

import argparse
import os
import re

import macho
from macho import EXECUTE, READ, WRITE

parser = argparse.ArgumentParser()
parser.add_argument("--system", required=True)
parser.add_argument("name")
parser.add_argument("library")
arguments = parser.parse_args()
library = macho.Library(arguments.library)
PAGE = 0x4000  # of the system


def is_equal(what, found, wanted):
    if found != wanted:
        raise SystemExit(f"{what}: {found!r}, not {wanted!r}")


def is_true(what, holds):
    if not holds:
        raise SystemExit("not so: " + what)


# The header: arm64 (CPU_TYPE_ARM64, any subtype), MH_DYLIB; MH_NOUNDEFS,
# MH_DYLDLINK, MH_TWOLEVEL, MH_NO_REEXPORTED_DYLIBS.
is_equal("magic", library.magic, 0xFEEDFACF)
is_equal("CPU", (library.cpu, library.subtype), (0x100000C, 0))
is_equal("type", library.type, 6)
is_equal("flags", library.flags, 0x100085)

# Segments: in the order of the file, one behind the other, whole pages, and
# nothing is both written and run.
rights = {"__TEXT": READ | EXECUTE, "__DATA_CONST": READ | WRITE,
          "__DATA": READ | WRITE, "__LINKEDIT": READ}
is_true("segments of a known kind", set(library.segments) <= set(rights))
is_true("code, constants and tables for the loader",
        {"__TEXT", "__DATA_CONST", "__LINKEDIT"} <= set(library.segments))
address = 0
for segment in library.segments.values():
    is_equal(f"address of {segment.name}", segment.address, address)
    is_equal(f"rights of {segment.name}", (segment.begin, segment.most),
             (rights[segment.name],) * 2)
    is_equal(f"offset of {segment.name} in pages", segment.offset % PAGE, 0)
    is_true(f"{segment.name} is in the file",
            segment.offset + segment.in_file <= len(library.data))
    # SG_READ_ONLY: what the loader has written is not to be written again.
    is_equal(f"flags of {segment.name}", segment.flags,
             0x10 if segment.name == "__DATA_CONST" else 0)
    address += (segment.size + PAGE - 1) // PAGE * PAGE
    for name, section in segment.sections.items():
        is_equal(f"alignment of {name}", section.address % section.align, 0)
        is_true(f"{name} lies in {segment.name}",
                segment.address <= section.address and
                section.address + section.size <=
                segment.address + segment.size)
sections = {name for segment in library.segments.values()
            for name in segment.sections}
is_true("nothing runs when it is loaded, nothing is of a thread",
        not sections & {"__mod_init_func", "__init_offsets", "__thread_vars",
                        "__thread_data", "__thread_bss"})
print("segments:", " ".join(library.segments))

# Load commands: each once but for segments.
kinds = [kind for kind, _ in library.commands if kind != macho.SEGMENT]
is_equal("load commands", sorted(kinds), sorted([
    macho.FIXUPS, macho.TRIE, macho.SYMTAB, macho.DYSYMTAB, macho.ID_DYLIB,
    macho.UUID, macho.BUILD, macho.LOAD_DYLIB, macho.STARTS,
    macho.DATA_IN_CODE, macho.SIGNATURE]))
is_equal("install name", library.name_of(macho.ID_DYLIB),
         "@rpath/" + os.path.basename(arguments.library))
is_equal("what is loaded", library.name_of(macho.LOAD_DYLIB),
         "/usr/lib/libSystem.B.dylib")
platform, least, sdk, _ = library.fields(macho.BUILD, "IIII")
is_equal("platform, oldest version, SDK", (platform, least, sdk),
         (1, 13 << 16, 13 << 16))
(uuid,) = library.fields(macho.UUID, "16s")
is_true("it has a UUID", any(uuid))
print("uuid:", uuid.hex())

# Symbols.
is_equal("exports", sorted(library.exports()),
         sorted(["_" + arguments.name + "_library", "_kvc_library"]))
with open(arguments.system) as file:
    known = set(re.findall(r"^ +- (_\w+)$", file.read(), re.MULTILINE))
imports = library.imports()
is_true("imports are in the list", set(imports) <= known)
is_equal("library that imports are of", set(imports.values()), {1})
print(f"imports: {len(imports)} of {len(known)}")

# The signature: ad hoc, by the linker (CS_ADHOC, CS_LINKER_SIGNED), of all
# before itself, by SHA-256.
directory = library.code_directory()
offset, _ = library.fields(macho.SIGNATURE, "II")
is_equal("flags of the signature", directory.flags, 0x20002)
is_equal("identifier", directory.identifier, os.path.basename(arguments.library))
is_equal("what is signed", directory.limit, offset)
is_equal("hash", (directory.hash_type, directory.hash_size), (2, 32))
is_equal("hashes of pages", directory.hashes, directory.wanted(library.data))
print(f"signature: {len(directory.hashes)} pages of {directory.page}")

# Who called is known of each function: compact, or by __eh_frame.
starts = library.function_starts()
encodings = library.unwind_encodings()
text = library.segments["__TEXT"].sections["__text"]
is_true("functions lie in __text", all(
    text.address <= start < text.address + text.size for start in starts))
entries = iter(encodings + [(1 << 63, 0)])
(_, encoding), (border, following) = (0, 0), next(entries)
for start in starts:
    while border <= start:
        encoding = following
        border, following = next(entries)
    is_true(f"the function at {start:#x} can be unwound", encoding != 0)
print("unwind: all functions")
