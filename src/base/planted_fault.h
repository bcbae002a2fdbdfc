// PLANTED_FAULT(name): whether the named wrong behaviour (planted_fault.def) is wanted here.
//
// Always false in the program and in every test but one: only sources compiled with CAUDAL_PLANTS, which make
// up the executable caudal_simulate_planted, can be wrong, and only under the fault chosen at run time. For
// sources alone: in a header it would mean two things in one program.
#pragma once

#include <cstdint>
#include <string_view>

namespace caudal {

enum class PlantedFault : uint8_t {
#define FAULT(name, meaning) name,
#include "base/planted_fault.def"
#undef FAULT
  kNone
};

#ifdef CAUDAL_PLANTS
inline constexpr std::string_view kPlantedFaultNames[] = {
#define FAULT(name, meaning) #name,
#include "base/planted_fault.def"
#undef FAULT
};

inline PlantedFault planted_fault = PlantedFault::kNone;  // set before anything runs

#define PLANTED_FAULT(name) (::caudal::planted_fault == ::caudal::PlantedFault::name)
#else
#define PLANTED_FAULT(name) false
#endif

}  // namespace caudal
