// Building blocks of SVG drawings. Pure functions; page.css has the colours of all classes.
#pragma once

#include <string>
#include <string_view>

namespace xferbench::drawing {

/// Returns the start tag of an SVG drawing of this size in pixels. Screen readers read only the title.
std::string opening(const std::string& title, double width, double height);

std::string path(std::string_view kind, const std::string& steps);
std::string text_at(double x, double y, std::string_view kind, const std::string& text);
/// Returns a rectangle of the CSS class `kind` with the tooltip `said`.
std::string box(std::string_view kind, double x, double y, double width, double height, const std::string& said);

/// Returns the smallest number that is 1, 2 or 5 times a power of ten and at least `least`.
double round_step(double least);

/// Estimated width of a text in pixels.
double width_of(std::string_view text);

}  // namespace xferbench::drawing
