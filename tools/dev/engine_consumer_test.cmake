# Installs this build into a scratch folder, builds tools/dev/engine_consumer against it, and runs its tests: the
# engine conforms, and the one with a mistake fails with a small case that can be shown again.
#   cmake -DBUILD=<build folder> -DSOURCE=<repository> -DGENERATOR=... -DCOMPILER=... -P engine_consumer_test.cmake
set(scratch "${BUILD}/engine_consumer")
file(REMOVE_RECURSE "${scratch}")
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed:\n${out}")
  endif()
endfunction()
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${scratch}/prefix")
run("${CMAKE_COMMAND}" -S "${SOURCE}/tools/dev/engine_consumer" -B "${scratch}/build" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS} -Wall -Wextra -Werror"
    "-DCMAKE_PREFIX_PATH=${scratch}/prefix")
run("${CMAKE_COMMAND}" --build "${scratch}/build")
run("${CMAKE_COMMAND}" -E env "RC_PARAMS=seed=1 max_success=25" "${scratch}/build/conforms_test")

# Sets `said` to what the faulty engine's test says: it has to fail. What RapidCheck calls progress goes apart.
function(fail parameters)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env "RC_PARAMS=${parameters}" "GRAPHGATE_CASES=${scratch}"
                          "${scratch}/build/faulty_test"
                  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 1)
    message(FATAL_ERROR "faulty_test with ${parameters} ended with ${code}, expected 1:\n${out}${err}")
  endif()
  set(said "${out}${err}" PARENT_SCOPE)
endfunction()
fail("seed=2")
foreach(expected "Falsifiable after [0-9]+ tests" "graphgate-case 1" "aten.transpose.int" "  found: [a-z]+ [A-Z]"
                 "graphgate replay g[0-9]+:" "kept: ${scratch}/g[0-9]+-" "reproduce=")
  if(NOT said MATCHES "${expected}")
    message(FATAL_ERROR "faulty_test says nothing like '${expected}':\n${said}")
  endif()
endforeach()
string(REGEX MATCHALL "%[a-z0-9]+ : f32[^\n]* = aten" nodes "${said}")
list(LENGTH nodes count)
if(count GREATER 3)
  message(FATAL_ERROR "the case has ${count} nodes, expected at most 3:\n${said}")
endif()
string(REGEX MATCH "graphgate-case 1\n.*expect PASS" case_found "${said}")
string(REGEX MATCH "reproduce=[A-Za-z0-9+/=_-]+" reproduce "${said}")
fail("${reproduce}")
string(FIND "${said}" "${case_found}" place)
if(place EQUAL -1)
  message(FATAL_ERROR "${reproduce} shows another case than\n${case_found}:\n${said}")
endif()
