#===- EmbedFile.cmake - a file as an array in a C++ source -----------------===#
#
# Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
#
#   cmake -DINPUT=file -DOUTPUT=file.cpp -DSYMBOL=name -P EmbedFile.cmake
#
# writes OUTPUT with the bytes of INPUT as `const unsigned char name[]` and
# their number as `const unsigned long name_size`.
#
#===------------------------------------------------------------------------===#

foreach(argument INPUT OUTPUT SYMBOL)
  if(NOT DEFINED ${argument})
    message(FATAL_ERROR "EmbedFile.cmake: ${argument} is not given")
  endif()
endforeach()

file(READ "${INPUT}" bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REPEAT "[0-9a-f]" 32 line)
string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")

file(WRITE "${OUTPUT}" "\
// Made by EmbedFile.cmake; do not edit.
extern const unsigned char ${SYMBOL}[];
extern const unsigned long ${SYMBOL}_size;
alignas(16) const unsigned char ${SYMBOL}[] = {
${bytes}};
const unsigned long ${SYMBOL}_size = ${size};
")
