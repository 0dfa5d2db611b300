//===- Parser.cpp - YAML text to a resolved spec ----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Parser.h"

#include "compiler/spec/ModelConfig.h"
#include "compiler/spec/Resolve.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

using namespace kvc::spec;

std::optional<Spec> kvc::spec::parseSpec(std::string_view text,
                                         std::string file, Diagnostics &diags,
                                         const Defaults &defaults) {
  // A byte order mark is no part of the text.
  if (text.substr(0, 3) == "\xEF\xBB\xBF")
    text.remove_prefix(3);
  std::size_t before = diags.count();
  diags.addSource(file, text);
  std::optional<Node> document = readDocument(text, diags);
  if (!document)
    return std::nullopt;
  if (std::string config = explainModelConfig(*document); !config.empty()) {
    diags.error({}, std::move(config));
    return std::nullopt;
  }
  Setting root = readSettings(*document, diags);
  if (root.form != form::Map)
    return std::nullopt;
  checkParts(root, diags);

  Spec spec;
  const Setting *model = root.find(KeyId::Model);
  const Setting *io = model ? model->get(KeyId::Io) : nullptr;
  spec.io = io ? floatType(io->text) : FloatType::F32;
  Resolution resolution = resolve(root, diags);
  spec.layers = buildLayers(resolution, spec.io, defaults, diags);
  checkFelt(resolution, spec.layers, spec.io, defaults, diags);
  if (diags.count() != before)
    return std::nullopt;

  settleUnfelt(spec.layers, spec.io);
  spec.file = std::move(file);
  spec.name = root.get(KeyId::Name)->text;
  spec.canonical = canonicalText(spec);
  return spec;
}

std::optional<Spec> kvc::spec::parseSpecFile(const std::string &path,
                                             Diagnostics &diags,
                                             const Defaults &defaults) {
  const bool isInput = path == "-";
  const std::string name = isInput ? "<stdin>" : path;
  auto fail = [&](int error) {
    diags.addSource(name, "");
    diags.error({},
                std::string("cannot read the file: ") + std::strerror(error));
    return std::nullopt;
  };
  auto close = [](std::FILE *file) {
    return file == stdin ? 0 : std::fclose(file);
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(
      isInput ? stdin : std::fopen(path.c_str(), "rb"), close);
  if (!file)
    return fail(errno);
  // One byte more than is allowed tells that there is more.
  std::string text(maxFileBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()))
    return fail(errno);
  return parseSpec(text, name, diags, defaults);
}
