#include "driver.h"

#include <exception>
#include <iostream>
#include <stdexcept>

namespace driver {
namespace mx = mlx::core;

int main(const std::map<std::string, Function>& functions, int argc, char** argv) {
  if (argc != 4 || !functions.contains(argv[1])) {
    std::cerr << "driver FUNCTION IN OUT\n";
    return 2;
  }
  try {
    const Inputs inputs = mx::load_safetensors(std::string(argv[2])).first;
    const std::vector<mx::array> outputs = functions.at(argv[1])(inputs);
    Inputs named;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      named.emplace(std::to_string(i), mx::contiguous(outputs[i]));
    mx::save_safetensors(argv[3], named);
    return 0;
  } catch (const std::invalid_argument& error) {
    std::cerr << error.what() << "\n";
    return 3;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 4;
  }
}

}  // namespace driver
