#include "tools/convert_request.h"

#include "taskset/taskset.h"
#include "tools/choice.h"
#include "tools/option_values.h"

#include <limits>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

std::vector<OptionChoice<TasksetFormat>> written_formats() {
  return {{"json", TasksetFormat::json},
          {"jobs-csv", TasksetFormat::jobs_csv},
          {"schedcat-xml", TasksetFormat::schedcat_xml}};
}

std::vector<OptionChoice<TasksetFormat>> read_formats() {
  auto formats = written_formats();
  formats.push_back({"gcaps-csv", TasksetFormat::gcaps_csv});
  return formats;
}

bool has_open_unit(TasksetFormat format) {
  return format == TasksetFormat::jobs_csv || format == TasksetFormat::schedcat_xml;
}

void refuse_unless(bool allowed, std::string_view option, const std::string& value, std::string expected,
                   Errors& errors) {
  if (value.empty() || allowed) return;
  errors.push_back(option_error(ErrorCode::conflict, option, fmt::format("'{}'", value), std::move(expected)));
}

}  // namespace

Result<ConvertRequest> make_request(const ConvertArguments& arguments) {
  Errors errors;
  ConvertRequest request;
  request.from = value_or_report(choose("--from", arguments.from, read_formats()), errors);
  request.to = value_or_report(choose("--to", arguments.to, written_formats()), errors);
  if (!errors.empty()) return errors;
  const bool from_units = has_open_unit(request.from);
  const bool to_units = has_open_unit(request.to);
  refuse_unless(from_units || to_units, "--unit", arguments.unit, "none, as the times of both formats have their units",
                errors);
  refuse_unless(request.from != TasksetFormat::json, "--cpus", arguments.cpus,
                "none, as the tasks of json have their cores", errors);
  refuse_unless(request.from == TasksetFormat::schedcat_xml, "--gpu-resource", arguments.gpu_resource,
                "none, as only schedcat-xml has resources", errors);
  if (!arguments.unit.empty()) {
    Result<TimeUnit> unit = parse_time_unit(arguments.unit);
    if (!unit) unit.errors().front().place.source = "--unit";
    request.unit = value_or_report(std::move(unit), errors);
  }
  if (!arguments.cpus.empty()) {
    request.cpus = static_cast<int>(whole_number("--cpus", arguments.cpus, 1, kMaxCpus, errors));
  }
  if (!arguments.gpu_resource.empty()) {
    request.gpu_resource =
        whole_number("--gpu-resource", arguments.gpu_resource, 0, std::numeric_limits<std::int64_t>::max(), errors);
  }
  if (!errors.empty()) return errors;
  return request;
}

}  // namespace rtgpu
