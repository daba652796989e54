// Precompiled header for all test programs.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cmake/precompiled.hpp"
