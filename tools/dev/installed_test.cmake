# Installs the program of this build into a scratch folder, and runs it in a folder of its own: what it
# reads unasked must be what was installed.
#   cmake -DBUILD=<build folder> -P installed_test.cmake
set(scratch "${BUILD}/installed")
set(prefix "${scratch}/prefix")
set(elsewhere "${scratch}/elsewhere")
file(REMOVE_RECURSE "${scratch}")
file(MAKE_DIRECTORY "${elsewhere}")

function(run pattern)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${elsewhere}"
                  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed with ${code}:\n${out}")
  endif()
  if(NOT out MATCHES "${pattern}")
    message(FATAL_ERROR "${ARGN}: '${pattern}' is not in\n${out}")
  endif()
endfunction()

run("" "${CMAKE_COMMAND}" --install "${BUILD}" --component program --prefix "${prefix}")
set(graphgate "${prefix}/bin/graphgate")
set(golden "${prefix}/share/graphgate/golden")
run("corpus +${golden}\n" "${graphgate}" doctor)
run("adapters +${prefix}/share/graphgate/adapters\n" "${graphgate}" doctor)
run("PASS " "${graphgate}" check -v "${golden}/models/mutations.pt2")
run("3 cases on both, 3 clean" "${graphgate}" gate --limit 3 --reruns 0 --baseline fixed
    --candidate fixed)
run("${golden}/cases/" "${graphgate}" mutants --filter frees_twice --known "${golden}/mutants.txt")
foreach(program cases/reuse/lines models/mutations effects/aten kernels/mutations rules/findings)
  run("[12] same\n" "${graphgate}" golden check --only ${program})
endforeach()
run("" "${graphgate}" plan --csv "${golden}/memplan/C.1048576.csv" --capacity 1048576)
run("" "${graphgate}" ops --coverage "${golden}/models")
file(REMOVE_RECURSE "${scratch}")
