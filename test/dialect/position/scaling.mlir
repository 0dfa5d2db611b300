// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.scaling is printed as it was read.

// CHECK: "test.use"() {point = #kv.scaling<"linear", {factor = 4.000000e+00 : f64}>}
"test.use"() {point = #kv.scaling<"linear", {factor = 4.000000e+00 : f64}>} : () -> ()
// CHECK: "test.use"() {point = #kv.scaling<"ntk", {factor = 4.000000e+00 : f64}>}
"test.use"() {point = #kv.scaling<"ntk", {factor = 4.000000e+00 : f64}>} : () -> ()
// CHECK: "test.use"() {point = #kv.scaling<"llama3", {factor = 8.000000e+00 : f64, high = 4.000000e+00 : f64, low = 1.000000e+00 : f64, original_context = 8.192000e+03 : f64}>}
"test.use"() {point = #kv.scaling<"llama3", {factor = 8.000000e+00 : f64, high = 4.000000e+00 : f64, low = 1.000000e+00 : f64, original_context = 8.192000e+03 : f64}>} : () -> ()
// CHECK: "test.use"() {point = #kv.scaling<"yarn", {attention_factor = 1.500000e+00 : f64, beta_fast = 3.200000e+01 : f64, beta_slow = 1.000000e+00 : f64, factor = 8.000000e+00 : f64, original_context = 4.096000e+03 : f64, truncate = true}>}
"test.use"() {point = #kv.scaling<"yarn", {attention_factor = 1.500000e+00 : f64, beta_fast = 3.200000e+01 : f64, beta_slow = 1.000000e+00 : f64, factor = 8.000000e+00 : f64, original_context = 4.096000e+03 : f64, truncate = true}>} : () -> ()
