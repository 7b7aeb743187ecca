#pragma once

#include <prometheus/metric_family.h>

#include <string_view>
#include <vector>

namespace vedette::metrics {

// What Prometheus' own clients say of their process, under the names that its dashboards know:
// process_cpu_seconds_total, process_resident_memory_bytes, process_virtual_memory_bytes,
// process_open_fds, process_max_fds, process_start_time_seconds. Read from /proc at every call;
// what cannot be read is left out. Any thread.
std::vector<prometheus::MetricFamily> ProcessSeries();

// What ProcessSeries shows of the text of /proc/PID/stat: in clock ticks, pages and bytes.
struct ProcessStat {
  unsigned long long user_ticks = 0;
  unsigned long long system_ticks = 0;
  unsigned long long start_ticks = 0;  // since boot
  unsigned long long virtual_bytes = 0;
  unsigned long long resident_pages = 0;
};
// False for a text that has another form. The process' name may have blanks and parentheses.
bool ParseProcessStat(std::string_view text, ProcessStat* stat);

}  // namespace vedette::metrics
