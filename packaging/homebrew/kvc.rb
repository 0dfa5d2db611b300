# Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Builds kvc from a checkout on this Mac. kvc is not published, so there is no
# address to download it from: KVC_CHECKOUT below is the one line to edit.
# Homebrew takes formulae from taps alone. This was never run on a Mac.
#
#   brew tap-new --no-git you/kvc
#   cp packaging/homebrew/kvc.rb "$(brew --repository you/kvc)/Formula/"
#   (edit KVC_CHECKOUT there)
#   brew install --HEAD you/kvc/kvc && brew test --HEAD you/kvc/kvc
#
# It takes what is committed on the checkout's branch main.
class Kvc < Formula
  KVC_CHECKOUT = "/path/to/kvc".freeze

  desc "Compiler for KV caches: a YAML file to a library of decode kernels"
  homepage "file://#{KVC_CHECKOUT}"
  license "Apache-2.0" => { with: "LLVM-exception" }
  head "file://#{KVC_CHECKOUT}", using: :git, branch: "main"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  # LLVM and MLIR are dylibs of the keg llvm, lld's libraries are in a formula of
  # their own. Both are wanted in version 22.1.
  depends_on arch: :arm64
  depends_on "lld"
  depends_on "llvm"
  depends_on macos: :sonoma
  depends_on "yaml-cpp"

  def install
    llvm = Formula["llvm"]
    # The keg's clang reads the headers of the keg's MLIR, with its own libc++'s
    # headers and the system's libc++, as the keg itself was built.
    args = %W[
      -DCMAKE_C_COMPILER=#{llvm.opt_bin}/clang
      -DCMAKE_CXX_COMPILER=#{llvm.opt_bin}/clang++
      -DCMAKE_PREFIX_PATH=#{llvm.opt_prefix};#{Formula["lld"].opt_prefix};#{Formula["yaml-cpp"].opt_prefix}
      -DKVC_TESTS=OFF
    ]
    system "cmake", "-G", "Ninja", "-S", ".", "-B", "build", *args, *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    # Homebrew keeps completions elsewhere than kvc's own install rules.
    bash_completion.install share/"bash-completion/completions/kvc"
    rm_r share/"bash-completion"
  end

  test do
    system bin/"kvc", "compile", doc/"docs/examples/tiny.yaml", "-o", testpath/"tiny.dylib"
    assert_path_exists testpath/"tiny.h"
    system bin/"kvc", "verify", testpath/"tiny.dylib"
    assert_match "0 failures", shell_output("#{bin}/kvc fuzz --seed 1 --count 3")
    (testpath/"main.c").write <<~C
      #include "tiny.h"
      int main(void) { return !tiny_library()->info; }
    C
    system ENV.cc, "main.c", "tiny.dylib", "-Wl,-rpath,@executable_path", "-o", "main"
    system "./main"
  end
end
