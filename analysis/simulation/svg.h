// Builds an SVG picture from rectangles, lines and text. Internal to analysis/simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rtgpu {

// Lengths are whole hundredths of a pixel, so that a picture is the same on every machine.
using Centipixels = std::int64_t;
constexpr Centipixels pixels(std::int64_t count) {
  return 100 * count;
}

struct SvgBox {
  Centipixels x = 0;
  Centipixels y = 0;
  Centipixels width = 0;
  Centipixels height = 0;
};

// Text as XML: markup is escaped, what XML or a reader cannot take (controls, bytes that are not UTF-8) is shown as
// '?'.
std::string xml_text(std::string_view text);
// At most `characters` of a UTF-8 text, with an ellipsis where it was cut.
std::string shortened(std::string_view text, std::size_t characters);
std::size_t characters_of(std::string_view text);

class Svg {
 public:
  // `class_name` names a rule of the style sheet; `tip` is shown where the pointer rests, unless it is empty.
  void rectangle(const SvgBox& box, std::string_view class_name, std::string_view tip = {});
  void line(Centipixels x1, Centipixels y1, Centipixels x2, Centipixels y2, std::string_view class_name);
  void text(Centipixels x, Centipixels y, std::string_view class_name, std::string_view text);
  // "M x y" and so on: `data` is written as it is.
  void path(std::string_view data, std::string_view class_name, std::string_view tip = {});

  // The document. `definitions` is markup.
  std::string document(Centipixels width, Centipixels height, std::string_view title,
                       std::string_view definitions) const;

 private:
  void end_shape(std::string_view element, std::string_view tip);

  std::string body_;
};

// "12.25", "-3".
std::string to_svg(Centipixels length);

}  // namespace rtgpu
