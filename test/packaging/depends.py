"""depends.py DEPENDS PROGRAM...: what a Debian package's field Depends names is
what its programs are linked to: the packages that own the libraries which the
programs say they need, each of them and no other."""
import os
import re
import subprocess
import sys


def output(*words):
    return subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    ).stdout


def needed(program):
    dynamic = output("llvm-readelf", "--needed-libs", program)
    return re.findall(r"^ +(\S+\.so\S*)$", dynamic, re.M)


def owner(library):
    """The package that has the file: where the root's folders are links to
    those of /usr, it may be known by either name."""
    library = os.path.realpath(library)
    for name in (library, library.removeprefix("/usr")):
        found = output("dpkg-query", "--search", name)
        if found:
            return found.split(":")[0]
    sys.exit(f"no package has {library}")


named = set()
for alternative in sys.argv[1].split(","):
    package, version = re.fullmatch(
        r"([a-z0-9.+-]+)(?::\w+)?( \([<>=]+ [^)]+\))?", alternative.strip()
    ).groups()
    named.add(package)
wanted = {}
for program in sys.argv[2:]:
    libraries = needed(program)
    # As the loader finds them: name => path (address), or path (address).
    paths = re.findall(r"(\S+) \(0x", output("ldd", program))
    where = {os.path.basename(path): path for path in paths}
    if not libraries:
        sys.exit(f"{program} needs no library")
    for library in libraries:
        if library not in where:
            sys.exit(f"{program}: the loader does not find {library}")
        wanted.setdefault(owner(where[library]), set()).add(library)
for package in sorted(wanted):
    print(package, "for", *sorted(wanted[package]))
for package in sorted(set(wanted) - named):
    print(f"{package} is missing in Depends")
for package in sorted(named - set(wanted)):
    print(f"{package} is in Depends, and no program needs it")
sys.exit(set(wanted) != named)
