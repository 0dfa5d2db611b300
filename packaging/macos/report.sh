#!/bin/sh
#===- report.sh - what kvc does on this machine, as one text ---------------===#
#
# Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
#
# For macOS and for Linux, by what POSIX's shell has. docs/macos.md tells more.
#
#===------------------------------------------------------------------------===#

usage() {
  cat <<'END'
usage: report.sh [--kvc PATH] [--spec FILE] [--quick] [-o FILE]
       report.sh --library FILE [--checksum SUM] [-o FILE]

The first compiles a spec, looks at the library and loads it by a C program,
then has kvc verify, fuzz and bench. The second needs no kvc: it loads a library
that was compiled elsewhere. Both write one text with all of it, and end with a
table of what went well; exit code 1 where anything did not.

  --kvc PATH      the compiler; default: build/bin/kvc of this tree, or PATH's
  --spec FILE     default: docs/examples/tiny.yaml
  --trace FILE    a recording for verify, as kvc run takes it; default: none
  --cases N       random cases of kvc fuzz; default: 50
  --quick         2 random cases, and a short benchmark
  --library FILE  a shared library of kvc to load, and nothing else
  --tokens N      tokens that the C program plays; default: 200
  --checksum SUM  what it must print: the checksum that the same spec, as many
                  tokens and this script print on another machine
  --cc COMMAND    a C compiler; default: cc
  -o FILE         default: kvc-report.txt
END
}

die() {
  printf 'report.sh: %s\n' "$*" >&2
  exit 2
}

#===- Arguments ------------------------------------------------------------===#

tree=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
kvc= spec=$tree/docs/examples/tiny.yaml trace= cases=50 quick= library=
tokens=200 checksum= cc=cc output=kvc-report.txt
while [ $# -gt 0 ]; do
  case $1 in
  --quick) quick=1 cases=2 ;;
  -h | --help)
    usage
    exit 0
    ;;
  --kvc | --spec | --trace | --cases | --library | --tokens | --checksum | --cc | -o)
    [ $# -ge 2 ] || die "$1 wants a value; see --help"
    case $1 in
    --kvc) kvc=$2 ;;
    --spec) spec=$2 ;;
    --trace) trace=$2 ;;
    --cases) cases=$2 ;;
    --library) library=$2 ;;
    --tokens) tokens=$2 ;;
    --checksum) checksum=$2 ;;
    --cc) cc=$2 ;;
    -o) output=$2 ;;
    esac
    shift
    ;;
  *) die "does not know '$1'; see --help" ;;
  esac
  shift
done

if [ -n "$library" ]; then
  [ -f "$library" ] || die "there is no '$library'"
elif [ -z "$kvc" ]; then
  if [ -x "$tree/build/bin/kvc" ]; then
    kvc=$tree/build/bin/kvc
  else
    kvc=$(command -v kvc) || die "finds no kvc: name it with --kvc, or give a library"
  fi
fi
command -v "$cc" >/dev/null || die "finds no C compiler '$cc'; on a Mac: xcode-select --install"
if [ "$(uname -s)" = Darwin ]; then
  suffix=.dylib mac=1
else
  suffix=.so mac=
fi
: >"$output" || die "cannot write '$output'"
folder=$(mktemp -d "${TMPDIR:-/tmp}/kvc-report.XXXXXX") || exit 2
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

#===- Steps ----------------------------------------------------------------===#

failed=0
summary=$folder/summary
: >"$summary"

title() { printf '\n==== %s\n' "$*" >>"$output"; }

# step NAME COMMAND...: its output goes to the report, its end into the table.
step() {
  name=$1
  shift
  printf '%s ... ' "$name" >&2
  title "$name"
  printf '$ %s\n' "$*" >>"$output"
  begin=$(date +%s)
  "$@" >>"$output" 2>&1
  code=$?
  took=$(($(date +%s) - begin))
  if [ "$code" = 0 ]; then
    how=ok
  else
    how="FAILED, exit code $code"
    failed=$((failed + 1))
  fi
  printf '%s\n' "$how" >&2
  printf '%-28s %4d s   %s\n' "$name" "$took" "$how" >>"$summary"
}

# tell COMMAND...: for the reader; a tool that is missing is no failure.
tell() {
  command -v "$1" >/dev/null || return 0
  printf '$ %s\n' "$*" >>"$output"
  "$@" >>"$output" 2>&1
}

# No names of persons or machines are asked for.
machine() {
  title machine
  tell uname -srm
  if [ -n "$mac" ]; then
    tell sw_vers
    for name in machdep.cpu.brand_string hw.model hw.ncpu hw.memsize hw.pagesize \
      hw.perflevel0.physicalcpu hw.perflevel1.physicalcpu \
      hw.perflevel0.l2cachesize hw.optional.arm.FEAT_DotProd \
      hw.optional.arm.FEAT_FP16 hw.optional.arm.FEAT_BF16 \
      hw.optional.arm.FEAT_I8MM hw.optional.arm.FEAT_SME; do
      tell sysctl "$name"
    done
  else
    sed -n 's/^model name[^:]*: */model: /p' /proc/cpuinfo 2>/dev/null |
      head -n 1 >>"$output"
    tell getconf _NPROCESSORS_ONLN
    tell getconf PAGESIZE
  fi
  title "C compiler"
  tell "$cc" --version
}

# look LIBRARY: what the system's own tools say of the file.
look() {
  title "the library's file"
  ls -l "$1" | awk '{print $5 " bytes"}' >>"$output"
  if [ -z "$mac" ]; then
    tell readelf -hd "$1"
    return
  fi
  tell otool -hv "$1"
  tell otool -L "$1"
  printf '$ otool -l\n' >>"$output"
  otool -l "$1" 2>&1 |
    grep -E '^ *(cmd|segname|minos|sdk|platform|name|uuid|initprot|maxprot) ' >>"$output"
  tell nm -gU "$1"
  tell nm -u "$1"
  tell codesign -dvv "$1"
  # Where it came by a browser it bears a mark that dyld minds.
  tell xattr -l "$1"
  step "code signature" codesign --verify --verbose "$1"
}

absolute() { printf '%s/%s\n' "$(cd "$(dirname "$1")" && pwd)" "$(basename "$1")"; }

# try LIBRARY: loaded by a C program of this tree, which writes files for a
# moment.
try() {
  # glibc before 2.34 has dlopen in a library of its own; macOS has no such file.
  dl=-ldl
  [ -z "$mac" ] || dl=
  step "C program" "$cc" -std=c11 -O2 -I "$tree/runtime/include" \
    "$tree/packaging/macos/load.c" -o "$folder/load" -lm ${dl:+"$dl"}
  step "load and run" in_folder ./load "$(absolute "$1")" "$tokens" \
    ${checksum:+"$checksum"}
}

in_folder() { (cd "$folder" && "$@"); }

#===- The report -----------------------------------------------------------===#

{
  echo "report of packaging/macos/report.sh"
  date -u '+%Y-%m-%d %H:%M UTC'
} >>"$output"
machine
if [ -n "$library" ]; then
  look "$library"
  try "$library"
else
  file=$folder/library$suffix
  step compile "$kvc" compile "$spec" -o "$file"
  if [ -f "$file" ]; then
    look "$file"
    try "$file"
    title spec
    cat "$spec" >>"$output"
    if [ -n "$trace" ]; then
      step verify "$kvc" verify "$file" --trace "$trace"
    else
      step verify "$kvc" verify "$file"
    fi
    step fuzz "$kvc" fuzz --seed 1 --count "$cases"
    if [ -n "$quick" ]; then
      step bench "$kvc" bench "$file" --tokens 8 --reps 2 --walk 0
    else
      step bench "$kvc" bench "$file" --threads 1,2,4
    fi
  fi
fi

title summary
cat "$summary" >>"$output"
if [ "$failed" = 0 ]; then
  echo "all well" >>"$output"
else
  echo "$failed FAILED" >>"$output"
fi
# Paths name persons.
if [ -n "${HOME:-}" ] && [ "$HOME" != / ]; then
  sed "s|$HOME|~|g" "$output" >"$folder/report" && cat "$folder/report" >"$output"
fi
sed -n '/^==== summary/,$p' "$output" | sed 1d
echo "written to $output: look it through, then send it"
[ "$failed" = 0 ]
