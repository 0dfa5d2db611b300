//===- LoadedLibrary.h - a generated library, opened ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_LOADEDLIBRARY_H
#define KVC_COMPILER_HARNESS_LOADEDLIBRARY_H

#include "compiler/harness/Elements.h"
#include "compiler/harness/Remote.h"
#include "kvc/kvc.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace kvc::harness {

/// What a trace or a step needs to know of a layer.
struct LayerShape {
  int64_t heads, kvHeads, headDim, valueDim, owner;
};

/// A cache of a library, destroyed at the end.
class LibraryCache {
public:
  LibraryCache(const kvc_library_table &table, kvc_cache *cache)
      : table(table), cache(cache, table.destroy) {}

  kvc_cache *get() const { return cache.get(); }
  const char *lastError() const { return table.last_error(cache.get()); }

private:
  const kvc_library_table &table;
  std::unique_ptr<kvc_cache, void (*)(kvc_cache *)> cache;
};

/// A shared library that `kvc compile` made; closed at the end.
class LoadedLibrary {
public:
  /// Refuses what is no such library, and one of another version. `runner` is
  /// a command that loads it elsewhere (Remote.h); "": this process does, or
  /// where it cannot the runner for the library's machine.
  static llvm::Expected<LoadedLibrary> open(llvm::StringRef path,
                                            llvm::StringRef runner = "");

  const kvc_library_table &operator*() const { return *table; }
  const kvc_library_table *operator->() const { return table; }
  const kvc_info &info() const { return about; }
  const std::vector<LayerShape> &layers() const { return shapes; }
  /// Its policy in words, for people.
  llvm::StringRef policy(int64_t layer) const { return policies[layer]; }
  Element io() const;

  llvm::Expected<LibraryCache> create(int64_t firstPosition = 0) const;

private:
  llvm::Error load(llvm::StringRef path);
  llvm::Error start(llvm::StringRef path, llvm::StringRef runner);
  llvm::Error describe(llvm::StringRef path);

  std::unique_ptr<void, void (*)(void *)> handle{nullptr, nullptr};
  std::unique_ptr<Remote> remote;
  const kvc_library_table *table = nullptr;
  kvc_info about = {};
  std::vector<LayerShape> shapes;
  std::vector<const char *> policies;
};

/// What a step of one layer gives: [heads, value_dim] widened, [heads].
struct Output {
  std::vector<float> out, lse;
};

/// One decode step of one layer. `k` and `v` are null for a reader. The
/// status is the library's; on an error `output` is left alone.
kvc_status decode(const LoadedLibrary &library, const LibraryCache &cache,
                  int64_t layer, int64_t position, llvm::ArrayRef<float> q,
                  llvm::ArrayRef<float> k, llvm::ArrayRef<float> v,
                  Output &output);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_LOADEDLIBRARY_H
