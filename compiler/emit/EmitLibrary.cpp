//===- EmitLibrary.cpp - a library's description of itself ----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/emit/CFunctions.h"
#include "compiler/emit/Emit.h"
#include "compiler/emit/StoredForm.h"
#include "dialect/KVLayout.h"
#include "runtime/Generated.h"
#include "runtime/include/kvc/kvc.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static_assert(kvc::kv::maxStreams == KVC_MAX_STREAMS);

namespace kvc {
#define GEN_PASS_DEF_EMITLIBRARY
#include "compiler/emit/Passes.h.inc"

/// A float type as kvc_type; -1: none.
static int64_t typeNumber(Type type) {
  if (!type)
    return -1;
  if (type.isF16())
    return KVC_F16;
  return type.isBF16() ? KVC_BF16 : KVC_F32;
}

namespace {

/// The structs of runtime/Generated.h are made of 64-bit members, so a list of
/// these is any of them.
struct Member {
  enum Kind { Integer, Real, Address } kind = Integer;
  int64_t integer = 0;
  double real = 0;
  std::string symbol; ///< "": null

  Member(int64_t value) : integer(value) {}
  static Member of(double value) {
    Member member(0);
    member.kind = Real;
    member.real = value;
    return member;
  }
  static Member address(std::string symbol) {
    Member member(0);
    member.kind = Address;
    member.symbol = std::move(symbol);
    return member;
  }
};
using Record = SmallVector<Member>;

/// Writes one model's description.
class LibraryWriter {
public:
  LibraryWriter(ModuleOp module, kv::ModelOp model, int64_t features)
      : module(module), model(model), features(features),
        builder(module.getContext()), loc(model.getLoc()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  LogicalResult run();

private:
  Type typeOf(const Member &member);
  Value build(const Member &member);
  /// A constant array of records of one shape; gives its symbol.
  std::string array(StringRef name, ArrayRef<Record> records);
  std::string text(StringRef name, StringRef value);
  std::string numbers(StringRef name, ArrayRef<double> values);
  LLVM::GlobalOp global(StringRef name, Type type, LLVM::Linkage linkage);

  std::string stepRecord(kv::StepOp step);
  int64_t ropeOf(kv::PositionAttrInterface position);
  int64_t chunkOf(kv::LayerOp layer);
  Record layerRecord(kv::LayerOp layer,
                     const llvm::StringMap<std::pair<int64_t, std::string>> &);
  void entryPoint(StringRef name, LLVM::LLVMFuncOp table);

  ModuleOp module;
  kv::ModelOp model;
  int64_t features;
  OpBuilder builder;
  Location loc;
  Type pointer;
  SmallVector<std::pair<SmallVector<double>, double>> ropes;
};

} // namespace

Type LibraryWriter::typeOf(const Member &member) {
  switch (member.kind) {
  case Member::Integer:
    return builder.getI64Type();
  case Member::Real:
    return builder.getF64Type();
  case Member::Address:
    return pointer;
  }
  return {};
}

Value LibraryWriter::build(const Member &member) {
  switch (member.kind) {
  case Member::Integer:
    return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                    member.integer);
  case Member::Real:
    return LLVM::ConstantOp::create(builder, loc,
                                    builder.getF64FloatAttr(member.real));
  case Member::Address:
    if (member.symbol.empty())
      return LLVM::ZeroOp::create(builder, loc, pointer);
    return LLVM::AddressOfOp::create(builder, loc, pointer, member.symbol);
  }
  return {};
}

LLVM::GlobalOp LibraryWriter::global(StringRef name, Type type,
                                     LLVM::Linkage linkage) {
  builder.setInsertionPointToEnd(module.getBody());
  return LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                linkage, name, Attribute());
}

std::string LibraryWriter::array(StringRef name, ArrayRef<Record> records) {
  if (records.empty())
    return "";
  SmallVector<Type> members;
  for (const Member &member : records.front())
    members.push_back(typeOf(member));
  auto record = LLVM::LLVMStructType::getLiteral(module.getContext(), members);
  auto type = LLVM::LLVMArrayType::get(record, records.size());
  auto op = global(name, type, LLVM::Linkage::Internal);
  builder.createBlock(&op.getInitializerRegion());
  Value value = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [i, fields] : llvm::enumerate(records))
    for (auto [j, member] : llvm::enumerate(fields))
      value = LLVM::InsertValueOp::create(
          builder, loc, value, build(member),
          ArrayRef<int64_t>{static_cast<int64_t>(i), static_cast<int64_t>(j)});
  LLVM::ReturnOp::create(builder, loc, value);
  return name.str();
}

std::string LibraryWriter::text(StringRef name, StringRef value) {
  std::string bytes = value.str();
  bytes.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  auto op = global(name, type, LLVM::Linkage::Internal);
  op.setValueAttr(builder.getStringAttr(bytes));
  return name.str();
}

std::string LibraryWriter::numbers(StringRef name, ArrayRef<double> values) {
  auto type = LLVM::LLVMArrayType::get(builder.getF64Type(), values.size());
  auto op = global(name, type, LLVM::Linkage::Internal);
  auto tensor = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                      builder.getF64Type());
  op.setValueAttr(DenseElementsAttr::get(tensor, values));
  return name.str();
}

/// What tokens lose by that distance, at most 2^5, leaves the lse of parts with
/// errors of 2^-19.
static int64_t nearOf(kv::PolicyAttr policy) {
  double fall = 0;
  for (Attribute point : policy.getScore())
    fall += cast<kv::ScoreAttrInterface>(point).getSteepestFall();
  return fall * INT32_MAX <= 32 ? INT64_MAX : static_cast<int64_t>(32 / fall);
}

std::string LibraryWriter::stepRecord(kv::StepOp step) {
  const std::string name = step.getSymName().str();
  auto at = [](std::string symbol) {
    return Member::address(std::move(symbol));
  };
  CFunctions functions(builder, step);
  SmallVector<Record> streams;
  for (auto [number, stream] : llvm::enumerate(step.getStreamList())) {
    const kv::PageLayout layout(stream);
    const int64_t pairWords =
        layout.pairChannels() * stream.getEncoding().getPairWords();
    const std::string save =
        functions.snapshot(("save" + Twine(number)).str(), stream);
    const std::string restore =
        functions.snapshot(("restore" + Twine(number)).str(), stream);
    const int64_t kind = stream.getKind() == "sink"   ? KVC_STREAM_SINK
                         : stream.getKind() == "code" ? KVC_STREAM_CODE
                                                      : KVC_STREAM_ORIGINAL;
    streams.push_back(
        {kind, stream.getOrigin(), layout.layout.getTokens(),
         4 * layout.pageWords, layout.layout.getPages(),
         kind == KVC_STREAM_CODE && stream.getEncoding().remakesCodes(),
         layout.layout.getChannels(), stream.getEncoding().getElementBits(),
         layout.block ? layout.block->tokens : 0, pairWords,
         typeNumber(stream.getEncoding().getPairType()), at(save),
         at(restore)});
  }
  kv::ShapeAttr shape = step.getShape();
  kv::PolicyAttr policy = step.getPolicy();
  Record record{shape.getHeads(),
                shape.getKvHeads(),
                shape.getHeadDim(),
                shape.getValueDim(),
                policy.getTime().getLimit().value_or(-1),
                policy.getRollback(),
                step.getSchedule() ? step.getSchedule()->getRows() : 1,
                static_cast<int64_t>(streams.size()),
                at(array(name + "_streams", streams)),
                static_cast<int64_t>(policy.getPosition().getRotations()),
                at(functions.store("ranges")),
                at(functions.store("held")),
                at(functions.store("indices")),
                at(functions.store("plan")),
                at(functions.append()),
                at(functions.onLength("code")),
                at(functions.attend("attend", 1)),
                at(functions.attend(
                    "attend_rows",
                    step.getSchedule() ? step.getSchedule()->getRows() : 1)),
                at(functions.merge()),
                at(functions.read()),
                at(functions.store("live")),
                static_cast<int64_t>(functions.takesSinks()),
                at(functions.onLength("recode")),
                nearOf(step.getPolicy())};
  return array(name + "_kernel", {record});
}

/// The number of the rotary setting; -1: nothing is rotated.
int64_t LibraryWriter::ropeOf(kv::PositionAttrInterface position) {
  if (position.getRotations() == 0)
    return -1;
  std::pair<SmallVector<double>, double> rope{position.getFrequencies(),
                                              position.getFactor()};
  for (auto [number, known] : llvm::enumerate(ropes))
    if (known == rope)
      return static_cast<int64_t>(number);
  ropes.push_back(rope);
  return static_cast<int64_t>(ropes.size()) - 1;
}

/// With readers, whose queries come behind the whole chunk, an owner takes no
/// more tokens at once than it can go back by; -1: what is held tells all.
int64_t LibraryWriter::chunkOf(kv::LayerOp layer) {
  kv::PolicyAttr policy = layer.getPolicy();
  const int64_t self = layer.getNumber();
  const bool isRead = llvm::any_of(model.getLayers(), [&](kv::LayerOp other) {
    return other != layer && other.getOwnerNumber() == self;
  });
  const bool forgets = policy.getTime().evicts() ||
                       policy.getKeys().keepsOriginals() ||
                       policy.getValues().keepsOriginals();
  return isRead && forgets ? policy.getRollback() + 1 : -1;
}

Record LibraryWriter::layerRecord(
    kv::LayerOp layer,
    const llvm::StringMap<std::pair<int64_t, std::string>> &steps) {
  auto [number, kernel] = steps.lookup(layer.getStep().value_or(""));
  std::string policy;
  llvm::raw_string_ostream(policy) << layer.getPolicy();
  return {
      Member::address(kernel),
      number,
      layer.getOwnerNumber(),
      ropeOf(layer.getPolicy().getPosition()),
      chunkOf(layer),
      Member::address(text((layer.getSymName() + "_policy").str(), policy))};
}

void LibraryWriter::entryPoint(StringRef name, LLVM::LLVMFuncOp table) {
  if (module.lookupSymbol(name))
    return;
  builder.setInsertionPointToEnd(module.getBody());
  auto function = LLVM::LLVMFuncOp::create(
      builder, loc, name, LLVM::LLVMFunctionType::get(pointer, {}));
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  auto call = LLVM::CallOp::create(builder, loc, table, ValueRange{});
  LLVM::ReturnOp::create(builder, loc, call.getResults());
}

/// Whether the module has the functions that the runtime calls of every kernel:
/// what it lacks would be a null pointer there.
static LogicalResult checkFunctions(kv::StepOp step) {
  auto module = step->getParentOfType<ModuleOp>();
  SmallVector<StringRef> needed{"ranges", "held",   "indices", "plan",
                                "live",   "attend", "merge"};
  if (step.getSchedule() && step.getSchedule()->getRows() > 1)
    needed.push_back("attend_rows");
  if (step.getPolicy().getDepth().stores())
    needed.append({"append", "read_keys", "read_values"});
  SmallVector<std::string> ofStreams;
  for (auto [number, stream] : llvm::enumerate(step.getStreamList())) {
    if (!step.getPolicy().getDepth().stores())
      continue;
    const bool isCode = stream.getKind() == "code";
    const bool isRemade = isCode && stream.getEncoding().remakesCodes();
    if (isCode)
      needed.push_back(isRemade ? "recode" : "code");
    if (!isRemade)
      ofStreams.append(
          {("save" + Twine(number)).str(), ("restore" + Twine(number)).str()});
  }
  needed.append(ofStreams.begin(), ofStreams.end());
  for (StringRef suffix : needed) {
    const std::string name = (step.getSymName() + "_" + suffix).str();
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    if (!function || function.isExternal())
      return step.emitOpError("lacks its function @") << name;
  }
  return success();
}

LogicalResult LibraryWriter::run() {
  llvm::StringMap<std::pair<int64_t, std::string>> steps;
  for (kv::StepOp step : module.getOps<kv::StepOp>()) {
    if (step.getStreamList().empty())
      return step.emitOpError("has no streams");
    if (step.getStreamList().size() > KVC_MAX_STREAMS)
      return step.emitOpError("has more than ")
             << KVC_MAX_STREAMS << " streams";
    if (failed(checkFunctions(step)))
      return failure();
    const int64_t number = static_cast<int64_t>(steps.size());
    steps[step.getSymName()] = {number, stepRecord(step)};
  }
  SmallVector<Record> layers;
  for (kv::LayerOp layer : model.getLayers()) {
    if (!layer.getStep() || !steps.contains(*layer.getStep()))
      return layer.emitOpError("names no step that is generated");
    layers.push_back(layerRecord(layer, steps));
  }
  SmallVector<Record> ropeRecords;
  for (auto [number, rope] : llvm::enumerate(ropes))
    ropeRecords.push_back(
        {static_cast<int64_t>(rope.first.size()), Member::of(rope.second),
         Member::address(
             numbers(("kvc_frequencies" + Twine(number)).str(), rope.first))});
  auto target = module->getAttrOfType<kv::TargetAttr>("kv.target");
  Record record{
      KVC_GENERATED_VERSION,
      Member::address(text("kvc_name", model.getSymName())),
      Member::address(text("kvc_spec", model.getSpec().value_or(""))),
      Member::address(text("kvc_target", target ? target.getName() : "")),
      Member::address(text("kvc_stored", storedForm(model))),
      typeNumber(model.getIo()),
      features,
      static_cast<int64_t>(layers.size()),
      static_cast<int64_t>(steps.size()),
      static_cast<int64_t>(ropeRecords.size()),
      Member::address(array("kvc_layers", layers)),
      Member::address(array("kvc_ropes", ropeRecords))};
  array("kvc_generated", {record});
  // The runtime, which comes as a module of its own, refers to it.
  module.lookupSymbol<LLVM::GlobalOp>("kvc_generated")
      .setLinkage(LLVM::Linkage::External);

  builder.setInsertionPointToEnd(module.getBody());
  auto table =
      LLVM::LLVMFuncOp::create(builder, loc, "kvc_runtime_table",
                               LLVM::LLVMFunctionType::get(pointer, {}));
  entryPoint((model.getSymName() + "_library").str(), table);
  entryPoint("kvc_library", table);

  for (kv::StepOp step : llvm::to_vector(module.getOps<kv::StepOp>()))
    step.erase();
  model.erase();
  return success();
}

namespace {
struct EmitLibrary : impl::EmitLibraryBase<EmitLibrary> {
  using EmitLibraryBase::EmitLibraryBase;

  void runOnOperation() override {
    auto models = llvm::to_vector(getOperation().getOps<kv::ModelOp>());
    if (models.size() != 1) {
      getOperation().emitError("a library has one kv.model, not ")
          << models.size();
      return signalPassFailure();
    }
    if (failed(LibraryWriter(getOperation(), models[0], features).run()))
      signalPassFailure();
  }
};
} // namespace
} // namespace kvc
