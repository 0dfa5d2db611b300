//===- Compile.cpp - kvc compile, kvc check -------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Commands.h"
#include "compiler/files/OutputFile.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/Model.h"
#include "compiler/target/GpuTarget.h"
#include "compiler/target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using kvc::harness::Model;
using kvc::harness::userError;

namespace kvc::driver {

/// Whether the stage's output is text that can go to a terminal.
static bool isText(Stage stage) {
  return stage != Stage::Object && stage != Stage::Archive &&
         stage != Stage::Library && stage != Stage::Kernels;
}

/// The suffix that files of a stage have; libraries have their target's.
static StringRef suffixOf(Stage stage) {
  switch (stage) {
  case Stage::IR:
    return ".ll";
  case Stage::Asm:
    return ".s";
  case Stage::Object:
    return ".o";
  case Stage::Archive:
    return ".a";
  case Stage::Library:
    return ".so";
  case Stage::Header:
    return ".h";
  case Stage::Kernels:
    return ".spv";
  default:
    return ".mlir";
  }
}

/// What the suffix of the output asks for.
static Expected<Stage> stageOfSuffix(StringRef output) {
  StringRef suffix = sys::path::extension(output);
  StringRef works =
      "; generated now: .so, .dylib, .a, .o, .h, .s, .ll, .spv, .mlir";
  if (suffix == ".metal")
    return userError("'" + suffix + "' is not generated yet" + works);
  auto stage = StringSwitch<std::optional<Stage>>(suffix)
                   .Cases({".so", ".dylib"}, Stage::Library)
                   .Case(".a", Stage::Archive)
                   .Case(".o", Stage::Object)
                   .Case(".h", Stage::Header)
                   .Case(".s", Stage::Asm)
                   .Case(".ll", Stage::IR)
                   .Case(".spv", Stage::Kernels)
                   .Case(".mlir", Stage::Tiles)
                   .Default(std::nullopt);
  if (stage)
    return *stage;
  return userError("the suffix of '" + output +
                   "' does not say what it is "
                   "to be" +
                   works + "; or say it with --emit");
}

static std::vector<std::string> stageNames() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Stage::Kernels); ++i)
    names.push_back(stageName(static_cast<Stage>(i)).str());
  return names;
}

static Expected<Stage> chooseStage(const Arguments &arguments,
                                   StringRef output) {
  if (!arguments.has("--emit")) {
    if (output == "-")
      return userError("say with --emit what is to be written");
    return stageOfSuffix(output);
  }
  const std::string name = arguments.get("--emit");
  auto stage = parseStage(name);
  if (!stage)
    return userError("'--emit' is one of " + join(stageNames(), ", ") +
                     ", not '" + name + "'");
  if (output == "-" && !isText(*stage))
    return userError("'--emit " + name + "' needs -o FILE" + suffixOf(*stage));
  StringRef suffix = sys::path::extension(output);
  const bool isLibrary = *stage == Stage::Library && suffix == ".dylib";
  if (output != "-" && !suffix.empty() && suffix != suffixOf(*stage) &&
      !isLibrary)
    return userError("'--emit " + name + "' writes " + suffixOf(*stage) +
                     ", but '" + output + "' ends in " + suffix);
  return *stage;
}

/// The target that the suffix of `output` asks for; "": any.
static StringRef impliedBy(StringRef output) {
  StringRef suffix = sys::path::extension(output);
  const Target *here = Target::find(Target::defaultName());
  return suffix == ".dylib" && here->librarySuffix() != suffix
             ? "arm64-apple-macos"
             : "";
}

/// A place that cannot be written to is the user's to put right: it is looked
/// at before the work.
static std::vector<std::string> gpuNames() {
  std::vector<std::string> names = GpuTarget::names();
  names.insert(names.begin(), "none");
  return names;
}

/// The widths of subgroups that there are kernels for.
static std::vector<std::string> subgroupNames() {
  std::vector<std::string> names;
  for (int64_t lanes = GpuTarget::LeastLanes; lanes <= GpuTarget::MostLanes;
       lanes *= 2)
    names.push_back(std::to_string(lanes));
  return names;
}

static Error chooseGpu(const Arguments &arguments, CompileOptions &options) {
  const std::string gpu = arguments.get("--gpu", "none");
  if (!is_contained(gpuNames(), gpu))
    return userError(
        "'--gpu " + gpu +
        "' is not generated yet; generated now: " + join(gpuNames(), ", "));
  if (gpu != "none") {
    options.gpu = gpu;
    if (arguments.has("--target"))
      return userError("'--target' with '--gpu " + gpu +
                       "' is not generated "
                       "yet: kernels come without a library");
  }
  if (!arguments.has("--subgroup"))
    return Error::success();
  const std::string width = arguments.get("--subgroup");
  if (gpu == "none")
    return userError("'--subgroup' is of a GPU; say which with --gpu");
  if (!is_contained(subgroupNames(), width))
    return userError("'--subgroup' is one of " + join(subgroupNames(), ", ") +
                     ", not '" + width + "'");
  options.subgroup = std::stol(width);
  return Error::success();
}

static std::vector<std::string> sanitizerNames() { return {"none", "address"}; }

static Error chooseSanitizer(const Arguments &arguments,
                             CompileOptions &options) {
  const std::string name = arguments.get("--sanitize", "none");
  if (!is_contained(sanitizerNames(), name))
    return userError("'--sanitize' is one of " + join(sanitizerNames(), ", ") +
                     ", not '" + name + "'");
  if (name == "address")
    options.sanitize = Sanitize::Address;
  return Error::success();
}

static ExitCode runCompile(const Arguments &arguments) {
  auto input = arguments.only();
  if (!input)
    return fail(input.takeError());
  const std::string output = arguments.get("-o", "-");
  CompileOptions options;
  if (Error error = chooseGpu(arguments, options))
    return fail(std::move(error));
  if (Error error = chooseSanitizer(arguments, options))
    return fail(std::move(error));
  auto stage = chooseStage(arguments, output);
  if (!stage)
    return fail(stage.takeError());
  options.stop = *stage;
  auto target = chooseTarget(arguments, impliedBy(output));
  if (!target)
    return fail(target.takeError());
  options.target = *target;
  if (sys::path::extension(*input) == ".ll") {
    if (Error error = OutputFile::check(output))
      return fail(std::move(error));
    if (Error error = harness::compileIR(*input, options, output))
      return fail(std::move(error));
    return Good;
  }
  spec::Defaults defaults;
  if (!options.gpu.empty())
    defaults.arithmetic = GpuTarget::DefaultArithmetic;
  auto model = Model::load(*input, /*threads=*/true, defaults);
  if (!model)
    return fail(model.takeError());
  if (Error error = OutputFile::check(output))
    return fail(std::move(error));
  if (Error error = (*model)->compile(options, output))
    // A spec that was accepted is to compile; IR may say anything.
    return fail(std::move(error), (*model)->getSpec() &&
                                          !arguments.has("--target") &&
                                          options.sanitize == Sanitize::Nothing
                                      ? OurFault
                                      : UserError);
  return Good;
}

static void addProblems(Error error, StringRef input,
                        std::vector<harness::Problem> &problems) {
  handleAllErrors(
      std::move(error),
      [&](const harness::ModelError &one) {
        problems.insert(problems.end(), one.problems.begin(),
                        one.problems.end());
      },
      [&](const ErrorInfoBase &one) {
        problems.push_back({input.str(), 0, 0, one.message()});
      });
}

static void printProblems(ArrayRef<harness::Problem> problems,
                          raw_ostream &os) {
  json::OStream json(os, 2);
  json.array([&] {
    for (const harness::Problem &problem : problems)
      json.object([&] {
        json.attribute("file", problem.file);
        json.attribute("line", problem.line);
        json.attribute("column", problem.column);
        json.attribute("severity", "error");
        json.attribute("message", json::fixUTF8(problem.message));
      });
  });
  os << "\n";
}

static ExitCode runCheck(const Arguments &arguments) {
  if (arguments.operands().empty())
    return fail(userError("kvc check takes a spec; see kvc check --help"));
  ExitCode code = Good;
  std::vector<harness::Problem> problems;
  for (const std::string &input : arguments.operands()) {
    auto model = Model::load(input);
    if (model)
      continue;
    code = UserError;
    if (arguments.has("--json"))
      addProblems(model.takeError(), input, problems);
    else
      printError(model.takeError());
  }
  if (arguments.has("--json"))
    printProblems(problems, outs());
  return code;
}

static const Flag checkFlags[] = {
    {"--json", "",
     "to standard output, an array of {file, line, column, severity,\n"
     "message}, empty where nothing is wrong; line 0: the file as a whole"},
};

static const Flag compileFlags[] = {
    {"-o", "FILE",
     "where to; its suffix says what: .so .dylib .a .o .h .s .ll .spv .mlir;\n"
     "- is standard output, for text. With a library (.so, .dylib, .a) goes\n"
     "its header. A .dylib is for arm64-apple-macos",
     "-"},
    {"--emit", "STAGE",
     "stop at kv, steps, tiles, loops, llvm, ir, asm, object, archive,\n"
     "library or header; with --gpu at kv, steps, tiles, loops, spirv or spv",
     "what the suffix of FILE says; .mlir: tiles", stageNames},
    {"--target", "NAME",
     "what it is to run on; host: the one of them that makes most of this\n"
     "machine",
     targetDefault, targetNames},
    cpuFlag,
    {"--gpu", "NAME",
     "none or vulkan. With one comes the kernel of a decode step's attention,\n"
     "as SPIR-V, and no library yet",
     "none", gpuNames},
    {"--subgroup", "N",
     "invocations of the GPU's subgroup: a power of two from 4 to 64", "32",
     subgroupNames},
    {"--sanitize", "NAME",
     "none, or address: a library that checks what it reads and writes, for a\n"
     "program that clang links with -fsanitize=address",
     "none", sanitizerNames},
};

const Command compileCommand = {
    "compile",
    "S -o FILE [--emit STAGE] [--target NAME]",
    "generate a library, or any stage on the way to it",
    "S is a spec (.yaml) or the text of a stage (.mlir, .ll). Where anything\n"
    "is wrong nothing is written, and an older file stays.\n",
    compileFlags,
    runCompile,
    "kvc compile spec.yaml -o decode.so\n"
    "kvc compile spec.yaml --emit kv -o -"};

const Command checkCommand = {"check",
                              "S...",
                              "say what is wrong with a spec",
                              "Prints nothing where nothing is.\n",
                              checkFlags,
                              runCheck,
                              "kvc check spec.yaml"};

} // namespace kvc::driver
