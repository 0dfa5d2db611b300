//===- LoadedLibrary.cpp - a generated library, opened --------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/LoadedLibrary.h"

#include "compiler/harness/Crash.h"
#include "compiler/harness/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include "llvm/ADT/STLExtras.h"

#include <dlfcn.h>

using namespace llvm;

namespace kvc::harness {

void LibraryCache::Destroy::operator()(kvc_cache *cache) const {
  LibraryCall("destroy").run(table.destroy, cache);
}

Error LoadedLibrary::load(StringRef path) {
  // Without a slash dlopen would search the system's folders.
  std::string file = path.contains('/') ? path.str() : ("./" + path).str();
  handle = {dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL), [](void *handle) {
              if (handle)
                dlclose(handle);
            }};
  if (!handle) {
    const char *said = dlerror();
    const StringRef why = said ? said : "unknown";
    return userError("cannot open '" + path + "': " + why +
                     (why.contains("__asan_")
                          ? "; it has sanitizers, and this kvc has none: build "
                            "kvc with the preset asan"
                          : ""));
  }
  auto function = reinterpret_cast<kvc_library_function>(
      dlsym(handle.get(), "kvc_library"));
  if (!function)
    return userError("'" + path +
                     "' is no library made by kvc: it has no "
                     "kvc_library()");
  table = function();
  if (!table)
    return userError("'" + path + "': kvc_library() gives no table");
  return Error::success();
}

Error LoadedLibrary::start(StringRef path, StringRef runner) {
  SmallString<128> file(path);
  if (auto code = sys::fs::make_absolute(file))
    return userError("'" + path + "': " + code.message());
  auto started = Remote::start(runner, file);
  if (!started)
    return started.takeError();
  remote = std::move(*started);
  auto opened = openTable(*remote);
  if (!opened)
    return opened.takeError();
  table = *opened;
  return Error::success();
}

Expected<LoadedLibrary> LoadedLibrary::open(StringRef path, StringRef runner) {
  if (path.ends_with(".a") || path.ends_with(".o"))
    return userError("'" + path +
                     "' is to be linked into a program; compile the spec to "
                     "a shared library, .so, to have it opened");
  LoadedLibrary library;
  Expected<std::string> command =
      runner.empty() ? runnerFor(path) : Expected<std::string>(runner.str());
  if (!command)
    return command.takeError();
  if (Error error =
          command->empty() ? library.load(path) : library.start(path, *command))
    return error;
  if (library.table->abi_version != KVC_ABI_VERSION)
    return userError("'" + path + "' has version " +
                     Twine(library.table->abi_version) +
                     " of the C interface, this kvc knows version " +
                     Twine(KVC_ABI_VERSION));
  if (library.table->size < sizeof(kvc_library_table))
    return userError("'" + path + "' has a table of " +
                     Twine(library.table->size) + " bytes, this kvc wants " +
                     Twine(sizeof(kvc_library_table)));
  if (Error error = library.describe(path))
    return error;
  return library;
}

Error LoadedLibrary::describe(StringRef path) {
  about.size = sizeof about;
  if (table->info(&about) != KVC_OK || about.layers < 1 || !about.name ||
      !about.spec || about.io < KVC_F32 || about.io > KVC_BF16)
    return userError("'" + path + "' does not say what it is" +
                     (remote && !remote->end().empty() ? ": " + remote->end()
                                                       : std::string()));
  for (int32_t layer = 0; layer < about.layers; ++layer) {
    kvc_layer_info info = {};
    info.size = sizeof info;
    if (table->layer_info(layer, &info) != KVC_OK || info.heads < 1 ||
        info.kv_heads < 1 || info.head_dim < 1 || info.value_dim < 1 ||
        info.owner < 0 || info.owner > layer)
      return userError("'" + path + "' does not say what layer " +
                       Twine(layer) + " is");
    if (!info.policy)
      info.policy = "";
    shapes.push_back({info.heads, info.kv_heads, info.head_dim, info.value_dim,
                      info.owner, info.learned_sinks != 0});
    infos.push_back(info);
  }
  return Error::success();
}

int64_t LoadedLibrary::process() const {
  return remote ? remote->number() : sys::Process::getProcessId();
}

Element LoadedLibrary::io() const {
  return about.io == KVC_F32   ? Element::F32
         : about.io == KVC_F16 ? Element::F16
                               : Element::BF16;
}

Expected<LibraryCache> LoadedLibrary::create(int64_t firstPosition,
                                             const LearnedSinks &sinks) const {
  std::vector<const float *> pointers;
  for (const std::vector<float> &layer : sinks)
    pointers.push_back(layer.empty() ? nullptr : layer.data());
  const bool any = any_of(pointers, [](const float *p) { return p; });
  kvc_options options = {};
  options.first_position = firstPosition;
  options.learned_sinks = any ? pointers.data() : nullptr;
  return create(options);
}

Expected<LibraryCache> LoadedLibrary::create(kvc_options options) const {
  char text[256] = "";
  options.size = sizeof(options);
  options.error = text;
  options.error_size = sizeof(text);
  kvc_cache *cache = nullptr;
  const kvc_status status =
      LibraryCall("create").run(table->create, &options, &cache);
  if (status != KVC_OK)
    return userError(Twine("create fails: ") + table->status_name(status) +
                     ": " + text);
  return LibraryCache(*table, cache);
}

// What a kvc with AddressSanitizer compiles for itself to load has its checks
// too. They call the compiler's own runtime, which g++'s is not.
#if defined(__clang__) && __has_feature(address_sanitizer)
static constexpr Sanitize own = Sanitize::AddressIfCan;
#else
static constexpr Sanitize own = Sanitize::Nothing;
#endif

Expected<LoadedLibrary> openCompiled(Model &model, CompileOptions options,
                                     StringRef runner) {
  options.sanitize = own;
  options.withHeader = false;
  auto file = TemporaryFile::create("");
  if (!file)
    return file.takeError();
  if (Error error = model.compile(options, file->path()))
    return error;
  auto library = LoadedLibrary::open(file->path(), runner);
  // A sanitizer's report looks the names of kernels up in the file.
  if (library && own != Sanitize::Nothing)
    library->file = std::make_shared<TemporaryFile>(std::move(*file));
  return library;
}

static bool isText(StringRef path) {
  return Model::isSpec(path) || sys::path::extension(path) == ".mlir";
}

Expected<LoadedLibrary> openOrCompile(StringRef path, StringRef target,
                                      StringRef runner,
                                      std::unique_ptr<Model> &model,
                                      bool &ourFault) {
  if (!isText(path))
    return LoadedLibrary::open(path, runner);
  auto loaded = Model::load(path);
  if (!loaded)
    return loaded.takeError();
  model = std::move(*loaded);
  CompileOptions compile;
  compile.target = target.str();
  auto opened = openCompiled(*model, compile, runner);
  if (!opened)
    ourFault = model->getSpec() && target.empty();
  return opened;
}

} // namespace kvc::harness
