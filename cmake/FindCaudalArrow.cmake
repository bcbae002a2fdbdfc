# Provides caudal::arrow and caudal::parquet.
#
# Looked for in this order: CAUDAL_PYARROW_DIR (a folder with include/ and libarrow.so.N, which `make setup`
# fills from the pinned wheel), the project's own .deps/pyarrow, a system Arrow with a CMake config.
# The wheel ships no CMake config and no unversioned libarrow.so, hence the imported targets made here.
set(CAUDAL_PYARROW_DIR "" CACHE PATH "folder of an unpacked pyarrow wheel (the inner pyarrow/)")
set(_caudal_arrow_dir "${CAUDAL_PYARROW_DIR}")
if(NOT _caudal_arrow_dir AND EXISTS ${PROJECT_SOURCE_DIR}/.deps/pyarrow/include/arrow/api.h)
  set(_caudal_arrow_dir ${PROJECT_SOURCE_DIR}/.deps/pyarrow)
endif()

if(_caudal_arrow_dir)
  file(STRINGS "${_caudal_arrow_dir}/include/arrow/util/config.h" _caudal_arrow_config REGEX "define ARROW_SO_VERSION ")
  string(REGEX MATCH "\"([0-9]+)\"" _ "${_caudal_arrow_config}")
  set(_caudal_arrow_so ${CMAKE_MATCH_1})
  foreach(_name arrow parquet)
    add_library(caudal::${_name} SHARED IMPORTED)
    set_target_properties(caudal::${_name} PROPERTIES
      IMPORTED_LOCATION "${_caudal_arrow_dir}/lib${_name}.so.${_caudal_arrow_so}"
      INTERFACE_INCLUDE_DIRECTORIES "${_caudal_arrow_dir}/include"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_caudal_arrow_dir}/include")
  endforeach()
  set_target_properties(caudal::parquet PROPERTIES INTERFACE_LINK_LIBRARIES caudal::arrow)
  message(STATUS "Arrow: wheel in ${_caudal_arrow_dir}")
else()
  find_package(Arrow CONFIG QUIET)
  find_package(Parquet CONFIG QUIET)
  if(NOT Arrow_FOUND OR NOT Parquet_FOUND)
    message(FATAL_ERROR "no Arrow C++ found: run 'make setup', or set CAUDAL_PYARROW_DIR")
  endif()
  add_library(caudal::arrow INTERFACE IMPORTED)
  target_link_libraries(caudal::arrow INTERFACE Arrow::arrow_shared)
  add_library(caudal::parquet INTERFACE IMPORTED)
  target_link_libraries(caudal::parquet INTERFACE Parquet::parquet_shared)
  message(STATUS "Arrow: system ${Arrow_VERSION}")
endif()
