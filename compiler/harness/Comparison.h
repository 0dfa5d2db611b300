//===- Comparison.h - a library and the reference, step by step -*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_COMPARISON_H
#define KVC_COMPILER_HARNESS_COMPARISON_H

#include "compiler/harness/Calls.h"
#include "compiler/harness/HeldPages.h"
#include "compiler/harness/Inputs.h"
#include "compiler/reference/Reference.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace kvc::harness {

/// The largest errors seen, as fractions of their bounds.
struct Worst {
  double out = 0, lse = 0;
  double relative = 0; ///< of out, relative to the row's largest sum
  int64_t rows = 0;    ///< rows of out compared
  int64_t stores = 0;  ///< times that all that is stored was compared

  void join(const Worst &other);
};

/// Of consecutive tokens, what a call takes; without `attends` no queries.
Tokens tokensOf(int64_t position, llvm::ArrayRef<TokenInput> inputs,
                bool attends);

/// What a library wrote of a cache, and what the reference was then.
struct Snapshot {
  std::vector<uint8_t> bytes;
  std::unique_ptr<reference::Reference> state;
};

/// Runs the same tokens through a library and the reference. After the first
/// miss it says what it was, and no step is of use any more.
class Comparison {
public:
  /// `module` is at the cache level and describes the library. An error where
  /// they are of different shapes, or the library makes no cache.
  static llvm::Expected<std::unique_ptr<Comparison>>
  create(const LoadedLibrary &library, mlir::ModuleOp module,
         int64_t firstPosition, const LearnedSinks &sinks);

  /// One step of one layer in both: stats and bytes; with `compare`, also what
  /// it gives.
  bool step(int64_t layer, const TokenInput &input, bool compare);
  /// A chunk of tokens in one call; without `attends`, tokens alone. A reader's
  /// chunk ends `behind` tokens before its owner's newest one.
  bool chunk(int64_t layer, llvm::ArrayRef<TokenInput> inputs, bool attends,
             int64_t behind = 0);
  /// What one cache takes in a call that carries several; `behind` as above.
  struct Item {
    Comparison *both;
    llvm::ArrayRef<TokenInput> inputs;
    int64_t behind = 0;
  };
  /// One call: `decode` where it attends and each has one token, else a chunk
  /// each. The miss is that of the item which has one.
  static bool chunks(int64_t layer, llvm::ArrayRef<Item> items, bool attends);
  /// Queries as of `position` and those behind it, over all tokens, in parts
  /// between `cuts` (ascending token numbers, first position excluded) and
  /// merged. What lies farther back than rollback may be refused as gone.
  bool query(int64_t layer, int64_t position, llvm::ArrayRef<TokenInput> inputs,
             llvm::ArrayRef<int64_t> cuts);
  /// Queries of one cache over tokens [from, to), first position excluded.
  struct Part {
    Comparison *both;
    int64_t position;
    llvm::ArrayRef<TokenInput> inputs;
    int64_t from, to;
    bool withSinks = false;
  };
  /// One call of `attend`. The miss is that of the part which has one; `got`,
  /// where it is wanted, is what each gave, and nothing where that is gone.
  static bool parts(int64_t layer, llvm::ArrayRef<Part> asked,
                    std::vector<Output> *got = nullptr);
  /// Back to a length, where what was stored then is still there; else it must
  /// be refused and change nothing.
  bool truncate(int64_t tokens);
  bool reset();
  /// Both once more, with the same tokens; null where that missed.
  std::unique_ptr<Comparison> fork();
  /// Both once more, without tokens.
  llvm::Expected<std::unique_ptr<Comparison>> fresh() const;
  /// A snapshot through a stream, or by way of the file at `path`, which must
  /// have the same bytes. It changes nothing.
  bool save(Snapshot &snapshot, const std::string &path = "");
  /// Takes the place of what is there: the same tokens, the same bytes again.
  bool load(const Snapshot &snapshot, const std::string &path = "");
  /// A snapshot that must be refused and change nothing.
  bool refusesSnapshot(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef what);
  /// Calls of these that must be refused and change nothing.
  bool compareBadOperations();
  /// All that is stored, of all layers.
  bool compareAll();
  /// What the library's snapshot of now is.
  bool snapshotBytes(std::vector<uint8_t> &bytes);
  /// How many caches the pages may be shared among.
  int64_t relatives() const { return family.use_count(); }

  /// What the layer holds: values and positions bit for bit, stats and bytes.
  bool compareStored(int64_t layer);
  /// Calls that must be refused and change nothing; `input` is one that the
  /// layer could take next.
  bool compareErrors(int64_t layer, const TokenInput &input);
  /// Whether one token more is refused where the layer's limit is reached.
  bool compareFull(int64_t layer, const TokenInput &input);

  /// From here on input is random, which all arithmetic is judged on.
  void setRandom() { isRandom = true; }

  const reference::Reference &reference() const { return *expected; }
  const LibraryCache &cache() const { return actual; }
  const Worst &worst() const { return largest; }
  /// What missed first; "" so far.
  const std::string &miss() const { return text; }
  /// Seconds of the library's steps, in order.
  const std::vector<double> &times() const { return seconds; }
  int64_t nextPosition(int64_t layer) const;

private:
  Comparison(const LoadedLibrary &library, LearnedSinks sinks,
             LibraryCache cache, std::unique_ptr<reference::Reference> expected,
             std::vector<HeldPages> held)
      : library(library), sinks(std::move(sinks)), actual(std::move(cache)),
        expected(std::move(expected)), held(held), empty(std::move(held)) {}

  /// What the library must answer to queries of a reader.
  kvc_status wantedOf(int64_t layer, int64_t count, int64_t behind = 0) const;
  bool compareChunk(int64_t layer, const Item &item, bool attends,
                    const char *function, kvc_status status, const Output &got);
  /// Where a chunk of so many tokens begins.
  int64_t positionOf(int64_t layer, int64_t count, int64_t behind) const {
    return nextPosition(layer) -
           (expected->stores(layer) ? 0 : count - 1 + behind);
  }
  bool compareStatus(const char *function, kvc_status got, kvc_status want);
  bool compareRefusal(const char *what, kvc_status want,
                      llvm::function_ref<kvc_status()> asked);
  /// Whether the library's state is that of `before`, its snapshot then.
  bool compareUnchanged(const std::vector<uint8_t> &before,
                        llvm::StringRef what);
  bool missed(const llvm::Twine &what);
  bool missed(int64_t layer, const llvm::Twine &what);
  /// `row` is the first of `got`'s rows that are compared.
  bool compareRows(int64_t layer, int64_t position, const Output &got,
                   const reference::Attended &want, Element type,
                   int64_t row = 0, bool merged = false);
  bool compareRow(int64_t layer, int64_t position, int64_t head,
                  const Output &got, const reference::Attended &want,
                  Element type, int64_t row, bool merged);
  bool comparePart(int64_t layer, const Part &part, kvc_status status,
                   const Output &got);
  bool compareStats(int64_t layer);
  bool compareHeld(int64_t layer, const kvc_stats &got);
  bool compareBytes(int64_t layer, const kvc_bytes &got, int64_t reached,
                    llvm::StringRef from);
  bool compareRead(int64_t layer, int64_t from, int64_t to);
  bool compareValues(int64_t layer, kv::Plane plane, int64_t from, int64_t to,
                     llvm::ArrayRef<float> got);
  bool refusesNone(int64_t layer, int64_t position);
  bool refused(int64_t layer, int64_t position, const TokenInput &input,
               kvc_status want, llvm::StringRef what);

  const LoadedLibrary &library;
  LearnedSinks sinks; ///< that caches are made with
  LibraryCache actual;
  std::unique_ptr<reference::Reference> expected;
  std::vector<HeldPages> held;  ///< by layer, what it should be
  std::vector<HeldPages> empty; ///< the same without tokens
  /// Shared by those whose pages may be.
  std::shared_ptr<char> family = std::make_shared<char>();
  Worst largest;
  bool isRandom = false;
  std::string text;
  std::vector<double> seconds;
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_COMPARISON_H
