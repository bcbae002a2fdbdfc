# caudal_library(NAME [DEPS folder…] [LIBS target…] [DIRS folder…] [PLANTED source…] [COLD])
#
# One library for the folder that calls it. DEPS is the only statement of which folders it may
# include: CMake links by it, and tools/check_layers reads it and scans the includes.
# A nested folder is named by its path below src/ ("connect/filesystem"); its target is caudal_connect_filesystem.
# Sources are every *.cc of the folder and of DIRS below it (which belong to the same library); *_test.cc become
# the test binary NAME_test. PLANTED sources hold a PLANTED_FAULT; they are listed in the global property
# CAUDAL_PLANTED for the executable that compiles them once more, and never merged into unity files, so that
# the linker takes that one's and leaves the library's. COLD: nothing here runs once a row, so that -O1 is fast
# enough where the program is optimised; it compiles a fifth quicker.
function(caudal_library name)
  cmake_parse_arguments(ARG "COLD" "" "DEPS;LIBS;TEST_LIBS;DIRS;PLANTED" ${ARGN})
  string(REPLACE "/" "_" target ${name})
  set(globs *.cc)
  set(test_globs *_test.cc)
  foreach(dir ${ARG_DIRS})
    list(APPEND globs ${dir}/*.cc)
    list(APPEND test_globs ${dir}/*_test.cc)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${globs})
  file(GLOB tests CONFIGURE_DEPENDS ${test_globs})
  list(REMOVE_ITEM sources ${tests} ${CMAKE_CURRENT_SOURCE_DIR}/main.cc)
  foreach(source ${ARG_PLANTED})
    set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    set_property(GLOBAL APPEND PROPERTY CAUDAL_PLANTED ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
  set(links)
  foreach(dep ${ARG_DEPS})
    string(REPLACE "/" "_" dep ${dep})
    list(APPEND links caudal_${dep})
  endforeach()
  if(sources)
    add_library(caudal_${target} STATIC ${sources})
    target_include_directories(caudal_${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(caudal_${target} PUBLIC ${links} fmt::fmt PRIVATE ${ARG_LIBS})
    if(ARG_COLD)
      target_compile_options(caudal_${target} PRIVATE $<$<BOOL:${CMAKE_UNITY_BUILD}>:-O1>)
    endif()
  else()
    add_library(caudal_${target} INTERFACE)
    target_include_directories(caudal_${target} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(caudal_${target} INTERFACE ${links} fmt::fmt ${ARG_LIBS})
  endif()
  if(CAUDAL_TESTS AND tests)
    file(GLOB fixtures CONFIGURE_DEPENDS testing/*.cc)
    add_executable(${target}_test ${tests} ${fixtures})
    target_link_libraries(${target}_test PRIVATE caudal_${target} ${ARG_LIBS} ${ARG_TEST_LIBS} GTest::gmock GTest::gtest_main Threads::Threads)
    # What three tests say of the same headers is read once; so the local names of a folder's tests differ.
    # Where the program itself is optimised (release), -Og compiles a test a fifth quicker than -O1.
    set_target_properties(${target}_test PROPERTIES UNITY_BUILD_BATCH_SIZE 3)
    target_compile_options(${target}_test PRIVATE $<$<BOOL:${CMAKE_UNITY_BUILD}>:-Og>)
    # A compiler cache may make __FILE__ relative to the build folder; tests find their fixtures by it.
    add_test(NAME ${target}_test COMMAND ${target}_test WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  endif()
endfunction()
