// What most tests include, compiled once for all test programs.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cmake/precompiled.hpp"
