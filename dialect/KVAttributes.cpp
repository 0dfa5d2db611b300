//===- KVAttributes.cpp - policies, streams, decisions --------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"
#include "dialect/KVDialect.h"
#include "dialect/KVFloats.h"
#include "dialect/KVLayout.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#define GET_ATTRDEF_CLASSES
#include "dialect/KVAttributes.cpp.inc"

namespace kvc::kv {

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

void KVDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/KVAttributes.cpp.inc"
      >();
}

LogicalResult ShapeAttr::verify(EmitError emitError, int64_t heads,
                                int64_t kvHeads, int64_t headDim,
                                int64_t valueDim, Type io) {
  for (auto [name, value] : {std::pair<StringRef, int64_t>{"heads", heads},
                             {"kv_heads", kvHeads},
                             {"head_dim", headDim},
                             {"value_dim", valueDim}})
    if (value < 1 || value > 65536)
      return emitError() << name << " is 1 to 65536, not " << value;
  if (heads % kvHeads != 0)
    return emitError() << "kv_heads is " << kvHeads
                       << ", which does not divide heads " << heads;
  if (!isFloatType(io))
    return emitError() << "io is f32, f16 or bf16, not " << io;
  return success();
}

static LogicalResult verifyArithmetic(EmitError emitError, Type arithmetic) {
  if (arithmetic && !arithmetic.isInteger(16) && !arithmetic.isInteger(8))
    return emitError() << "arithmetic is i16 or i8, not " << arithmetic;
  return success();
}

LogicalResult PolicyAttr::verify(
    EmitError emitError, PrecisionAttrInterface keys,
    PrecisionAttrInterface values, PrecisionAttrInterface residual,
    PrecisionAttrInterface keySinks, PrecisionAttrInterface valueSinks,
    TimeAttrInterface, PositionAttrInterface, DepthAttrInterface,
    ArrayAttr score, int64_t rollback, Type arithmetic) {
  for (auto [name, precision] :
       {std::pair<StringRef, PrecisionAttrInterface>{"residual", residual},
        {"key_sinks", keySinks},
        {"value_sinks", valueSinks}})
    if (precision.keepsOriginals() || precision.getBlock(1))
      return emitError() << name << " is kept without codes, not as "
                         << precision;
  for (auto [name, precision] :
       {std::pair<StringRef, PrecisionAttrInterface>{"keys", keys},
        {"values", values}}) {
    if (precision.keepsOriginals() != precision.getBlock(1).has_value())
      return emitError() << name
                         << " keeps originals just where it has scales, "
                         << "unlike " << precision;
    if (precision.remakesCodes() && precision.getBlock(2)->channels != 1)
      return emitError() << name << " has a scale for all tokens of "
                         << precision.getBlock(2)->channels
                         << " channels, where it is one a channel, in "
                         << precision;
  }
  for (auto precision : {keys, values, residual, keySinks, valueSinks})
    if (const unsigned bits = precision.getElementBits();
        bits < 1 || bits > 32 || !llvm::isPowerOf2_32(bits))
      return emitError() << "codes have 1, 2, 4, 8, 16 or 32 bits, not " << bits
                         << " as those of " << precision;
  if (rollback < 0 || rollback > INT32_MAX)
    return emitError() << "rollback is 0 to " << INT32_MAX << ", not "
                       << rollback;
  if (failed(verifyArithmetic(emitError, arithmetic)))
    return failure();
  for (auto precision : {keys, values})
    if (arithmetic && precision.codesAreNumbers() &&
        2 * precision.getElementBits() > arithmetic.getIntOrFloatBitWidth())
      return emitError() << "arithmetic in " << arithmetic
                         << " takes codes of at most "
                         << arithmetic.getIntOrFloatBitWidth() / 2
                         << " bits, not " << precision;
  for (Attribute point : score)
    if (!isa<ScoreAttrInterface>(point))
      return emitError() << "score is a list of score points; " << point
                         << " is none";
  return success();
}

PolicyAttr PolicyAttr::getKernelForm() const {
  return get(getContext(), getKeys(), getValues(), getResidual(), getKeySinks(),
             getValueSinks(), getTime(), getPosition().getKernelForm(),
             getDepth().getKernelForm(), getScore(), getRollback(),
             getArithmetic());
}

LogicalResult LayoutAttr::verify(EmitError emitError, int64_t heads,
                                 int64_t tokens, int64_t channels,
                                 int64_t block, StringRef lanesOn,
                                 int64_t lanes, int64_t vectors,
                                 int64_t pages) {
  if (lanesOn != "tokens" && lanesOn != "channels")
    return emitError() << R"(lanes_on is "tokens" or "channels", not ")"
                       << lanesOn << "\"";
  // The limits keep products of these, such as a record's words, in 64 bits.
  struct Extent {
    StringRef name;
    int64_t value, most;
  };
  for (auto [name, value, most] : {Extent{"heads", heads, 65536},
                                   {"tokens", tokens, int64_t(1) << 24},
                                   {"channels", channels, 65536},
                                   {"block", block, 65536},
                                   {"lanes", lanes, 1024},
                                   {"vectors", vectors, 1024},
                                   {"pages", pages, INT32_MAX}})
    if (value < 1 || value > most)
      return emitError() << name << " is 1 to " << most << ", not " << value;
  if (block > channels)
    return emitError() << "block is " << block << ", more than the channels, "
                       << channels;
  if (lanesOn == "tokens" && tokens % (lanes * vectors) != 0)
    return emitError() << "tokens is " << tokens
                       << ", which is not a multiple of lanes * vectors, "
                       << lanes * vectors;
  return success();
}

LogicalResult StreamAttr::verify(EmitError emitError, StringRef plane,
                                 StringRef kind, int64_t origin,
                                 PrecisionAttrInterface encoding,
                                 LayoutAttr layout) {
  if (plane != "keys" && plane != "values")
    return emitError() << R"(plane is "keys" or "values", not ")" << plane
                       << "\"";
  if (kind != "sink" && kind != "original" && kind != "code")
    return emitError() << R"(kind is "sink", "original" or "code", not ")"
                       << kind << "\"";
  if (origin < 0)
    return emitError() << "origin is not negative, as " << origin << " is";
  if (layout && layout.getTokens() % (32 / encoding.getElementBits()) != 0)
    return emitError() << "a page has whole words of tokens, not "
                       << layout.getTokens();
  return success();
}

LogicalResult TargetAttr::verify(EmitError emitError, StringRef, int64_t lanes,
                                 int64_t registers, StringRef lane,
                                 StringRef dot) {
  if (lanes < 1 || lanes > 1024 || !llvm::isPowerOf2_64(lanes))
    return emitError() << "lanes is a power of two up to 1024, not " << lanes;
  if (registers < 8)
    return emitError() << "registers is at least 8, not " << registers;
  if (lane != "vector" && lane != "invocation")
    return emitError() << "lane is vector or invocation, not " << lane;
  if (!dot.empty() && dot != "vpmadd" && dot != "sdot")
    return emitError() << R"(dot is "vpmadd", "sdot" or not there, not ")"
                       << dot << "\"";
  return success();
}

/// Runs that are worth asking for: lines that come too soon are gone again.
static constexpr int64_t MostPrefetch = 64;

LogicalResult ScheduleAttr::verify(EmitError emitError, int64_t heads,
                                   int64_t run, int64_t rows, int64_t prefetch,
                                   Type arithmetic, int64_t block) {
  if (block < 0 || block > INT32_MAX)
    return emitError() << "block is 0 to " << INT32_MAX << " heads, not "
                       << block;
  for (auto [name, value] : {std::pair<StringRef, int64_t>{"heads", heads},
                             {"run", run},
                             {"rows", rows}})
    if (value < 1 || value > INT32_MAX)
      return emitError() << name << " is 1 to " << INT32_MAX << ", not "
                         << value;
  if (prefetch < 0 || prefetch > MostPrefetch)
    return emitError() << "prefetch is 0 to " << MostPrefetch << " runs, not "
                       << prefetch;
  return verifyArithmetic(emitError, arithmetic);
}

} // namespace kvc::kv
