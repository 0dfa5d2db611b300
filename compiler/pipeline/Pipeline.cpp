//===- Pipeline.cpp - the ordered list of stages --------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Pipeline.h"
#include "compiler/emit/Emit.h"
#include "compiler/files/OutputFile.h"
#include "compiler/lowering/Lowering.h"
#include "compiler/pipeline/Output.h"
#include "compiler/target/GpuTarget.h"
#include "compiler/target/Target.h"
#include "compiler/target/vulkan/VulkanPasses.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/Constants.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace kvc {

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

static constexpr std::pair<Stage, StringLiteral> StageNames[] = {
    {Stage::KV, "kv"},           {Stage::Steps, "steps"},
    {Stage::Tiles, "tiles"},     {Stage::Loops, "loops"},
    {Stage::LLVM, "llvm"},       {Stage::IR, "ir"},
    {Stage::Asm, "asm"},         {Stage::Object, "object"},
    {Stage::Archive, "archive"}, {Stage::Library, "library"},
    {Stage::Header, "header"},   {Stage::SPIRV, "spirv"},
    {Stage::Kernels, "spv"}};

std::optional<Stage> parseStage(StringRef name) {
  for (auto [stage, known] : StageNames)
    if (name == known)
      return stage;
  return std::nullopt;
}

StringRef stageName(Stage stage) {
  for (auto [known, name] : StageNames)
    if (stage == known)
      return name;
  return "";
}

/// The passes that lead to `stage` from the one before it, up to the loops.
static void buildStage(OpPassManager &passes, Stage stage,
                       const TileTarget &target) {
  switch (stage) {
  case Stage::Steps:
    passes.addPass(createOutlineSteps());
    passes.addNestedPass<kv::StepOp>(createAssignStreams());
    passes.addNestedPass<kv::StepOp>(createChooseLayout());
    passes.addNestedPass<kv::StepOp>(createChooseSchedule());
    return;
  case Stage::Tiles:
    passes.addPass(createStepsToTiles());
    passes.addNestedPass<func::FuncOp>(createFoldScales());
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    return;
  case Stage::Loops:
    target.buildLoops(passes);
    return;
  default:
    return;
  }
}

/// The stage that a module is at.
static Stage stageOf(ModuleOp module) {
  if (!module.getOps<spirv::ModuleOp>().empty())
    return Stage::SPIRV;
  auto models = module.getOps<kv::ModelOp>();
  if (models.empty())
    return Stage::LLVM;
  for (kv::ModelOp model : models)
    for (kv::LayerOp layer : model.getLayers())
      if (!layer.getBody().empty())
        return Stage::KV;
  for (kv::StepOp step : module.getOps<kv::StepOp>())
    if (!step.getBody().empty())
      return Stage::Steps;
  bool tiles = false;
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    function.walk([&](Operation *op) {
      tiles |= isa_and_nonnull<kv::KVDialect>(op->getDialect());
      for (Type type : op->getOperandTypes())
        tiles |= isa<kv::ViewType>(type);
    });
  return tiles ? Stage::Tiles : Stage::Loops;
}

static std::vector<void (*)(DialectRegistry &)> &extensions() {
  static std::vector<void (*)(DialectRegistry &)> all;
  return all;
}

void extendDialects(void (*extend)(DialectRegistry &registry)) {
  extensions().push_back(extend);
}

void registerAllDialects(DialectRegistry &registry) {
  registry.insert<kv::KVDialect, arith::ArithDialect, func::FuncDialect,
                  gpu::GPUDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect, spirv::SPIRVDialect,
                  vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  for (auto *extend : extensions())
    extend(registry);
}

void registerPasses() {
  registerTransformsPasses();
  registerLoweringPasses();
  registerEmitPasses();
  registerVulkanPasses();
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

namespace {
/// One compile: where it goes, and for what.
struct Compile {
  MLIRContext &context;
  const CompileOptions &options;
  StringRef output;
  const Target *target = nullptr;
  std::unique_ptr<GpuTarget> gpu = nullptr; ///< kernels, and no library
  std::string header = {}; ///< of the library; "" where there is no model left

  InFlightDiagnostic error() { return emitError(UnknownLoc::get(&context)); }
  LogicalResult wrote(llvm::Error failure) {
    if (!failure)
      return success();
    const bool output = failure.isA<OutputError>();
    InFlightDiagnostic said = error() << llvm::toString(std::move(failure));
    if (output)
      said.getUnderlyingDiagnostic()->getMetadata().push_back(
          DiagnosticArgument(outputFailed));
    return said;
  }
  /// `madeFor`: the target that the input was made for; "": none yet.
  LogicalResult findTarget(StringRef madeFor);
  LogicalResult checkSuffix();
  LogicalResult findGpu(kv::TargetAttr madeFor);
  LogicalResult checkSanitize();
  LogicalResult lower(ModuleOp module);
  LogicalResult writeText(ModuleOp module);
  LogicalResult writeKernels(ModuleOp module);
  LogicalResult generate(llvm::Module &module, bool finished);
  LogicalResult writeLibrary(llvm::Module &module);
};
} // namespace

LogicalResult Compile::findTarget(StringRef madeFor) {
  StringRef name = options.target;
  if (name.empty())
    name = madeFor.empty() ? Target::defaultName() : madeFor;
  target = Target::find(name);
  if (!target && name == "host")
    return error() << "none of the targets runs on this machine; there is "
                   << llvm::join(Target::names(), ", ");
  if (!target)
    return error() << "target " << name << " is not generated yet; there is "
                   << llvm::join(Target::names(), ", ") << ", host";
  if (!madeFor.empty() && target->name() != madeFor)
    return error() << "this stage was made for " << madeFor << ", not for "
                   << target->name() << ": compile the spec again";
  return checkSuffix();
}

/// Loaders go by the format, people by the suffix.
LogicalResult Compile::checkSuffix() {
  StringRef suffix = llvm::sys::path::extension(output);
  const bool isLibrary = suffix == ".so" || suffix == ".dylib";
  if (options.stop != Stage::Library || !isLibrary ||
      suffix == target->librarySuffix())
    return success();
  return error() << "a shared library for " << target->name() << " is a "
                 << target->librarySuffix() << ", not a " << suffix;
}

/// The stages of a GPU's kernels.
static bool isOfKernels(Stage stage) {
  return stage <= Stage::Loops || stage == Stage::SPIRV ||
         stage == Stage::Kernels;
}

LogicalResult Compile::findGpu(kv::TargetAttr madeFor) {
  const bool known = madeFor && madeFor.lanesAreInvocations();
  const std::string name =
      options.gpu.empty() && known ? madeFor.getName().str() : options.gpu;
  int64_t lanes = options.subgroup;
  if (lanes == 0)
    lanes = known ? madeFor.getLanes() : GpuTarget::DefaultLanes;
  gpu = GpuTarget::create(name, lanes);
  if (!gpu)
    return error() << "GPU " << name << " is not generated yet; there is "
                   << llvm::join(GpuTarget::names(), ", ");
  if (madeFor && madeFor != gpu->attribute(&context))
    return error() << "this stage was made for " << madeFor.getName() << " and "
                   << madeFor.getLanes() << " lanes, not for " << name
                   << " and " << lanes << ": compile the spec again";
  if (isOfKernels(options.stop))
    return success();
  return error() << "stage " << stageName(options.stop) << " with GPU " << name
                 << " is not generated yet; there is kv, steps, tiles, loops, "
                    "spirv, spv";
}

/// Sanitizers are put in where the runtime is linked in, and only there.
LogicalResult Compile::checkSanitize() {
  if (options.sanitize != Sanitize::Address)
    return success();
  if (gpu)
    return error() << "sanitizers are for a CPU's code, not for GPU "
                   << gpu->name();
  if (options.stop < Stage::IR || options.stop >= Stage::Header)
    return error() << "stage " << stageName(options.stop)
                   << " has no sanitizers: they come with stage "
                   << stageName(Stage::IR);
  if (target->canSanitize())
    return success();
  std::vector<std::string> names;
  for (const std::string &name : Target::names())
    if (Target::find(name)->canSanitize())
      names.push_back(name);
  return error() << "sanitizers for " << target->name()
                 << " are not generated yet; there is "
                 << llvm::join(names, ", ");
}

LogicalResult Compile::lower(ModuleOp module) {
  auto wanted = module->getAttrOfType<kv::TargetAttr>("kv.target");
  if (!options.gpu.empty() || (wanted && wanted.lanesAreInvocations())) {
    if (failed(findGpu(wanted)))
      return failure();
  } else if (options.stop > Stage::Header) {
    return error() << "stage " << stageName(options.stop)
                   << " is of a GPU's kernels, and no GPU is asked for";
  } else if (failed(findTarget(wanted ? wanted.getName() : StringRef()))) {
    return failure();
  }
  if (failed(checkSanitize()))
    return failure();
  if (!module.getOps<kv::ModelOp>().empty())
    header = headerFor(*module.getOps<kv::ModelOp>().begin());
  PassManager passes(&context);
  passes.enableVerifier(true);
  const Stage at = stageOf(module);
  const TileTarget &tiles = gpu ? static_cast<TileTarget &>(*gpu)
                                : static_cast<const TileTarget &>(*target);
  for (Stage stage : {Stage::Steps, Stage::Tiles, Stage::Loops})
    if (stage > at && stage <= options.stop)
      buildStage(passes, stage, tiles);
  const Stage last = gpu ? Stage::SPIRV : Stage::LLVM;
  if (last > at && last <= options.stop)
    gpu ? gpu->buildKernels(passes) : target->buildLLVM(passes);
  if (options.stop != Stage::KV)
    module->setAttr("kv.target", tiles.attribute(&context));
  return passes.run(module);
}

LogicalResult Compile::writeText(ModuleOp module) {
  return wrote(
      writeWhole(output, [&](llvm::raw_ostream &os) { module.print(os); }));
}

LogicalResult Compile::writeKernels(ModuleOp module) {
  return wrote(
      writeBinary(output, [&](llvm::raw_pwrite_stream &os, std::string &error) {
        return gpu->serialize(module, os, error);
      }));
}

LogicalResult Compile::writeLibrary(llvm::Module &module) {
  auto write = options.stop == Stage::Archive ? writeStatic : writeShared;
  return wrote(write(output, options.withHeader ? header : "",
                     [&](llvm::raw_pwrite_stream &os, std::string &error) {
                       return target->emit(module, /*assembly=*/false, os,
                                           error);
                     }));
}

/// `kvc_library` is the same name in every library: what is linked into a
/// program, beside others of its kind, goes without.
static void dropSharedEntry(llvm::Module &module) {
  llvm::Function *entry = module.getFunction("kvc_library");
  if (entry && entry->use_empty())
    entry->eraseFromParent();
}

/// From LLVM IR on; `finished` where it was linked and optimised before.
LogicalResult Compile::generate(llvm::Module &module, bool finished) {
  // Text may come from anywhere.
  if (llvm::none_of(module, [](const llvm::Function &function) {
        return !function.isDeclaration() &&
               function.getName().ends_with("_library");
      }))
    return error() << "there is no kv.model in it, nor a library's entry "
                      "point: a function <name>_library";
  std::string failed;
  const bool sanitize =
      options.sanitize != Sanitize::Nothing && target->canSanitize();
  if (!finished && !target->finish(module, sanitize, failed))
    return error() << "internal: " << failed;
  for (const llvm::GlobalValue &value : module.global_values())
    if (value.isDeclaration() && value.getName().starts_with("kvc_"))
      return error() << "it does not define " << value.getName();
  if (options.stop != Stage::IR && options.stop != Stage::Library)
    dropSharedEntry(module);
  if (options.stop == Stage::Archive || options.stop == Stage::Library)
    return writeLibrary(module);
  return wrote(
      writeBinary(output, [&](llvm::raw_pwrite_stream &os, std::string &error) {
        if (options.stop == Stage::IR) {
          // The order of uses decides the order of code.
          module.print(os, nullptr, /*ShouldPreserveUseListOrder=*/true);
          return true;
        }
        return target->emit(module, options.stop == Stage::Asm, os, error);
      }));
}

LogicalResult compileModule(ModuleOp module, const CompileOptions &options,
                            StringRef output) {
  // A module that says nothing has loaded no dialect.
  module.getContext()->loadDialect<kv::KVDialect>();
  Compile compile{*module.getContext(), options, output};
  if (options.stop == Stage::Header) {
    if (failed(compile.checkSanitize()))
      return failure();
    if (module.getOps<kv::ModelOp>().empty())
      return compile.error() << "no model is left to write a header of";
    compile.header = headerFor(*module.getOps<kv::ModelOp>().begin());
    return compile.wrote(writeWhole(
        output, [&](llvm::raw_ostream &os) { os << compile.header; }));
  }
  if (failed(compile.lower(module)))
    return failure();
  if (options.stop <= Stage::LLVM || options.stop == Stage::SPIRV)
    return compile.writeText(module);
  if (options.stop == Stage::Kernels)
    return compile.writeKernels(module);
  llvm::LLVMContext llvmContext;
  auto translated = translateModuleToLLVMIR(module, llvmContext, "kvc");
  if (!translated)
    return compile.error() << "internal: the LLVM dialect does not translate";
  return compile.generate(*translated, /*finished=*/false);
}

LogicalResult lowerModule(ModuleOp module, const CompileOptions &options) {
  return Compile{*module.getContext(), options, /*output=*/""}.lower(module);
}

/// What the library that became `module` says that it was made for.
static StringRef targetIn(const llvm::Module &module) {
  const llvm::GlobalVariable *name =
      module.getGlobalVariable("kvc_target", /*AllowInternal=*/true);
  const auto *text =
      name && name->hasInitializer()
          ? dyn_cast<llvm::ConstantDataArray>(name->getInitializer())
          : nullptr;
  return text && text->isCString() ? text->getAsCString() : StringRef();
}

LogicalResult compileIRFile(MLIRContext &context, StringRef input,
                            const CompileOptions &options, StringRef output) {
  Compile compile{context, options, output};
  if (options.stop < Stage::IR || options.stop >= Stage::Header)
    return compile.error() << input << " is LLVM IR already, behind stage "
                           << stageName(options.stop);
  if (options.sanitize == Sanitize::Address)
    return compile.error() << input << " is finished LLVM IR, with or without "
                           << "sanitizers: ask for them where it is made";
  llvm::LLVMContext llvmContext;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseIRFile(input, diagnostic, llvmContext);
  if (!module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    diagnostic.print("", os, /*ShowColors=*/false);
    return compile.error() << StringRef(text).trim();
  }
  if (failed(compile.findTarget(targetIn(*module))))
    return failure();
  return compile.generate(*module, /*finished=*/true);
}

} // namespace kvc
