//===- BuildSnapshot.cpp - tokens to a snapshot and back ------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/TileBuilder.h"
#include "dialect/KVLayout.h"

using namespace mlir;

namespace kvc {

/// @<step>_save<stream>(view, token, elements, pairs): see kv.save. Likewise
/// _restore<stream>.
template <typename Op>
static void buildSnapshot(TileBuilder &tiles, int64_t number,
                          llvm::StringRef name) {
  OpBuilder &builder = tiles.builder;
  kv::StreamAttr stream = tiles.streams[number];
  const kv::PageLayout layout(stream);
  auto bits = [&](int64_t columns) {
    return MemRefType::get({layout.layout.getHeads(), columns},
                           builder.getI32Type());
  };
  SmallVector<Type> inputs{kv::ViewType::get(builder.getContext()),
                           tiles.index(), bits(layout.layout.getChannels())};
  if (layout.block)
    inputs.push_back(
        bits(layout.pairChannels() * stream.getEncoding().getPairWords()));
  auto function = tiles.function((name + Twine(number)).str(), inputs, {});
  Value token = function.getArgument(1);
  Value page = tiles.page(function.getArgument(0), number, token);
  tiles.forHeads({}, [&](Value head, ValueRange) {
    Op::create(builder, tiles.loc, page, head, token, function.getArgument(2),
               layout.block ? Value(function.getArgument(3)) : Value());
    return SmallVector<Value>{};
  });
  tiles.finish();
}

/// Codes that are made anew are no part of a snapshot: their originals are.
void buildSnapshots(TileBuilder &tiles) {
  for (auto [number, stream] : llvm::enumerate(tiles.streams)) {
    if (stream.getKind() == "code" && stream.getEncoding().remakesCodes())
      continue;
    buildSnapshot<kv::SaveOp>(tiles, static_cast<int64_t>(number), "save");
    buildSnapshot<kv::RestoreOp>(tiles, static_cast<int64_t>(number),
                                 "restore");
  }
}

} // namespace kvc
