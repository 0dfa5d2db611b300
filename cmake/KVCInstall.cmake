# cmake --install: the tools, the C interface, a CMake package, kvc.pc,
# completions of shells, the manual page, specs and documentation. All of it may
# be moved as a whole. docs/install.md lists what lies where.

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/kvc)
# Not where an architecture's libraries are: it names none, and stays two
# folders below the prefix.
set(pkgconfig ${CMAKE_INSTALL_DATADIR}/pkgconfig)

# By these names a project has them that has kvc as a folder of its own.
add_executable(kvc::kvc ALIAS kvc)
add_library(kvc-headers INTERFACE)
add_library(kvc::headers ALIAS kvc-headers)
set_target_properties(kvc-headers PROPERTIES EXPORT_NAME headers)
target_include_directories(kvc-headers INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

set_target_properties(kvc kvc-opt kvc-lsp-server PROPERTIES
  INSTALL_RPATH "${LLVM_LIBRARY_DIR}" INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS kvc kvc-headers EXPORT kvcTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS kvc-opt kvc-lsp-server
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES runtime/include/kvc/kvc.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kvc)

configure_package_config_file(cmake/kvcConfig.cmake.in
  ${PROJECT_BINARY_DIR}/kvcConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kvcConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(EXPORT kvcTargets NAMESPACE kvc:: DESTINATION ${package})
install(FILES cmake/kvcAddLibrary.cmake
  ${PROJECT_BINARY_DIR}/kvcConfig.cmake
  ${PROJECT_BINARY_DIR}/kvcConfigVersion.cmake
  DESTINATION ${package})

configure_file(cmake/kvc.pc.in ${PROJECT_BINARY_DIR}/kvc.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kvc.pc DESTINATION ${pkgconfig})

# What a kvc runs libraries for other machines by, found by KVC_LIBEXEC in
# compiler/harness/Remote.cpp. Those for aarch64 are programs of another machine
# and may be missing.
set(libexec ${CMAKE_INSTALL_LIBEXECDIR}/kvc)
install(TARGETS kvc-remote RUNTIME DESTINATION ${libexec})
foreach(remote kvc-remote-aarch64-linux kvc-remote-arm64-macos)
  if(TARGET ${remote})
    install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${remote}
      DESTINATION ${libexec})
  endif()
endforeach()

# kvc_add_text(<file> <argument> ...): build/<file>, which the tool prints from
# its own tables of commands, flags and keys.
set(KVC_TEXTS)
function(kvc_add_text file)
  set(output ${PROJECT_BINARY_DIR}/${file})
  get_filename_component(folder ${output} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${output}
    COMMAND kvc ${ARGN} -o ${output}
    DEPENDS kvc
    COMMENT "Generating ${file}"
    VERBATIM)
  set(KVC_TEXTS ${KVC_TEXTS} ${output} PARENT_SCOPE)
endfunction()
kvc_add_text(completions/kvc.bash completions bash)
kvc_add_text(completions/kvc.zsh completions zsh)
kvc_add_text(completions/kvc.fish completions fish)
kvc_add_text(man/kvc.1 man)
kvc_add_text(spec.schema.json schema)
add_custom_target(kvc-texts ALL DEPENDS ${KVC_TEXTS})
set(completions ${PROJECT_BINARY_DIR}/completions)
install(FILES ${completions}/kvc.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kvc)
install(FILES ${completions}/kvc.zsh
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _kvc)
install(FILES ${completions}/kvc.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${PROJECT_BINARY_DIR}/man/kvc.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/spec.schema.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/kvc)
install(DIRECTORY specs DESTINATION ${CMAKE_INSTALL_DATADIR}/kvc)

# The pages lie to each other as they do in the sources, and so does what they
# link to: links lead somewhere. As a folder of somebody's project kvc has a
# folder of its own among that project's.
set(documents ${CMAKE_INSTALL_DOCDIR})
if(NOT KVC_IS_TOP_LEVEL)
  set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/kvc)
endif()
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${documents})
install(DIRECTORY docs DESTINATION ${documents}
  PATTERN docs/CMakeLists.txt EXCLUDE)
install(DIRECTORY packaging/homebrew packaging/macos
  DESTINATION ${documents}/packaging)
install(FILES compiler/link/libSystem.tbd DESTINATION ${documents}/compiler/link)
install(FILES test/data/README.md DESTINATION ${documents}/test/data)
# kvc_install_link(<name> <installed>): <name> among the documents, relative.
function(kvc_install_link name installed)
  get_filename_component(folder ${documents}/${name} DIRECTORY)
  file(RELATIVE_PATH to /prefix/${folder} /prefix/${installed})
  set(link ${PROJECT_BINARY_DIR}/links/${name})
  get_filename_component(made ${link} DIRECTORY)
  file(MAKE_DIRECTORY ${made})
  file(CREATE_LINK ${to} ${link} SYMBOLIC)
  install(FILES ${link} DESTINATION ${folder})
endfunction()
kvc_install_link(specs ${CMAKE_INSTALL_DATADIR}/kvc/specs)
kvc_install_link(runtime/include/kvc/kvc.h
  ${CMAKE_INSTALL_INCLUDEDIR}/kvc/kvc.h)
