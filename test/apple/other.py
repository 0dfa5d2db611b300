"""other.py FOLDER INCLUDE KVC: dylibs that clang and lld make of other.c, and
what kvc says where it is asked to run them. FOLDER is filled."""

import os
import subprocess
import sys

folder, include, kvc = sys.argv[1:]
inputs = os.path.join(os.path.dirname(__file__), "Inputs")
ABORTED = "the runner was ended by signal Aborted"
FAULT = "the runner was ended by signal Segmentation fault"
SAYS = {
    "NOTHING": "kvc_library() gives no table",
    "X18_AND_RETURN": "changed x18, which is Apple's own, before it returned",
    "X18_AND_CALL": "changed x18, which is Apple's own, before it called _free",
    "X18_OF_A_CALL": "kvc_library() gives no table",
    "WRITES_TEXT": FAULT,
    "WRITES_CONST": FAULT,
    "THREAD_LOCAL": "has thread-local storage",
    "CONSTRUCTOR": "has initialisers",
    "VARIADIC": "import '_open' is variadic",
    "UNKNOWN": "import '_abs' is none that a library of kvc may have",
    "DATA": "import '_optind' is none that a library of kvc may have",
}

os.makedirs(folder, exist_ok=True)
wrong = 0
for name, text in SAYS.items():
    stem = os.path.join(folder, name)
    subprocess.run(
        ["clang", "--target=arm64-apple-macos13.0", "-O1", "-ffreestanding",
         "-nostdlibinc", "-fvisibility=hidden", "-I" + include, "-D" + name,
         "-c", os.path.join(inputs, "other.c"), "-o", stem + ".o"], check=True)
    subprocess.run(
        ["ld64.lld", "-arch", "arm64", "-platform_version", "macos", "13.0",
         "13.0", "-dylib", "-install_name", "@rpath/other.dylib", "-o",
         stem + ".dylib", stem + ".o", os.path.join(inputs, "system.tbd")],
        check=True)
    run = subprocess.run(
        [kvc, "run", stem + ".dylib", "--trace", stem, "-o", stem + ".out"],
        stderr=subprocess.PIPE, encoding="utf-8")
    if run.returncode != 1 or text not in run.stderr:
        print(f"{name}: ends with {run.returncode}: {run.stderr}"
              f"  should say: {text}")
        wrong += 1
    if text.startswith("changed") and ABORTED not in run.stderr:
        print(f"{name}: is not ended: {run.stderr}")
        wrong += 1
print(f"{len(SAYS)} dylibs, {wrong} wrong")
sys.exit(wrong)
