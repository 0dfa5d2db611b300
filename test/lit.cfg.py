"""lit over test/: text is checked by FileCheck, unit tests are programs.

Run by `ninja check-kvc`; by hand `lit-22 -v build/test --filter dialect`.
"""
import glob
import os
import platform
import shutil
import sys

import lit.formats

config.name = "kvc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".yaml", ".test"]
# Inputs are read by tests and are none; unit/ has a configuration of its own.
config.excludes = ["Inputs", "bench", "data"]
config.test_source_root = os.path.dirname(__file__)

config.environment["PATH"] = os.pathsep.join(
    [config.kvc_bin_dir, config.llvm_tools_dir, os.environ["PATH"]]
)
# Reports of sanitizers end a test.
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment.setdefault(
    "UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1"
)
# LLVM's allocators poison memory where kvc inlines them, and libMLIR, which has
# no sanitizer, would hand it out again without telling.
# Likewise libc++ marks what containers do not use, and libraries of a system
# that has it take containers over without telling.
config.environment.setdefault(
    "ASAN_OPTIONS", "allow_user_poisoning=0:detect_container_overflow=0"
)

# Tools, so that a test names `%kvc-opt` or, found by PATH, `kvc-opt`.
for tool in (
    "kvc-opt", "kvc-lsp-server", "kvc-test", "kvc-remote-aarch64-linux",
    "kvc-remote-arm64-macos", "kvc-remote", "kvc",
):
    config.substitutions.append(
        (rf"%{tool}(?![-\w])", os.path.join(config.kvc_bin_dir, tool))
    )
config.substitutions += [
    ("%kvc-bin", config.kvc_bin_dir),
    ("%specs", os.path.join(config.kvc_source_dir, "specs")),
    ("%data", os.path.join(config.test_source_root, "data")),
    ("%include", os.path.join(config.kvc_source_dir, "runtime", "include")),
    ("%source", config.kvc_source_dir),
    ("%build", config.kvc_binary_dir),
    ("%mlir_include", config.mlir_include_dirs.split(";")[0]),
    ("%python", sys.executable),
    # Of shared libraries for this machine.
    ("%{so}", ".dylib" if platform.system() == "Darwin" else ".so"),
    ("%cc", config.kvc_cc),
    ("%cxx", config.kvc_cxx),
    ("%cmake", config.kvc_cmake),
]


def cpu_flags():
    """What /proc/cpuinfo says that this CPU has, on Linux."""
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                # Of x86, of Arm.
                if line.startswith(("flags", "Features")):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()


# Features: what a test may need of the machine it runs on (REQUIRES:). What
# kvc compiles without being told for which target runs here where there is
# `native`; x86-64-v3 and linux are for tests that look at just that one's code
# or files.
machine = platform.machine().lower()
system = platform.system().lower()
config.available_features.add(system)
if machine in ("x86_64", "amd64"):
    config.available_features.add("x86-64")
    flags = cpu_flags()
    if {"avx2", "fma", "f16c", "bmi2"} <= flags:
        config.available_features.add("x86-64-v3")
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags:
        config.available_features.add("x86-64-v4")
elif machine in ("aarch64", "arm64"):
    config.available_features.add("aarch64")
    wanted = {"crc32", "atomics", "asimdrdm", "fphp", "asimdhp", "asimddp"}
    # Each of Apple's has them.
    if system == "darwin" or wanted <= cpu_flags():
        config.available_features.add("native")
if "x86-64-v3" in config.available_features and system == "linux":
    config.available_features.add("native")
for tool in ("groff", "mandoc"):
    if shutil.which(tool):
        config.available_features.add(tool)
if shutil.which("pkg-config"):
    config.available_features.add("pkg-config")
if shutil.which("musl-gcc"):
    config.available_features.add("musl")
cpack = os.path.join(os.path.dirname(config.kvc_cmake), "cpack")
if os.path.exists(cpack) and all(
    map(shutil.which, ("dpkg-deb", "dpkg-query", "dpkg-shlibdeps"))
):
    config.available_features.add("deb")
config.substitutions.append(("%cpack", cpack))
if shutil.which("cc") and shutil.which("c++"):
    config.available_features.add("system-cc")

# Libraries for another CPU than this machine's run under an emulator.
if shutil.which("qemu-x86_64"):
    config.available_features.add("qemu-x86_64")
remote = os.path.join(config.kvc_bin_dir, "kvc-remote-aarch64-linux")
if shutil.which("qemu-aarch64") and os.path.exists(remote):
    config.available_features.add("qemu-aarch64")
else:
    lit_config.note(
        "no qemu-aarch64, or no C library for aarch64 when kvc was configured:"
        " libraries for aarch64-linux are compiled and not run"
    )
# Kernels for Vulkan run on Mesa's driver for CPUs, whose subgroups are as wide
# as it is told: %vulkan8 runs a command on subgroups of 8 invocations.
attend = os.path.join(config.kvc_binary_dir, "test", "vulkan", "vulkan-attend")
drivers = glob.glob("/usr/share/vulkan/icd.d/lvp_icd.*.json")
if os.path.exists(attend) and drivers:
    config.available_features.add("vulkan")
else:
    lit_config.note(
        "no Vulkan headers when kvc was configured, or no lavapipe:"
        " kernels for vulkan are compiled and not run"
    )
config.substitutions += [
    (r"%vulkan-attend", attend),
    (r"%checked-attend", attend.replace("vulkan-attend", "checked-attend")),
]
for lanes in (16, 4, 8):
    config.substitutions.append((
        rf"%vulkan{lanes}",
        f"env VK_ICD_FILENAMES={drivers[0] if drivers else ''}"
        # A cache of shaders would not tell widths apart.
        f" MESA_SHADER_CACHE_DISABLE=true LP_NATIVE_VECTOR_WIDTH={32 * lanes}",
    ))
if shutil.which("spirv-val"):
    config.available_features.add("spirv-val")
# Programs with AddressSanitizer, and those of libFuzzer, need clang's runtime
# for them (libclang-rt-22-dev).
if config.kvc_has_asan in ("1", "ON", "TRUE"):
    config.available_features.add("asan-programs")
if config.kvc_has_fuzzer in ("1", "ON", "TRUE"):
    config.available_features.add("fuzzer")
if not {"asan-programs", "fuzzer"} <= config.available_features:
    lit_config.note(
        "no libFuzzer or no AddressSanitizer for this build's compiler: fuzzers"
        " do not run, nor programs that check generated code"
    )
# Libraries that a kvc with AddressSanitizer loads have its checks too.
config.substitutions.append((
    "%sanitize",
    "--sanitize address" if "address" in config.kvc_sanitize.split(",") else "",
))
if config.kvc_sanitize:
    config.available_features.add("sanitize")
    for name in config.kvc_sanitize.split(","):
        config.available_features.add("sanitize-" + name)
