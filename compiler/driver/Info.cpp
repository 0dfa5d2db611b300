//===- Info.cpp - kvc info ------------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a library says of itself, by the functions info and layer_info of its
// table.
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Commands.h"
#include "compiler/harness/Elements.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/LoadedLibrary.h"
#include "compiler/harness/Table.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace kvc::harness;

namespace kvc::driver {

/// "12.3 MiB (12,897,484 bytes)" without the commas; below 10 KiB bytes alone.
static std::string sizeText(uint64_t bytes) {
  if (bytes < 10 * 1024)
    return formatv("{0} bytes", bytes);
  double value = static_cast<double>(bytes);
  StringRef unit;
  for (StringRef next : {"KiB", "MiB", "GiB"}) {
    if (!unit.empty() && value < 1024)
      break;
    value /= 1024;
    unit = next;
  }
  return formatv("{0:f1} {1} ({2} bytes)", value, unit, bytes);
}

static std::string ioText(const LoadedLibrary &library) {
  return elementName(library.io()).lower();
}

/// -1 of the C interface.
static std::string numberOr(int64_t value, StringRef otherwise) {
  return value < 0 ? otherwise.str() : std::to_string(value);
}

static void printText(const LoadedLibrary &library, uint64_t size,
                      raw_ostream &os) {
  const kvc_info &info = library.info();
  os << info.name << ": for " << info.target << ", C interface "
     << info.abi_version << ", io " << ioText(library) << ", layers "
     << info.layers << ", kernels " << info.kernels << ", " << sizeText(size)
     << "\n\n";
  Table table({{"layer"},
               {"kernel"},
               {"heads"},
               {"kv"},
               {"dims"},
               {"reads"},
               {"chunk"},
               {"rollback"},
               {"limit"}});
  for (int64_t i = 0; i < info.layers; ++i) {
    const kvc_layer_info &layer = library.layerInfo(i);
    std::string dims = std::to_string(layer.head_dim);
    if (layer.value_dim != layer.head_dim)
      dims += "/" + std::to_string(layer.value_dim);
    table.add({std::to_string(i), std::to_string(layer.kernel),
               std::to_string(layer.heads), std::to_string(layer.kv_heads),
               dims, layer.owner == i ? "" : std::to_string(layer.owner),
               numberOr(layer.chunk, "any"), std::to_string(layer.rollback),
               numberOr(layer.limit, "none")});
  }
  table.print(os);
  os << "\n" << (*info.spec ? info.spec : "it carries no spec\n");
}

static void printJson(const LoadedLibrary &library, StringRef path,
                      uint64_t size, raw_ostream &os) {
  const kvc_info &info = library.info();
  json::OStream json(os, 2);
  json.object([&] {
    json.attribute("file", path);
    json.attribute("bytes", static_cast<int64_t>(size));
    json.attribute("name", info.name);
    json.attribute("target", info.target);
    json.attribute("abi_version", static_cast<int64_t>(info.abi_version));
    json.attribute("io", ioText(library));
    json.attribute("kernels", info.kernels);
    json.attribute("spec", info.spec);
    json.attributeArray("layers", [&] {
      for (int64_t i = 0; i < info.layers; ++i)
        json.object([&] {
          const kvc_layer_info &layer = library.layerInfo(i);
          json.attribute("heads", layer.heads);
          json.attribute("kv_heads", layer.kv_heads);
          json.attribute("head_dim", layer.head_dim);
          json.attribute("value_dim", layer.value_dim);
          json.attribute("owner", layer.owner);
          json.attribute("kernel", layer.kernel);
          json.attribute("chunk", layer.chunk);
          json.attribute("rollback", layer.rollback);
          json.attribute("limit", layer.limit);
          json.attribute("learned_sinks", layer.learned_sinks != 0);
          json.attribute("policy", library.policy(i));
        });
    });
  });
  os << "\n";
}

static ExitCode runInfo(const Arguments &arguments) {
  auto path = arguments.only();
  if (!path)
    return fail(path.takeError());
  StringRef suffix = sys::path::extension(*path);
  if (Model::isSpec(*path) || suffix == ".mlir" || suffix == ".ll")
    return fail(userError("kvc info takes a library, not '" + *path +
                          "'; of a spec, kvc compile --emit kv -o - prints "
                          "what was understood, kvc report what it takes"));
  auto library = LoadedLibrary::open(*path, arguments.get("--runner"));
  if (!library)
    return fail(library.takeError());
  uint64_t size = 0;
  if (auto code = sys::fs::file_size(*path, size))
    return fail(userError("'" + *path + "': " + code.message()));
  if (arguments.has("--json"))
    printJson(*library, *path, size, outs());
  else
    printText(*library, size, outs());
  return Good;
}

static const Flag infoFlags[] = {
    {"--runner", "COMMAND", "loads the library elsewhere, as of kvc run",
     "none, where this machine can load the library"},
    {"--json", "",
     "{file, bytes, name, target, abi_version, io, kernels, spec, layers:\n"
     "[{heads, kv_heads, head_dim, value_dim, owner, kernel, chunk, rollback,\n"
     "limit, learned_sinks, policy}]}, numbers as kvc.h has them"},
};

const Command infoCommand = {
    "info",
    "LIB [--json]",
    "say what a library is: its spec, target, layers and kernels",
    "Layers with the same kernel share its code; reads is the layer whose\n"
    "cache a reader attends to, chunk the most tokens of a prefill, rollback\n"
    "how far an attend can go back at least, limit the most tokens of a\n"
    "sequence. The spec is the canonical text that the library carries.\n",
    infoFlags,
    runInfo,
    "kvc info decode.so"};

} // namespace kvc::driver
