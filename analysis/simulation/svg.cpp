#include "analysis/simulation/svg.h"

#include "taskset/json_text.h"

#include <fmt/format.h>

namespace rtgpu {
namespace {

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

void append_xml(std::string& out, char byte, bool utf8) {
  const auto value = static_cast<unsigned char>(byte);
  if (byte == '&') {
    out += "&amp;";
  } else if (byte == '<') {
    out += "&lt;";
  } else if (byte == '>') {
    out += "&gt;";
  } else if (byte == '"') {
    out += "&quot;";
  } else if (value < 0x20 || value == 0x7F || (value >= 0x80 && !utf8)) {
    out += '?';
  } else {
    out += byte;
  }
}

// U+FFFE and U+FFFF, which are no characters of XML.
bool is_noncharacter(std::string_view text) {
  return text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF");
}

}  // namespace

std::string xml_text(std::string_view text) {
  const bool utf8 = is_utf8(text);
  std::string out;
  for (std::size_t place = 0; place < text.size(); ++place) {
    if (is_noncharacter(text.substr(place))) {
      out += '?';
      place += 2;
    } else {
      append_xml(out, text[place], utf8);
    }
  }
  return out;
}

std::size_t characters_of(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += is_continuation(byte) ? 0 : 1;
  return count;
}

std::string shortened(std::string_view text, std::size_t characters) {
  if (characters_of(text) <= characters) return std::string(text);
  std::size_t kept = 0;
  std::size_t length = 0;
  while (length < text.size() && (is_continuation(text[length]) || ++kept < characters)) ++length;
  return std::string(text.substr(0, length)) + "\u2026";
}

std::string to_svg(Centipixels length) {
  const std::string_view sign = length < 0 ? "-" : "";
  const Centipixels size = length < 0 ? -length : length;
  if (size % 100 == 0) return fmt::format("{}{}", sign, size / 100);
  return fmt::format("{}{}.{:02}", sign, size / 100, size % 100);
}

void Svg::end_shape(std::string_view element, std::string_view tip) {
  if (tip.empty()) {
    body_ += "/>\n";
  } else {
    body_ += fmt::format("><title>{}</title></{}>\n", xml_text(tip), element);
  }
}

void Svg::rectangle(const SvgBox& box, std::string_view class_name, std::string_view tip) {
  body_ += fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}")", class_name, to_svg(box.x),
                       to_svg(box.y), to_svg(box.width), to_svg(box.height));
  end_shape("rect", tip);
}

void Svg::line(Centipixels x1, Centipixels y1, Centipixels x2, Centipixels y2, std::string_view class_name) {
  body_ += fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", class_name, to_svg(x1),
                       to_svg(y1), to_svg(x2), to_svg(y2));
}

void Svg::text(Centipixels x, Centipixels y, std::string_view class_name, std::string_view text) {
  body_ +=
      fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", class_name, to_svg(x), to_svg(y), xml_text(text));
}

void Svg::path(std::string_view data, std::string_view class_name, std::string_view tip) {
  body_ += fmt::format(R"(<path class="{}" d="{}")", class_name, data);
  end_shape("path", tip);
}

std::string Svg::document(Centipixels width, Centipixels height, std::string_view title,
                          std::string_view definitions) const {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n"
      "<title>{2}</title>\n{3}{4}</svg>\n",
      to_svg(width), to_svg(height), xml_text(title), definitions, body_);
}

}  // namespace rtgpu
