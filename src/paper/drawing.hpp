// What drawings as SVG are made of. Pure functions; page.css has the colours of all classes.
#pragma once

#include <string>
#include <string_view>

namespace xferbench::drawing {

/// The start of a drawing of so many pixels, whose title is read out in its place.
std::string opening(const std::string& title, double width, double height);

std::string path(std::string_view kind, const std::string& steps);
std::string text_at(double x, double y, std::string_view kind, const std::string& text);
/// Somebody who points at it reads what is said.
std::string box(std::string_view kind, double x, double y, double width, double height, const std::string& said);

/// 1, 2 or 5 times a power of ten, at least so much.
double round_step(double least);

/// About how wide a text is drawn.
double width_of(std::string_view text);

}  // namespace xferbench::drawing
