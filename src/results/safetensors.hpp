// The header of a safetensors file, a format of models: eight bytes with the length of a JSON object, which names the
// tensors and where each ends. https://huggingface.co/docs/safetensors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace xferbench {

/// Returns the bytes of the header, of each tensor in the order of the file, and of what follows, within the first
/// `bytes` of the file. Throws InputError if the file has no such header.
std::vector<std::uint64_t> safetensors_sizes(const std::string& path, std::uint64_t bytes);

}  // namespace xferbench
