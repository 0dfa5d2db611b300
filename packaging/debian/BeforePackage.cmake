# cpack runs this when all files of the package are in a folder, and before it
# packs them: the Debian package's dependencies and its file `copyright`.

if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)

# dpkg-shlibdeps knows the package of each library that a program is linked to,
# and from which version on it serves.
find_program(KVC_SHLIBDEPS dpkg-shlibdeps)
if(NOT KVC_SHLIBDEPS)
  message(FATAL_ERROR "dpkg-shlibdeps is missing, which knows what a Debian \
package depends on: apt install dpkg-dev")
endif()
file(GLOB programs ${root}/bin/* ${root}/libexec/kvc/kvc-remote)
# It wants to see a source package.
set(folder ${CPACK_TOPLEVEL_DIRECTORY}/shlibdeps)
file(WRITE ${folder}/debian/control "")
# Programs find libLLVM by a link in LLVM's folder, which the package of LLVM's
# headers owns; what users need is the package of the file that it leads to.
set(known "")
file(GLOB links ${CPACK_KVC_LLVM_LIBRARY_DIR}/libLLVM.so.*)
foreach(link IN LISTS links)
  get_filename_component(library ${link} REALPATH)
  execute_process(COMMAND dpkg-query --search ${library}
    OUTPUT_VARIABLE owner ERROR_QUIET)
  if(owner MATCHES "^([^:]+):")
    execute_process(COMMAND dpkg-query --control-show ${CMAKE_MATCH_1} shlibs
      OUTPUT_VARIABLE lines ERROR_QUIET)
    string(APPEND known "${lines}")
  endif()
endforeach()
file(WRITE ${folder}/debian/shlibs.local "${known}")
execute_process(
  COMMAND ${KVC_SHLIBDEPS} -O ${programs}
  WORKING_DIRECTORY ${folder}
  OUTPUT_VARIABLE depends OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_VARIABLE problem RESULT_VARIABLE failed)
if(failed OR NOT depends MATCHES "^shlibs:Depends=(.+)$")
  message(FATAL_ERROR "dpkg-shlibdeps: ${problem}")
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "${CMAKE_MATCH_1}")

# The license as Debian writes it: a dot on empty lines, all lines indented.
file(READ ${CPACK_RESOURCE_FILE_LICENSE} license)
string(STRIP "\n${license}" license)
string(REGEX REPLACE "\n[ \t]*\n" "\n.\n" license "${license}")
string(REGEX REPLACE "\n[ \t]*\n" "\n.\n" license "${license}")
string(REPLACE "\n" "\n " license "${license}")
file(WRITE ${root}/share/doc/kvc/copyright
  "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: kvc

Files: *
Copyright: the developers of kvc
License: Apache-2.0-with-LLVM-exception
 ${license}
")
