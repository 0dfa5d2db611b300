"""output.py full|stdout|kinds|signals KVC FOLDER [TRACE]: what kvc leaves in
the file system, in FOLDER/out and FOLDER/tmp. FOLDER/tiny.yaml is a spec."""
import os
import resource
import signal
import stat
import subprocess
import sys
import time

what, kvc, folder = sys.argv[1:4]
os.chdir(folder)
os.environ["TMPDIR"] = os.path.abspath("tmp")
SPEC = "tiny.yaml"


def run(arguments, blocks=None, **options):
    """kvc, whose files may have so many bytes."""

    def limit():
        if blocks is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (blocks, blocks))

    return subprocess.run([kvc, *arguments], preexec_fn=limit, text=True,
                          stderr=subprocess.PIPE, **options)


def left():
    return sorted(os.listdir("out")), sorted(os.listdir("tmp"))


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def clear():
    for name in os.listdir("out"):
        os.remove(os.path.join("out", name))


def expect_error(result, path, reason):
    assert result.returncode == 1, (result.args, result.returncode, result.stderr)
    assert result.stderr.startswith(f"kvc: error: cannot write '{path}"), result.stderr
    assert reason in result.stderr, result.stderr
    assert "LLVM" not in result.stderr, result.stderr


def full():
    commands = {f"x.{suffix}": ["compile", SPEC] for suffix in
                ("s", "ll", "mlir", "h", "o", "a", "so")}
    commands["k.spv"] = ["compile", SPEC, "--gpu", "vulkan"]
    commands["schema"] = ["schema"]
    commands["bash"] = ["completions", "bash"]
    for name, command in commands.items():
        path = "out/" + name
        write("out/x.h", "older")
        write(path, "older")
        before = left()
        # Not even the header has room; it has, and the library has not.
        for size in (100, 50000):
            if size > 100 and not name.endswith((".s", ".a", ".so", ".o", ".ll")):
                continue
            result = run([*command, "-o", path], blocks=size)
            named = path
            if size == 100 and name.endswith((".a", ".so")):
                named = "out/x.h"
            elif name.endswith(".so"):
                # The object file that is linked lies elsewhere.
                named = os.path.join(os.environ["TMPDIR"], "kvc-")
            expect_error(result, named, "File too large")
            assert read(path) == "older" == read("out/x.h"), (name, size)
            assert left() == before, (name, left())
        clear()
    result = run(["report", SPEC, "--plot", "out/p.svg"], blocks=100,
                 stdout=subprocess.DEVNULL)
    expect_error(result, "out/p.svg", "File too large")
    assert left() == ([], []), left()
    # The library that it loads has no room: no fault of kvc's.
    result = run(["bench", SPEC, "--tokens", "8"], blocks=100)
    assert result.returncode == 1, result
    assert "File too large" in result.stderr, result.stderr
    assert left() == ([], []), left()


def stdout():
    for command in (["schema"], ["--help"], ["compile", "--help"],
                    ["completions", "zsh"], ["report", SPEC],
                    ["report", SPEC, "--json"],
                    ["compile", SPEC, "--emit", "kv"],
                    ["compile", SPEC, "--emit", "asm"]):
        with open("/dev/full", "w", encoding="utf-8") as device:
            result = run(command, stdout=device)
        assert result.returncode == 1, (command, result)
        assert result.stderr == ("kvc: error: cannot write to standard output: "
                                 "No space left on device\n"), result.stderr
    for command in (["schema"], ["compile", SPEC, "--emit", "ir"]):
        expect_error(run([*command, "-o", "/dev/full"]), "/dev/full",
                     "No space left on device")
    # To nobody.
    with open("/dev/full", "w", encoding="utf-8") as device:
        assert subprocess.run([kvc, "fly"], stderr=device).returncode == 1


def kinds():
    compiled = ["compile", SPEC, "-o"]
    assert run([*compiled, "out/plain.s"]).returncode == 0
    plain = read("out/plain.s")
    # A device and a pipe stay what they are.
    for emit in ("asm", "library"):
        assert run([*compiled, "/dev/null", "--emit", emit]).returncode == 0
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    os.mkfifo("out/fifo")
    for arguments in ([*compiled, "out/fifo", "--emit", "asm"],
                      [*compiled, "out/fifo", "--emit", "library"]):
        with subprocess.Popen([kvc, *arguments]) as process:
            with open("out/fifo", "rb") as pipe:
                got = pipe.read()
        assert process.returncode == 0
        assert got == plain.encode() if "asm" in arguments else len(got) > 10000
        assert stat.S_ISFIFO(os.stat("out/fifo").st_mode)
        assert not os.path.exists("out/fifo.h")
    # Where this process is in a file, not over it.
    with open("out/log", "w", encoding="utf-8") as log:
        log.write("head\n")
        log.flush()
        assert run(["schema", "-o", "/dev/stdout"], stdout=log).returncode == 0
        log.write("tail\n")
    log = read("out/log")
    assert log.startswith("head\n{") and log.endswith("}\ntail\n"), log
    # Links, one of them to what is not there yet.
    for target, mode in (("out/real.s", 0o640), ("out/none.s", None)):
        if mode:
            write(target, "older")
            os.chmod(target, mode)
        os.symlink(os.path.basename(target), "out/link.s")
        assert run([*compiled, "out/link.s"]).returncode == 0
        assert os.path.islink("out/link.s")
        assert read(target) == plain
        if mode:
            assert stat.S_IMODE(os.stat(target).st_mode) == mode
        os.remove("out/link.s")
    os.symlink("loop", "out/loop")
    expect_error(run(["schema", "-o", "out/loop"]), "out/loop",
                 "too many symbolic links")
    write("out/x.so", "older")
    os.chmod("out/x.so", 0o700)
    assert run([*compiled, "out/x.so"]).returncode == 0
    assert stat.S_IMODE(os.stat("out/x.so").st_mode) == 0o700
    # Neither of two where one has no place.
    os.remove("out/x.h")
    os.mkdir("out/x.h")
    write("out/x.so", "older")
    expect_error(run([*compiled, "out/x.so"]), "out/x.h", "it is a folder")
    assert read("out/x.so") == "older"
    os.rmdir("out/x.h")
    clear()
    assert left() == ([], []), left()


def signals(trace):
    """Each command is interrupted when its temporary files are there."""
    write("four.yaml", """
kvc: 1
name: four
model: {layers: 4, heads: 9, kv_heads: 3, head_dim: 64, rope: {theta: 100000}}
cache: {keys: {bits: 4, per: channel, group: 32}, values: f16, window: 100}
""")
    commands = [["compile", SPEC, "-o", "out/x.so"],
                ["compile", SPEC, "-o", "out/x.a"],
                ["compile", SPEC, "-o", "out/x.dylib"],
                ["verify", SPEC], ["verify", "--summary", "four.yaml", "--trace", trace],
                ["fuzz", "--count", "100000"], ["bench", SPEC],
                ["eval", "four.yaml", "--trace", trace]]
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def heed():
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)

    def ignore():
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)

    # What is to be ignored is, as under nohup.
    with subprocess.Popen([kvc, *commands[0]], preexec_fn=ignore) as process:
        while left() == ([], []) and process.poll() is None:
            time.sleep(0.001)
        for number in numbers:
            process.send_signal(number)
    assert process.returncode == 0, process.returncode
    assert left() == (["x.h", "x.so"], []), left()
    clear()
    for number in numbers:
        for command in commands:
            with subprocess.Popen([kvc, *command], preexec_fn=heed,
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE) as process:
                while left() == ([], []) and process.poll() is None:
                    time.sleep(0.001)
                assert process.poll() is None, command
                process.send_signal(number)
                said = process.stderr.read()
            assert process.returncode == -number, (command, process.returncode, said)
            assert left() == ([], []), (command, left())


globals()[what](*sys.argv[4:])
