# The three kinds of target this project has: a library per folder, a test binary per folder, and a
# libFuzzer target per reader. Sources are always listed, never globbed.

set(GRAPHGATE_WARNINGS -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees uninitialized members in every std::variant that is moved.
  list(APPEND GRAPHGATE_WARNINGS -Wno-maybe-uninitialized)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # At -O3 it sees ("a" + std::string) copy half of all memory, over itself and beyond its end: one
    # mistake of the compiler (GCC's bug 105651), told by whichever of these is asked for.
    list(APPEND GRAPHGATE_WARNINGS -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
  endif()
endif()
if(GRAPHGATE_WERROR)
  list(APPEND GRAPHGATE_WARNINGS -Werror)
endif()

# Settings that every target of ours takes. -ffp-contract=off: a rounding that the source asks for
# must happen, whatever the machine's instruction set.
#
# ggc-min-heapsize: g++ looks for what it may free when its memory has grown to this many KiB. Looking
# takes an eighth of its time, and frees next to nothing of a batch of files.
function(graphgate_configure target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE ${GRAPHGATE_WARNINGS} -ffp-contract=off
                         $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1572864>)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

# For targets that need not run fast themselves: little optimization, and (with GRAPHGATE_PCH) the
# headers that cost the most, compiled once: a list of them, or REUSE_FROM another target.
function(graphgate_build_sooner target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og> $<$<CONFIG:RelWithDebInfo>:-O0>)
  if(NOT GRAPHGATE_PCH)
    return()
  endif()
  if(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# For targets of files that each take long over the same headers: with GRAPHGATE_PCH the compiler
# sees `count` of them at once, without those that match one of the regular expressions: files that
# call something of their own by a name that others use too. Other builds compile each file alone.
function(graphgate_build_together target count)
  if(NOT GRAPHGATE_PCH)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
  get_target_property(sources ${target} SOURCES)
  foreach(pattern IN LISTS ARGN)
    set(alone ${sources})
    list(FILTER alone INCLUDE REGEX "${pattern}")
    set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()

# Small vectors and strings are a third of what a fuzzing campaign does (docs/fuzzing.md), so the
# program is linked with an allocator made for them, where there is one. Sanitizers bring their own.
set(GRAPHGATE_ALLOCATOR system)
if(GRAPHGATE_TCMALLOC AND NOT GRAPHGATE_BUILD_FUZZERS)
  find_library(GRAPHGATE_TCMALLOC_LIBRARY NAMES libtcmalloc_minimal.a tcmalloc_minimal)
  if(GRAPHGATE_TCMALLOC_LIBRARY)
    set(GRAPHGATE_ALLOCATOR tcmalloc)
  endif()
endif()
function(graphgate_link_allocator target)
  if(GRAPHGATE_ALLOCATOR STREQUAL "tcmalloc")
    # Whole: it is the C library's own callers that name its symbols.
    target_link_libraries(${target} PRIVATE
      -Wl,--whole-archive "${GRAPHGATE_TCMALLOC_LIBRARY}" -Wl,--no-whole-archive)
  endif()
endfunction()

# graphgate_library(spec SOURCES a.cpp b.cpp [PUBLIC_DEPS ...] [PRIVATE_DEPS ...] [HEADERS b.h])
# makes the library graphgate_spec with the alias graphgate::spec, installed and exported. HEADERS:
# what most of its files include, <system.h> or a path in the repository; precompiled with
# GRAPHGATE_PCH.
function(graphgate_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC_DEPS;PRIVATE_DEPS;HEADERS" ${ARGN})
  set(target graphgate_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(graphgate::${name} ALIAS ${target})
  graphgate_configure(${target})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/graphgate>)
  target_link_libraries(${target} PUBLIC ${ARG_PUBLIC_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
  if(GRAPHGATE_PCH AND ARG_HEADERS)
    list(TRANSFORM ARG_HEADERS REPLACE "^([^<].*)" "${PROJECT_SOURCE_DIR}/\\1")
    target_precompile_headers(${target} PRIVATE <algorithm> <functional> <map> <memory> <optional>
                              <set> <span> <string> <string_view> <variant> <vector> ${ARG_HEADERS})
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS ${target} EXPORT graphgateTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          COMPONENT development)
endfunction()

function(graphgate_test_definitions target)
  target_compile_definitions(${target} PRIVATE
    GRAPHGATE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    GRAPHGATE_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/golden")
endfunction()

# What all tests precompile: a target of its own, made once.
function(graphgate_test_headers)
  if(NOT GRAPHGATE_PCH OR TARGET graphgate_test_headers)
    return()
  endif()
  set(source ${PROJECT_BINARY_DIR}/graphgate_test_headers.cpp)
  file(GENERATE OUTPUT ${source} CONTENT "// Nothing but the precompiled headers.\n")
  add_library(graphgate_test_headers OBJECT ${source})
  graphgate_configure(graphgate_test_headers)
  target_link_libraries(graphgate_test_headers PRIVATE GTest::gtest_main rapidcheck)
  graphgate_test_definitions(graphgate_test_headers)
  graphgate_build_sooner(graphgate_test_headers <gtest/gtest.h> <rapidcheck/gtest.h> <functional>
                         <map> <memory> <optional> <string> <variant> <vector>)
endfunction()

# graphgate_test(spec SOURCES a_test.cpp ... [DEPS ...] [LABELS unit] [COST 30] [TOGETHER 16]) makes the test binary
# spec_test; every TEST in it is a ctest of its own. COST: seconds of the longest one, where that is
# many. In a new build ctest knows no times; it begins with what costs most, so that no long test
# is left alone at the end. TOGETHER: how many files the compiler sees at once with GRAPHGATE_PCH, 8
# where it is not said; the more, the more names have to differ.
function(graphgate_test name)
  if(NOT GRAPHGATE_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "COST;TOGETHER" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TOGETHER)
    set(ARG_TOGETHER 8)
  endif()
  set(timeout 300)
  if(ARG_LABELS STREQUAL "slow")
    if(NOT GRAPHGATE_BUILD_SLOW)
      return()
    endif()
    set(timeout 3600)
  endif()
  set(properties TIMEOUT ${timeout})
  if(ARG_COST)
    list(APPEND properties COST ${ARG_COST})
  endif()
  # Under sanitizers NVRTC's thread-local memory is not followed: what clang 14's LeakSanitizer takes
  # for its place (glibc tells of none) can be no memory at all, and its tracer dies of it.
  if(GRAPHGATE_BUILD_FUZZERS)
    list(APPEND properties
         ENVIRONMENT_MODIFICATION ASAN_OPTIONS=path_list_append:intercept_tls_get_addr=0)
  endif()
  set(target ${name}_test)
  add_executable(${target} ${ARG_SOURCES})
  graphgate_configure(${target})
  graphgate_test_headers()
  graphgate_build_sooner(${target} REUSE_FROM graphgate_test_headers)
  graphgate_build_together(${target} ${ARG_TOGETHER})
  target_link_libraries(${target} PRIVATE ${ARG_DEPS} GTest::gtest_main rapidcheck)
  graphgate_test_definitions(${target})
  gtest_discover_tests(${target} PROPERTIES LABELS "${ARG_LABELS}" ${properties}
                       DISCOVERY_TIMEOUT 60)
endfunction()

# graphgate_fuzzer(pt2 SOURCES fuzz/pt2_fuzzer.cpp CORPUS dir DEPS ...) makes the libFuzzer target
# pt2_fuzzer and a short ctest run of it, labelled fuzz, that starts from the files of CORPUS. Needs
# clang, and GRAPHGATE_BUILD_FUZZERS, which also instruments every target that is made after it.
function(graphgate_fuzzer name)
  if(NOT GRAPHGATE_BUILD_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "CORPUS" "SOURCES;DEPS" ${ARGN})
  set(target ${name}_fuzzer)
  add_executable(${target} ${ARG_SOURCES})
  graphgate_configure(${target})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${target} PRIVATE ${ARG_DEPS})
  set(work ${CMAKE_CURRENT_BINARY_DIR}/${name}_corpus)
  file(MAKE_DIRECTORY ${work})
  add_test(NAME ${target}
    COMMAND ${target} -seed=1 -max_total_time=10 -rss_limit_mb=2048 -timeout=30 ${work} ${ARG_CORPUS})
  set_tests_properties(${target} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()

if(GRAPHGATE_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "GRAPHGATE_BUILD_FUZZERS needs clang")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
endif()
