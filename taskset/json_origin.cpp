#include "taskset/json_origin.h"

#include "taskset/validate.h"

#include <array>
#include <cstddef>
#include <utility>

namespace rtgpu {
namespace {

void read_parameters(JsonValues& values, JsonValue array, Origin& origin) {
  if (!values.expect(array, JsonKind::array, "an array of texts such as \"cpus=2\"")) return;
  for (const JsonValue value : array) values.read_string(value, origin.parameters.emplace_back());
}

template <std::vector<std::int64_t> Origin::*member>
void read_utilisations(JsonValues& values, JsonValue array, Origin& origin) {
  if (!values.expect(array, JsonKind::array, "an array with a number for each core")) return;
  for (const JsonValue value : array) {
    values.read_millionths(value, (origin.*member).emplace_back(), kUtilisationMillionths);
  }
}

constexpr std::array kOriginFields = {
    Field<Origin>{"generator", [](JsonValues& v, JsonValue j, Origin& o) { v.read_string(j, o.generator); },
                  "the name of a generator"},
    Field<Origin>{"seed", [](JsonValues& v, JsonValue j, Origin& o) { v.read_unsigned(j, o.seed); }},
    Field<Origin>{"index",
                  [](JsonValues& v, JsonValue j, Origin& o) { v.read_integer(j, o.index.emplace(), kIndexRange); }},
    Field<Origin>{"parameters", read_parameters},
    Field<Origin>{"requested_utilisation", read_utilisations<&Origin::requested>},
    Field<Origin>{"achieved_utilisation", read_utilisations<&Origin::achieved>}};

}  // namespace

void read_origin(JsonValues& values, JsonValue object, std::optional<Origin>& out) {
  const std::size_t errors = values.report().size();
  Origin origin;
  if (values.expect(object, JsonKind::object, "an object that says what made the taskset")) {
    read_fields(values, object, kOriginFields, origin);
  }
  if (values.report().size() == errors) out = std::move(origin);
}

}  // namespace rtgpu
