#include "tools/format_choice.h"

namespace rtgpu {

Format format_or_usual(std::optional<Format> asked, const DocumentStream& documents, const StandardOutput& output) {
  if (asked) return *asked;
  if (output.is_terminal()) return Format::table;
  return documents.is_ndjson() ? Format::ndjson : Format::json;
}

}  // namespace rtgpu
