//===- CpuTarget.cpp - from the tile level to a CPU's objects -------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/emit/Emit.h"
#include "compiler/lowering/Lowering.h"
#include "compiler/transforms/TileBuilder.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"
#include "runtime/Embedded.h"
#include "runtime/Platform.h"
#include "llvm/Analysis/RuntimeLibcallInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"

#include <mutex>

using namespace mlir;

namespace kvc {

static llvm::StringRef x86Runtime() {
  return {reinterpret_cast<const char *>(kvc_runtime_x86_64_linux),
          kvc_runtime_x86_64_linux_size};
}

static llvm::StringRef sanitizedX86Runtime() {
  return {reinterpret_cast<const char *>(kvc_runtime_x86_64_linux_sanitized),
          kvc_runtime_x86_64_linux_sanitized_size};
}

static llvm::StringRef armRuntime() {
  return {reinterpret_cast<const char *>(kvc_runtime_aarch64_linux),
          kvc_runtime_aarch64_linux_size};
}

static llvm::StringRef macOSRuntime() {
  return {reinterpret_cast<const char *>(kvc_runtime_arm64_macos),
          kvc_runtime_arm64_macos_size};
}

CpuDescription CpuTarget::x86V3() {
  return {.name = "x86-64-v3",
          .triple = "x86_64-unknown-linux-gnu",
          .cpu = "x86-64-v3",
          .extras = "",
          .tune = "",
          .anyCpu = "x86-64",
          .lanes = 8,
          .registers = 16,
          .dot = "vpmadd",
          .features = runtime::CpuX86_64V3,
          .runtime = x86Runtime,
          .sanitizedRuntime = sanitizedX86Runtime};
}

CpuDescription CpuTarget::x86V4() {
  CpuDescription description = x86V3();
  description.name = "x86-64-v4";
  description.cpu = "x86-64-v4";
  description.lanes = 16;
  description.registers = 32;
  description.features = runtime::CpuX86_64V4;
  return description;
}

CpuDescription CpuTarget::armLinux() {
  return {.name = "aarch64-linux",
          .triple = "aarch64-unknown-linux-gnu",
          .cpu = "generic",
          .extras = "+v8.2a,+fullfp16,+dotprod",
          .tune = "neoverse-n1",
          .anyCpu = "generic",
          .lanes = 4,
          .registers = 32,
          .dot = "sdot",
          .features = runtime::ArmV8_2,
          .runtime = armRuntime,
          .sanitizedRuntime = nullptr};
}

std::vector<CpuDescription> CpuTarget::armMacOS() {
  CpuDescription m1 = armLinux();
  m1.name = "arm64-apple-macos";
  m1.triple = "arm64-apple-macosx13.0.0";
  m1.cpu = m1.anyCpu = "apple-m1";
  m1.extras = m1.tune = "";
  m1.features |= runtime::ArmAppleM1;
  m1.runtime = macOSRuntime;
  std::vector<CpuDescription> all{m1};
  const int64_t m2 = m1.features | runtime::ArmBf16 | runtime::ArmI8mm;
  auto add = [&](const char *cpu, int64_t features) {
    CpuDescription later = m1;
    later.name += std::string("/") + cpu;
    later.cpu = cpu;
    later.features = features;
    all.push_back(later);
  };
  add("apple-m2", m2);
  add("apple-m3", m2);
  add("apple-m4", m2 | runtime::ArmSme);
  add("apple-m5", m2 | runtime::ArmSme | runtime::ArmCssc);
  return all;
}

bool CpuTarget::runsHere() const {
  llvm::Triple here(llvm::sys::getProcessTriple()), there(description.triple);
  const bool sameSystem =
      there.isMacOSX() ? here.isMacOSX() : here.getOS() == there.getOS();
  // Bits of features are an architecture's own.
  return here.getArch() == there.getArch() && sameSystem &&
         !(description.features & ~runtime::cpuFeatures());
}

llvm::StringRef CpuTarget::librarySuffix() const {
  return llvm::Triple(description.triple).isOSBinFormatMachO() ? ".dylib"
                                                               : ".so";
}

kv::TargetAttr CpuTarget::attribute(MLIRContext *context) const {
  return kv::TargetAttr::get(context, description.name, description.lanes,
                             description.registers, "vector", description.dot);
}

void CpuTarget::buildLoops(OpPassManager &passes) const {
  passes.addPass(createLowerTiles());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addNestedPass<func::FuncOp>(createLoopInvariantCodeMotionPass());
  passes.addNestedPass<func::FuncOp>(createShareTiles(
      {.limit = FrameBytes,
       .where = "a thread's stack",
       .remedy = "a smaller head_dim or value_dim fits, or larger groups"}));
}

void CpuTarget::buildLLVM(OpPassManager &passes) const {
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertIndexToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  EmitLibraryOptions options;
  options.features = description.features;
  passes.addPass(createEmitLibrary(options));
}

static void initializeLLVM() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    // The runtime has some inline assembly.
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
  });
}

std::unique_ptr<llvm::TargetMachine>
CpuTarget::machine(std::string &error) const {
  initializeLLVM();
  llvm::Triple triple(description.triple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, description.cpu, description.extras, llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

bool CpuTarget::linkRuntime(llvm::Module &module, bool sanitize,
                            std::string &error) const {
  const llvm::StringRef bitcode =
      sanitize ? description.sanitizedRuntime() : description.runtime();
  auto buffer = llvm::MemoryBufferRef(bitcode, "runtime");
  auto runtime = llvm::parseBitcodeFile(buffer, module.getContext());
  if (!runtime) {
    error = llvm::toString(runtime.takeError());
    return false;
  }
  (*runtime)->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(*runtime))) {
    error = "the runtime does not link with the generated code";
    return false;
  }
  return true;
}

/// Whether a library exports the symbol.
static bool isExported(const llvm::GlobalValue &value) {
  llvm::StringRef name = value.getName();
  return !value.isDeclaration() && isa<llvm::Function>(value) &&
         !value.hasHiddenVisibility() && name.ends_with("_library");
}

/// Whether other objects of the same program or library have to see it:
/// AddressSanitizer's note that their variables are known to it.
static bool isShared(const llvm::GlobalValue &value) {
  return isExported(value) || value.getName() == "___asan_globals_registered";
}

namespace {
/// The analyses that a run of LLVM's passes needs.
struct Analyses {
  explicit Analyses(llvm::PassBuilder &builder) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};
} // namespace

/// Kernels come as vectors, unrolled and in the order they are to run in: what
/// is left is to keep values in registers, to share what is computed twice and
/// to move it out of loops. LLVM's -O3 makes no faster code of it, takes nine
/// times as long, and unrolls what is rare.
static bool optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     std::string &error) {
  llvm::PassBuilder builder(&machine);
  Analyses analyses(builder);
  llvm::ModulePassManager passes;
  const char *pipeline =
      "function(sroa,early-cse<memssa>,simplifycfg,"
      "instcombine<no-verify-fixpoint>,loop-mssa(licm),gvn,"
      "instcombine<no-verify-fixpoint>,simplifycfg),globaldce";
  if (auto failed = builder.parsePassPipeline(passes, pipeline)) {
    error = llvm::toString(std::move(failed));
    return false;
  }
  passes.run(module, analyses.modules);
  return true;
}

/// Checks of what `module` reads and writes. The runtime, which is linked in
/// later, has its own from the compiler that it was made by.
static void addChecks(llvm::Module &module) {
  llvm::PassBuilder builder;
  Analyses analyses(builder);
  llvm::ModulePassManager passes;
  llvm::AddressSanitizerOptions options;
  // Calls, not branches: kernels are long, and compile three times as fast.
  options.InstrumentationWithCallsThreshold = 0;
  passes.addPass(llvm::AddressSanitizerPass(options));
  passes.run(module, analyses.modules);
}

/// What a debugger, a profiler or a crash report needs to tell who called: also
/// of functions that nothing is thrown through. Apple's arm64 wants x29 to lead
/// from one caller to the next besides.
static void describeFrames(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.setUWTableKind(llvm::UWTableKind::Sync);
    if (module.getTargetTriple().isOSDarwin())
      function.addFnAttr("frame-pointer", "non-leaf");
  }
}

static void removeUnused(llvm::Module &module) {
  llvm::PassBuilder builder;
  Analyses analyses(builder);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, analyses.modules);
}

bool CpuTarget::finish(llvm::Module &module, bool sanitize,
                       std::string &error) const {
  auto machine = this->machine(error);
  if (!machine)
    return false;
  module.setTargetTriple(llvm::Triple(description.triple));
  module.setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    // Also for passes that would read more than they are asked to.
    if (sanitize)
      function.addFnAttr(llvm::Attribute::SanitizeAddress);
    // Entry points run before it is known what the CPU has.
    if (isExported(function)) {
      function.addFnAttr("target-cpu", description.anyCpu);
      continue;
    }
    function.addFnAttr("target-cpu", description.cpu);
    if (!description.extras.empty())
      function.addFnAttr("target-features", description.extras);
    if (!description.tune.empty())
      function.addFnAttr("tune-cpu", description.tune);
  }
  // The runtime comes optimised, and meets kernels through pointers alone.
  if (!optimize(module, *machine, error))
    return false;
  if (sanitize)
    addChecks(module);
  if (!linkRuntime(module, sanitize, error))
    return false;
  describeFrames(module);
  llvm::internalizeModule(module, isShared);
  removeUnused(module);
  llvm::raw_string_ostream os(error);
  return !llvm::verifyModule(module, &os);
}

/// What TargetMachine::addPassesToEmitFile adds, but for the machine combiner:
/// it adds up sums of integers in an order of its own, which is less deep and
/// takes more registers than there are.
static bool addCodeGenerator(llvm::legacy::PassManager &passes,
                             llvm::TargetMachine &machine, bool assembly,
                             llvm::raw_pwrite_stream &os) {
  auto *modules = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig *config = machine.createPassConfig(passes);
  config->disablePass(&llvm::MachineCombinerID);
  // Without it there is no memcpy, and blocks are copied byte by byte.
  passes.add(new llvm::RuntimeLibraryInfoWrapper(machine.getTargetTriple()));
  passes.add(config);
  passes.add(modules);
  if (config->addISelPasses())
    return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, os, nullptr,
                            assembly ? llvm::CodeGenFileType::AssemblyFile
                                     : llvm::CodeGenFileType::ObjectFile,
                            modules->getMMI().getContext()))
    return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

bool CpuTarget::emit(llvm::Module &module, bool assembly,
                     llvm::raw_pwrite_stream &os, std::string &error) const {
  auto machine = this->machine(error);
  if (!machine)
    return false;
  llvm::legacy::PassManager passes;
  if (!addCodeGenerator(passes, *machine, assembly, os)) {
    error = "LLVM writes no such file for " + description.name;
    return false;
  }
  passes.run(module);
  return true;
}

} // namespace kvc
