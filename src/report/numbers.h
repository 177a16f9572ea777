// Ratios, times and sizes as people read them: three figures, and a unit.
#pragma once

#include <string>

namespace ksearch::report {

std::string ratio_text(double ratio);       ///< "1.31x", "41.2x", "128x"
std::string seconds_text(double seconds);   ///< "9s", "1m05s", "2h10m"
std::string time_text(double nanoseconds);  ///< "850 ns", "12.3 us", "1.42 ms", "2.10 s"
std::string percent_text(double fraction);  ///< "62%"
std::string bytes_text(double bytes);       ///< "48 KiB"

}  // namespace ksearch::report
