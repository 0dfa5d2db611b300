//===- LoadedLibrary.h - a generated library, opened ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_LOADEDLIBRARY_H
#define KVC_COMPILER_HARNESS_LOADEDLIBRARY_H

#include "compiler/files/TemporaryFile.h"
#include "compiler/harness/Elements.h"
#include "compiler/harness/Model.h"
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
  bool learnedSinks = false; ///< whether create takes a logit a query head
};

/// By layer, [heads]; empty where a layer takes none.
using LearnedSinks = std::vector<std::vector<float>>;

/// A cache of a library, destroyed at the end.
class LibraryCache {
public:
  LibraryCache(const kvc_library_table &table, kvc_cache *cache)
      : table(table), cache(cache, Destroy{table}) {}

  kvc_cache *get() const { return cache.get(); }
  const char *lastError() const { return table.last_error(cache.get()); }

private:
  struct Destroy {
    const kvc_library_table &table;
    void operator()(kvc_cache *cache) const;
  };

  const kvc_library_table &table;
  std::unique_ptr<kvc_cache, Destroy> cache;
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
  const kvc_layer_info &layerInfo(int64_t layer) const { return infos[layer]; }
  /// Its policy in words, for people.
  llvm::StringRef policy(int64_t layer) const { return infos[layer].policy; }
  /// Most tokens of one chunk of the layer; -1: any.
  int64_t chunk(int64_t layer) const { return infos[layer].chunk; }
  /// Most tokens of a sequence.
  int64_t limit(int64_t layer) const {
    return infos[layer].limit < 0 ? INT64_MAX : infos[layer].limit;
  }
  Element io() const;
  /// Whether it runs in a process of its own, under a runner.
  bool isRemote() const { return remote != nullptr; }
  /// What the library knows its process by, in whichever it is.
  int64_t process() const;

  llvm::Expected<LibraryCache> create(int64_t firstPosition = 0,
                                      const LearnedSinks &sinks = {}) const;
  llvm::Expected<LibraryCache> create(kvc_options options) const;

private:
  llvm::Error load(llvm::StringRef path);
  llvm::Error start(llvm::StringRef path, llvm::StringRef runner);
  llvm::Error describe(llvm::StringRef path);
  friend llvm::Expected<LoadedLibrary>
  openCompiled(Model &model, CompileOptions options, llvm::StringRef runner);

  /// Its file, where that is needed as long as it is open.
  std::shared_ptr<TemporaryFile> file;
  std::unique_ptr<void, void (*)(void *)> handle{nullptr, nullptr};
  std::unique_ptr<Remote> remote;
  const kvc_library_table *table = nullptr;
  kvc_info about = {};
  std::vector<LayerShape> shapes;
  std::vector<kvc_layer_info> infos;
};

/// Compiles the model, with the sanitizers that this process has, and opens
/// what comes of it. No file stays, also where the library then crashes.
llvm::Expected<LoadedLibrary> openCompiled(Model &model, CompileOptions options,
                                           llvm::StringRef runner = "");

/// Opens a library; or compiles a spec or IR, which becomes `model`, and opens
/// what comes of it. `ourFault` is set where a spec that was accepted does not
/// compile.
llvm::Expected<LoadedLibrary> openOrCompile(llvm::StringRef path,
                                            llvm::StringRef target,
                                            llvm::StringRef runner,
                                            std::unique_ptr<Model> &model,
                                            bool &ourFault);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_LOADEDLIBRARY_H
