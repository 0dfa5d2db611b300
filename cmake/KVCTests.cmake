# kvc_add_unit_test(NAME [PLAIN] SOURCES ... [LINK ...])
#   A program build/test/unit/NAME of plain checks, run by lit as one test:
#   it passes when it exits with 0. Its main() is in NAME.cpp. LINK names the
#   libraries it tests. With PLAIN it sees no MLIR, as the runtime does not.
#   check-kvc builds it.

function(kvc_add_unit_test name)
  cmake_parse_arguments(ARG "PLAIN" "" "SOURCES;LINK;ARGS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  if(NOT ARG_PLAIN)
    kvc_use_mlir(${name})
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/unit)
  # Arguments, one a line, where lit finds them.
  list(JOIN ARG_ARGS "\n" lines)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/test/unit/${name}.args
    CONTENT "${lines}")
  set_property(GLOBAL APPEND PROPERTY KVC_UNIT_TESTS ${name})
endfunction()
