# Provides caudal::rdkafka.
#
# Looked for in this order: CAUDAL_RDKAFKA_DIR (a folder with lib/librdkafka.a and include/), the project's own
# .deps/librdkafka (which `make setup` builds from pinned sources), the system's librdkafka.
set(CAUDAL_RDKAFKA_DIR "" CACHE PATH "folder of a built librdkafka with lib/ and include/")
set(_caudal_rdkafka_dir "${CAUDAL_RDKAFKA_DIR}")
if(NOT _caudal_rdkafka_dir AND EXISTS ${PROJECT_SOURCE_DIR}/.deps/librdkafka/lib/librdkafka.a)
  set(_caudal_rdkafka_dir ${PROJECT_SOURCE_DIR}/.deps/librdkafka)
endif()

if(_caudal_rdkafka_dir)
  pkg_check_modules(CAUDAL_RDKAFKA_NEEDS REQUIRED IMPORTED_TARGET libssl libcrypto libzstd liblz4 zlib)
  add_library(caudal::rdkafka STATIC IMPORTED)
  set_target_properties(caudal::rdkafka PROPERTIES
    IMPORTED_LOCATION "${_caudal_rdkafka_dir}/lib/librdkafka.a"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_caudal_rdkafka_dir}/include"
    INTERFACE_INCLUDE_DIRECTORIES "${_caudal_rdkafka_dir}/include"
    INTERFACE_LINK_LIBRARIES "PkgConfig::CAUDAL_RDKAFKA_NEEDS;Threads::Threads;${CMAKE_DL_LIBS};rt;m")
  message(STATUS "librdkafka: static in ${_caudal_rdkafka_dir}")
else()
  pkg_check_modules(CAUDAL_RDKAFKA IMPORTED_TARGET rdkafka)
  if(NOT CAUDAL_RDKAFKA_FOUND)
    message(FATAL_ERROR "no librdkafka found: run 'make setup', or set CAUDAL_RDKAFKA_DIR")
  endif()
  if(CAUDAL_RDKAFKA_VERSION VERSION_LESS 2.13.2)
    message(WARNING "librdkafka ${CAUDAL_RDKAFKA_VERSION} has known faults: it can skip records in batches and read "
                    "some twice after a change of leader (docs/dependencies.md); 'make setup' builds a current one")
  endif()
  add_library(caudal::rdkafka INTERFACE IMPORTED)
  target_link_libraries(caudal::rdkafka INTERFACE PkgConfig::CAUDAL_RDKAFKA)
  message(STATUS "librdkafka: system ${CAUDAL_RDKAFKA_VERSION}")
endif()
