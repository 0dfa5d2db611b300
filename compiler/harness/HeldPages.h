//===- HeldPages.h - what a layer's pages should take -----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `stats` must give as `held`, to the byte. How long a stream's pages are
// is the compiler's choice and read from its IR. Which tokens a stream holds is
// said here once more, by the axes' definitions: the library asks functions
// that were generated, and those are what is checked.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_HELDPAGES_H
#define KVC_COMPILER_HARNESS_HELDPAGES_H

#include "dialect/KVLayout.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace kvc::harness {

/// The pages of one layer, followed from the first token on.
class HeldPages {
public:
  /// A reader's: none.
  HeldPages() = default;
  /// The streams have their layouts; a prefill takes `piece` tokens at a time.
  HeldPages(kv::PolicyAttr policy, llvm::ArrayRef<kv::StreamAttr> streams,
            int64_t piece);

  /// The next `count` tokens were appended by one call.
  void append(int64_t count);
  /// They were appended one by one. Costs little for any `count`: steps that
  /// cannot raise the mark are not looked at.
  void appendEach(int64_t count);
  /// Back to `tokens`, or to none and as if none had been; pages stay.
  void truncate(int64_t tokens);
  void reset();
  /// From here on pages may be shared with a fork. Which of them are copied,
  /// and whether their copies stay, depends on both: bytes() is then the most.
  void loosen() { exact = false; }
  /// What a fork of it begins with.
  HeldPages fork() const;
  /// What it is once it has taken in a snapshot of `tokens` tokens, in pages
  /// that are new.
  void load(int64_t tokens);

  /// Bytes of all pages at the high-water mark: a page that is freed serves
  /// again in its stream, and in no other.
  int64_t bytes() const;
  bool isExact() const { return exact; }
  /// Bytes of the pages that hold tokens now.
  int64_t inUse() const;

private:
  /// begin <= t < end; none where begin >= end.
  struct Tokens {
    int64_t begin = 0, end = 0;
  };
  struct Stream {
    explicit Stream(kv::StreamAttr attr) : attr(attr), layout(attr) {}

    kv::StreamAttr attr;
    kv::PageLayout layout;
    int64_t pages = 0; ///< at the high-water mark
  };

  static Tokens join(Tokens a, Tokens b);
  void appendPiece(int64_t count);
  static int64_t bytesOf(const Stream &stream, int64_t pages);
  static int64_t pagesOf(const Stream &stream, Tokens tokens);
  void raise(Stream &stream, int64_t from, int64_t to);
  Tokens holds(kv::StreamAttr stream, int64_t length) const;
  Tokens keeps(kv::StreamAttr stream, int64_t length) const;
  Tokens needs(kv::StreamAttr stream, int64_t from, int64_t to) const;

  kv::PolicyAttr policy;
  std::vector<Stream> streams;
  int64_t piece = 1;
  int64_t seen = 0, reached = 0;
  bool exact = true;
};

/// One for each layer of the one `kv.model` in `module`, compiled for
/// `target`; the module stays as it is.
llvm::Expected<std::vector<HeldPages>> expectHeld(mlir::ModuleOp module,
                                                  llvm::StringRef target);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_HELDPAGES_H
