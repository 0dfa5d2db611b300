# kvc_add_unit_test(NAME SOURCES ... [LINK ...])
#   A program build/test/unit/NAME of plain checks, run by lit as one test:
#   it passes when it exits with 0. It links the compiler's libraries that
#   LINK names and is built by check-kvc.

function(kvc_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  kvc_use_mlir(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/unit)
  set_property(GLOBAL APPEND PROPERTY KVC_UNIT_TESTS ${name})
endfunction()
