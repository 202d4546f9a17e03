#include "tools/rank_by_environment.h"

#include "tools/ranks.h"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace rtgpu {
namespace {

std::optional<int> number_in_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  const std::string_view text = value;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<RankPlace> place_by(const char* rank_name, const char* size_name) {
  const std::optional<int> rank = number_in_environment(rank_name);
  const std::optional<int> size = number_in_environment(size_name);
  if (!rank || !size || *size < 2 || *rank < 0 || *rank >= *size) return std::nullopt;
  return RankPlace{*rank, *size};
}

}  // namespace

std::optional<RankPlace> rank_by_environment() {
  if (const auto place = place_by("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")) return place;
  return place_by("PMI_RANK", "PMI_SIZE");
}

bool is_other_rank() {
  const std::optional<RankPlace> place = rank_by_environment();
  return place && place->rank != 0;
}

}  // namespace rtgpu
