// What every test includes, compiled once for all test programs.
#pragma once

#include <gtest/gtest.h>

#include "cmake/precompiled.hpp"
