# kvc_add_fuzzer(NAME SOURCES ... AGAIN ... [LINK ...] [SEEDS ...])
#   A program of libFuzzer's, build/test/fuzz/NAME-fuzzer. AGAIN is what it is
#   about: sources, or targets whose sources are meant, which are compiled once
#   more, with libFuzzer's coverage and the sanitizers. LINK is linked as it is.
#   SEEDS are folders of inputs to begin with; Inputs/NAME is one of them.
#   check-kvc builds it, and runs it for a short while through NAME.test.
#
#   ninja fuzz-NAME runs it for KVC_FUZZ_SECONDS. What it learns stays in
#   build/test/fuzz/NAME-corpus; an input that it trips over is written to
#   build/test/fuzz.

include(CheckCXXSourceCompiles)
# What was missing at an earlier configure may have been installed since.
foreach(probe KVC_HAS_FUZZER KVC_HAS_ASAN)
  if(NOT ${probe})
    unset(${probe} CACHE)
  endif()
endforeach()
set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer,address,undefined)
check_cxx_source_compiles("
  extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) {
    return 0;
  }" KVC_HAS_FUZZER)
set(CMAKE_REQUIRED_FLAGS -fsanitize=address)
check_cxx_source_compiles("int main() { return 0; }" KVC_HAS_ASAN)
unset(CMAKE_REQUIRED_FLAGS)
# Generated code calls the runtime of clang's sanitizers, which g++'s is not; and
# not all sanitizers go together.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR KVC_SANITIZE MATCHES "thread|memory")
  set(KVC_HAS_FUZZER OFF)
  set(KVC_HAS_ASAN OFF)
endif()

set(KVC_FUZZ_SECONDS 3600 CACHE STRING "Seconds of ninja fuzz-NAME")

# What is believed in a fuzzer's runs: also in the test's.
set(KVC_FUZZER_FLAGS -timeout=10 -rss_limit_mb=1024 -print_final_stats=1)

function(kvc_add_fuzzer name)
  if(NOT KVC_HAS_FUZZER)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;AGAIN;LINK;SEEDS" ${ARGN})
  set(again)
  set(includes)
  foreach(part IN LISTS ARG_AGAIN)
    if(TARGET ${part})
      get_target_property(sources ${part} SOURCES)
      get_target_property(folder ${part} SOURCE_DIR)
      list(TRANSFORM sources PREPEND ${folder}/ OUTPUT_VARIABLE sources)
      list(APPEND again ${sources})
    else()
      list(APPEND again ${part})
    endif()
  endforeach()
  set(program ${name}-fuzzer)
  add_executable(${program} EXCLUDE_FROM_ALL ${ARG_SOURCES} ${again})
  # The library's own checks too: they cost nothing here.
  target_compile_definitions(${program} PRIVATE _GLIBCXX_ASSERTIONS
    _LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_EXTENSIVE)
  target_compile_options(${program} PRIVATE
    -fsanitize=fuzzer,address,undefined -fno-omit-frame-pointer
    -gline-tables-only)
  target_link_options(${program} PRIVATE -fsanitize=fuzzer,address,undefined)
  target_link_libraries(${program} PRIVATE ${ARG_LINK})
  set(folder ${PROJECT_BINARY_DIR}/test/fuzz)
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${folder})
  set_property(GLOBAL APPEND PROPERTY KVC_FUZZERS ${program})

  set(corpus ${folder}/${name}-corpus)
  file(MAKE_DIRECTORY ${corpus})
  add_custom_target(fuzz-${name}
    COMMAND ${program} ${KVC_FUZZER_FLAGS} -max_total_time=${KVC_FUZZ_SECONDS}
            -artifact_prefix=${folder}/ ${corpus}
            ${CMAKE_CURRENT_SOURCE_DIR}/Inputs/${name} ${ARG_SEEDS}
    DEPENDS ${program}
    WORKING_DIRECTORY ${folder}
    USES_TERMINAL VERBATIM)
endfunction()
