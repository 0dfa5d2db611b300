//===- ReferenceBackTest.cpp - the reference going back -------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// truncate, fork, load and reset: against numbers by hand, and against a
// reference that never went further.
//
//===----------------------------------------------------------------------===//

#include "test/unit/ReferenceTestModel.h"

#include <cmath>

using namespace kvc;
using namespace kvc::test;

namespace {

/// Token `t` of input number `input`: whole numbers, which differ.
float numberOf(int64_t t, int64_t input = 0) {
  return static_cast<float>((t * 37 + input * 101) % 64) - 20;
}

void take(Reference &reference, int64_t from, int64_t to, int64_t input = 0) {
  for (int64_t t = from; t < to; ++t) {
    const float x = numberOf(t, input), q = 0;
    reference.decode(0, {q, x, x}, /*attention=*/false);
  }
}

/// All of a store that can be seen: indices, values, what is coded, counts.
std::string textOf(const Store &store) {
  std::string text;
  auto add = [&](auto value) { text += std::to_string(value) + " "; };
  add(store.seen());
  add(store.stored());
  add(store.evicted());
  for (const Token &token : store.getTokens()) {
    add(token.index);
    for (const PlaneToken &plane : token.planes) {
      for (float value : plane.read)
        add(value);
      text += plane.coded ? "coded " : "";
    }
  }
  return text;
}

/// Policies whose borders lie within a few dozen tokens.
std::vector<Policy> policies() {
  std::vector<Policy> list;
  Policy policy;
  list.push_back(policy);
  policy.time = window(2, 9);
  list.push_back(policy);
  policy.keys = perChannel(4, 4, 8, 3);
  policy.values = perToken(8, 1, 2, 5);
  list.push_back(policy);
  policy.time = "#kv.all<sinks = 3, tokens = 100>";
  list.push_back(policy);
  policy.time = window(1, 5);
  policy.keys = "#kv.affine_all<bits = 4, scales = f16>";
  list.push_back(policy);
  return list;
}

/// From any length to any other: what is stored is what it was; and with other
/// tokens from there on, what those make of it.
void goesBackToWhatWas() {
  for (const Policy &policy : policies())
    for (int64_t to : {0, 1, 2, 3, 7, 11, 12, 16, 19, 23})
      for (int64_t from : {0, 1, 5, 24, 40}) {
        Model model;
        model.add({1, 1, 1, 1}, policy);
        auto went = model.build(), straight = went->fork();
        take(*went, 0, to + from);
        CHECK(went->longest() == to + from);
        went->truncate(to);
        take(*straight, 0, to);
        if (!CHECK(textOf(went->store(0)) == textOf(straight->store(0))))
          std::printf("%s: %lld to %lld\n", policy.text().c_str(),
                      static_cast<long long>(to + from),
                      static_cast<long long>(to));
        CHECK(went->store(0).reached() == to);
        take(*went, to, to + 30, 1);
        take(*straight, to, to + 30, 1);
        CHECK(textOf(went->store(0)) == textOf(straight->store(0)));
        // Also what was attended to before.
        for (int64_t length = 0; length <= to + 30; ++length) {
          const Moment a = went->store(0).getMoment(length),
                       b = straight->store(0).getMoment(length);
          if (!CHECK(a.tokens.size() == b.tokens.size()))
            continue;
          for (size_t i = 0; i < a.tokens.size(); ++i)
            for (size_t plane : {0, 1})
              CHECK(a.tokens[i].index == b.tokens[i].index &&
                    a.tokens[i].planes[plane]->read ==
                        b.tokens[i].planes[plane]->read);
        }
      }
}

/// What is there and what is gone, by hand.
void knowsWhatIsGone() {
  Model model;
  Policy policy;
  policy.time = window(2, 9);
  model.add({1, 1, 1, 1}, policy);
  auto reference = model.build();
  take(*reference, 0, 11); // full, nothing evicted
  CHECK(reference->canTruncate(11) && reference->canTruncate(0));
  take(*reference, 11, 12); // token 2 is gone
  CHECK(!reference->canTruncate(11) && !reference->canTruncate(3));
  // No length up to 2 has it; nor does a part behind it.
  CHECK(reference->canTruncate(2) && reference->canTruncate(0));
  CHECK(reference->store(0).isHeld(11, 3) &&
        reference->store(0).isHeld(11, 0, 2));
  CHECK(!reference->store(0).isHeld(11, 0, 3));
  // Codes of 4: originals stay until their flush.
  Model coded;
  policy = {};
  policy.keys = perChannel(8, 4, 4, 0);
  coded.add({1, 1, 1, 1}, policy);
  reference = coded.build();
  take(*reference, 0, 7);
  for (int64_t length : {0, 4, 5, 6, 7})
    CHECK(reference->canTruncate(length));
  for (int64_t length : {1, 2, 3})
    CHECK(!reference->canTruncate(length));
  CHECK(!reference->store(0).isHeld(3, 2) && reference->store(0).isHeld(3, 3));
}

/// Rollback counts from the longest length; of what was loaded nothing from
/// before is there, and then as much as came since.
void countsRollback() {
  Model model;
  Policy policy;
  policy.time = window(0, 5);
  policy.rollback = 3;
  model.add({1, 1, 1, 1}, policy);
  auto reference = model.build();
  const auto least = [](const Reference &reference) {
    int64_t tokens = reference.longest();
    while (tokens > 0 && reference.canTruncate(tokens - 1))
      --tokens;
    return tokens;
  };
  take(*reference, 0, 20);
  CHECK_EQ(least(*reference), 17);
  CHECK(!reference->canTruncate(16) && !reference->canTruncate(1));
  CHECK(reference->canTruncate(0));
  reference->truncate(18);
  CHECK_EQ(least(*reference), 17);
  take(*reference, 18, 20, 1);
  CHECK_EQ(least(*reference), 17);
  take(*reference, 20, 21, 1);
  CHECK_EQ(least(*reference), 18);
  // Further back than rollback: it counts from there on.
  auto back = reference->fork();
  back->truncate(0);
  CHECK_EQ(back->store(0).reached(), 3);
  take(*back, 0, 12, 1);
  CHECK_EQ(least(*back), 9);
  // Bytes: tokens 13 on are held, of 4 bytes in two planes.
  const Store &store = reference->store(0);
  const BytePlan plan = planBytes(store.policy(), store.shape(), 21, 21);
  CHECK_EQ(plan.rollback, 3 * 8);
  CHECK_EQ(planBytes(store.policy(), store.shape(), 18, 21).rollback, 0);

  auto loaded = reference->load();
  CHECK_EQ(loaded->store(0).reached(), 24);
  CHECK_EQ(least(*loaded), 21);
  CHECK_EQ(
      planBytes(store.policy(), store.shape(), 21, loaded->store(0).reached())
          .rollback,
      0);
  take(*loaded, 21, 23, 2);
  CHECK_EQ(least(*loaded), 21);
  take(*loaded, 23, 27, 2);
  CHECK_EQ(least(*loaded), 24);
  // The other is where it was.
  CHECK_EQ(reference->longest(), 21);
  CHECK_EQ(least(*reference), 18);
}

/// Layers of other lengths, and readers.
void goesBackInEachLayer() {
  Model model;
  Policy policy, reader;
  reader.depth = "#kv.share<layer = 0>";
  model.add({1, 1, 1, 1}, policy);
  model.add({1, 1, 1, 1}, reader);
  model.add({1, 1, 1, 1}, policy);
  auto reference = model.build();
  take(*reference, 0, 9);
  const float x = 1;
  reference->decode(1, {x, {}, {}});
  reference->decode(2, {x, x, x});
  reference->truncate(4);
  CHECK_EQ(reference->seen(0), 4);
  CHECK_EQ(reference->seen(1), 4);
  CHECK_EQ(reference->seen(2), 1);
  reference->truncate(2);
  CHECK_EQ(reference->seen(1), 2);
  CHECK_EQ(reference->seen(2), 1);
  take(*reference, 2, 5);
  auto copy = reference->fork(), loaded = reference->load();
  CHECK_EQ(copy->seen(1), 2);
  CHECK_EQ(loaded->seen(1), 5);
  reference->reset();
  for (int64_t layer : {0, 1, 2})
    CHECK_EQ(reference->seen(layer), 0);
  CHECK_EQ(reference->store(0).reached(), 0);
  CHECK_EQ(copy->seen(0), 5);
  CHECK_EQ(loaded->seen(0), 5);
}

/// Forks go their own ways; what saturated is what each wrote.
void forksAndCounts() {
  Model model;
  Policy policy;
  policy.keys = "#kv.float<f16>";
  policy.values = "#kv.affine_all<bits = 4, scales = f16>";
  model.add({1, 1, 1, 1}, policy);
  auto reference = model.build();
  const auto token = [](Reference &to, float key, float value) {
    const float q = 0;
    to.decode(0, {q, key, value});
  };
  token(*reference, 70000, 1);
  token(*reference, 1, -70000);
  CHECK_EQ(reference->store(0).saturated(), 2);
  auto copy = reference->fork();
  token(*copy, 70000, 2);
  CHECK_EQ(copy->store(0).saturated(), 3);
  CHECK_EQ(reference->store(0).saturated(), 2);
  CHECK(textOf(copy->store(0)) != textOf(reference->store(0)));
  // Codes are made anew of what is left; what was written was written.
  copy->truncate(1);
  CHECK_EQ(copy->store(0).saturated(), 2);
  token(*copy, 1, -70000);
  CHECK_EQ(copy->store(0).saturated(), 3);
  CHECK(textOf(copy->store(0)) == textOf(reference->store(0)));
  // Of what was loaded, the codes of now alone.
  CHECK_EQ(copy->load()->store(0).saturated(), 1);
  copy->reset();
  CHECK_EQ(copy->store(0).saturated(), 0);
}

} // namespace

int main() {
  goesBackToWhatWas();
  knowsWhatIsGone();
  countsRollback();
  goesBackInEachLayer();
  forksAndCounts();
  return kvc::test::checkResult();
}
