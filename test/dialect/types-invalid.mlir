// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What the types refuse; and names that are none.

// expected-error@below {{unknown attribute `nothing` in dialect `kv`}}
#a = #kv.nothing

// -----

// expected-error@below {{unknown  type `nothing` in dialect `kv`}}
!x = !kv.nothing

// -----

// expected-error@below {{expected rows x columns, as in 3x64}}
!x = !kv.tile<3>

// -----

// expected-error@below {{expected rows x columns, as in 3x64}}
!x = !kv.tile<3x4x5>

// -----

// expected-error@below {{expected rows x columns, as in 3x64}}
!x = !kv.tile<>

// -----

// expected-error@below {{expected rows x columns, as in 3x64}}
!x = !kv.tile<-1x4>

// -----

// expected-error@below {{expected static shape}}
!x = !kv.tile<?x4>

// -----

// expected-error@below {{rows and columns are 1 to 16777216, not 0x4}}
!x = !kv.tile<0x4>

// -----

// expected-error@below {{rows and columns are 1 to 16777216, not 4x0}}
!x = !kv.tile<4x0>

// -----

// expected-error@below {{rows and columns are 1 to 16777216, not 4x16777217}}
!x = !kv.tile<4x16777217>

// -----

// expected-error@below {{invalid dimension}}
!x = !kv.tile<99999999999999999999x4>

// -----

// expected-error@below {{invalid dimension}}
!x = !kv.tile<3x4xf32>

// -----

// expected-error@below {{expected '<'}}
!x = !kv.tile

// -----

// expected-error@below {{expected rows x columns, as in 3x64}}
!x = !kv.state<3>

// -----

// expected-error@below {{expected rows x columns, as in 3x64}}
!x = !kv.state<3x4x5>

// -----

// expected-error@below {{expected rows x columns, as in 3x64}}
!x = !kv.state<>

// -----

// expected-error@below {{expected rows x columns, as in 3x64}}
!x = !kv.state<-1x4>

// -----

// expected-error@below {{expected static shape}}
!x = !kv.state<?x4>

// -----

// expected-error@below {{rows and columns are 1 to 16777216, not 0x4}}
!x = !kv.state<0x4>

// -----

// expected-error@below {{rows and columns are 1 to 16777216, not 4x0}}
!x = !kv.state<4x0>

// -----

// expected-error@below {{rows and columns are 1 to 16777216, not 4x16777217}}
!x = !kv.state<4x16777217>

// -----

// expected-error@below {{invalid dimension}}
!x = !kv.state<99999999999999999999x4>

// -----

// expected-error@below {{invalid dimension}}
!x = !kv.state<3x4xf32>

// -----

// expected-error@below {{expected '<'}}
!x = !kv.state

// -----

// expected-error@below {{invalid kind of attribute specified}}
// expected-error@below {{failed to parse KV_PageType parameter 'stream' which is to be a `StreamAttr`}}
!x = !kv.page<#kv.own>

// -----

// expected-error@below {{expected '<'}}
!x = !kv.page

// -----

// expected-error@below {{whole numbers are i16 or i8, not 'f32'}}
!x = !kv.tile<3x64, f32>
