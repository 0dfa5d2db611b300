//===- Reference.cpp - fp64 interpreter of the cache level ----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Reference.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kvc::reference {

static llvm::Error refuse(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// The body that does the layer's step: its own, or that of its `kv.step`.
static llvm::Expected<Block *> findBody(kv::LayerOp layer) {
  Region *region = &layer.getBody();
  if (auto name = layer.getStep()) {
    auto model = layer->getParentOfType<ModuleOp>();
    auto step = model.lookupSymbol<kv::StepOp>(*name);
    if (!step)
      return refuse("layer " + layer.getSymName() + " names the step " + *name +
                    ", which is not there");
    region = &step.getBody();
  }
  if (region->empty())
    return refuse("layer " + layer.getSymName() +
                  " has no body at the cache level");
  for (Operation &op : region->front())
    if (!isa<kv::AppendOp, kv::EvictOp, kv::CodeOp, kv::AttendOp, kv::YieldOp>(
            op))
      return refuse("layer " + layer.getSymName() + " does " +
                    op.getName().getStringRef() +
                    ", which is not of the cache level");
  return &region->front();
}

bool startsWithLogit(kv::PolicyAttr policy) {
  return llvm::any_of(policy.getScore(), [](Attribute point) {
    return cast<kv::ScoreAttrInterface>(point).startsWithLogit();
  });
}

llvm::Expected<std::unique_ptr<Reference>>
Reference::create(ModuleOp module, int64_t firstPosition,
                  const LearnedSinks &sinks) {
  auto models = module.getOps<kv::ModelOp>();
  if (!llvm::hasSingleElement(models))
    return refuse("the module has not one kv.model");
  auto reference = std::make_unique<Reference>();
  for (auto [number, layer] : llvm::enumerate((*models.begin()).getLayers())) {
    llvm::Expected<Block *> body = findBody(layer);
    if (!body)
      return body.takeError();
    const int64_t self = static_cast<int64_t>(number);
    Layer entry{layer.getPolicy(),
                layer.getShape(),
                layer.getPolicy().getDepth().getOwner(self),
                *body,
                nullptr,
                0,
                {}};
    if (startsWithLogit(entry.policy)) {
      if (number >= sinks.size() ||
          static_cast<int64_t>(sinks[number].size()) != entry.shape.getHeads())
        return refuse("layer " + layer.getSymName() + " wants " +
                      llvm::Twine(entry.shape.getHeads()) + " learned sinks");
      entry.sinks = sinks[number];
    }
    if (entry.owner == self)
      entry.store =
          std::make_unique<Store>(entry.policy, entry.shape, firstPosition);
    reference->table.push_back(std::move(entry));
  }
  return reference;
}

int64_t Reference::seen(int64_t layer) const {
  return stores(layer) ? store(layer).seen() : table[layer].queried;
}

int64_t Reference::longest() const {
  int64_t tokens = 0;
  for (const Layer &layer : table)
    if (layer.store)
      tokens = std::max(tokens, layer.store->seen());
  return tokens;
}

bool Reference::canTruncate(int64_t tokens) const {
  return llvm::all_of(table, [&](const Layer &layer) {
    return !layer.store || layer.store->isHeld(tokens);
  });
}

void Reference::truncate(int64_t tokens) {
  for (Layer &layer : table) {
    if (layer.store && layer.store->seen() > tokens)
      layer.store->truncate(tokens);
    layer.queried = std::min(layer.queried, tokens);
  }
}

void Reference::reset() {
  for (Layer &layer : table) {
    if (layer.store)
      *layer.store =
          Store(layer.policy, layer.shape, layer.store->firstPosition());
    layer.queried = 0;
  }
}

std::unique_ptr<Reference> Reference::fork() const {
  auto copy = std::make_unique<Reference>();
  for (const Layer &layer : table)
    copy->table.push_back(
        {layer.policy, layer.shape, layer.owner, layer.body,
         layer.store ? std::make_unique<Store>(*layer.store) : nullptr,
         layer.queried, layer.sinks});
  return copy;
}

std::unique_ptr<Reference> Reference::load() const {
  std::unique_ptr<Reference> copy = fork();
  for (Layer &layer : copy->table)
    if (layer.store)
      layer.store->beLoaded();
    else
      layer.queried = store(layer.owner).seen();
  return copy;
}

Attended Reference::decode(int64_t number, const Input &input, bool attention,
                           int64_t back) {
  Layer &layer = table[number];
  Store &store = *table[layer.owner].store;
  const bool owns = layer.owner == number;
  const int64_t position =
      store.firstPosition() + store.seen() - (owns ? 0 : 1 + back);
  // The body's arguments: the cache, q, and k and v where the layer stores.
  const std::array<llvm::ArrayRef<float>, 4> arguments = {
      llvm::ArrayRef<float>(), input.q, input.k, input.v};
  auto argument = [&](Value value) {
    return arguments[cast<BlockArgument>(value).getArgNumber()];
  };
  llvm::SmallDenseMap<Value, Attended> results;
  Attended yielded;
  // The verifier has seen to it that each operation takes the newest moment of
  // the cache, so one store is all of them.
  for (Operation &op : *layer.body)
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](kv::AppendOp append) {
          store.append(argument(append.getK()), argument(append.getV()));
        })
        .Case([&](kv::EvictOp) { store.evict(); })
        .Case([&](kv::CodeOp) { store.code(); })
        .Case([&](kv::AttendOp attend) {
          if (attention)
            results[attend.getOut()] =
                reference::attend(store, layer.policy, layer.shape, position,
                                  argument(attend.getQ()), layer.sinks);
        })
        .Case([&](kv::YieldOp yield) {
          for (Value value : yield.getValues())
            if (auto found = results.find(value); found != results.end())
              yielded = std::move(found->second);
        });
  if (!owns)
    layer.queried = store.seen() - back;
  return yielded;
}

} // namespace kvc::reference
