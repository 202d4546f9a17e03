// Pieces of a document as they appear in messages. Internal to the library.
#pragma once

#include "taskset/json_document.h"

#include <string>
#include <string_view>

namespace rtgpu {

// Appends the JSON string of a text, quotes included.
void append_json_string(std::string& out, std::string_view text);

// The JSON string of a text, cut where it is long: printable on one line whatever the text holds.
std::string in_quotes(std::string_view text);

// A value as it was written, or its kind if it is an array or an object.
std::string describe(JsonValue value);

// Whether the text is well-formed UTF-8.
bool is_utf8(std::string_view text);

}  // namespace rtgpu
