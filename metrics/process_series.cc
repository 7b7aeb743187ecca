#include "metrics/process_series.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace vedette::metrics {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

std::string TextOf(const char* path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

MetricFamily FamilyOf(const char* name, const char* help, MetricType type, double value) {
  MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  prometheus::ClientMetric metric;
  if (type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  family.metric.push_back(std::move(metric));
  return family;
}

// When the machine was booted, in Unix seconds.
std::optional<double> BootTime() {
  std::istringstream lines(TextOf("/proc/stat"));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  }
  return std::nullopt;
}

std::optional<double> OpenDescriptors() {
  std::error_code error;
  std::filesystem::directory_iterator it("/proc/self/fd", error);
  std::size_t count = 0;
  while (!error && it != std::filesystem::directory_iterator()) {
    ++count;
    it.increment(error);
  }
  if (error || count == 0) return std::nullopt;
  return static_cast<double>(count - 1);  // without the one that reads the directory
}

}  // namespace

bool ParseProcessStat(std::string_view text, ProcessStat* stat) {
  // The fields behind the name, which is in parentheses: the third of proc(5) comes first.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return false;
  std::istringstream fields{std::string(text.substr(name_end + 1))};
  constexpr std::size_t kFirst = 3;
  constexpr std::size_t kLast = 24;
  std::array<std::string, kLast + 1> field;
  for (std::size_t i = kFirst; i <= kLast; ++i) {
    if (!(fields >> field[i])) return false;
  }
  const auto number = [&field](std::size_t i, unsigned long long* to) {
    return static_cast<bool>(std::istringstream(field[i]) >> *to);
  };
  return number(14, &stat->user_ticks) && number(15, &stat->system_ticks) &&
         number(22, &stat->start_ticks) && number(23, &stat->virtual_bytes) &&
         number(24, &stat->resident_pages);
}

std::vector<MetricFamily> ProcessSeries() {
  std::vector<MetricFamily> all;
  const auto add = [&all](const char* name, const char* help, MetricType type, double value) {
    all.push_back(FamilyOf(name, help, type, value));
  };
  ProcessStat stat;
  if (ParseProcessStat(TextOf("/proc/self/stat"), &stat)) {
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
    add("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.",
        MetricType::Counter, static_cast<double>(stat.user_ticks + stat.system_ticks) / ticks);
    add("process_resident_memory_bytes", "Resident memory size in bytes.", MetricType::Gauge,
        static_cast<double>(stat.resident_pages) * page);
    add("process_virtual_memory_bytes", "Virtual memory size in bytes.", MetricType::Gauge,
        static_cast<double>(stat.virtual_bytes));
    if (const auto boot = BootTime()) {
      add("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
          MetricType::Gauge, *boot + static_cast<double>(stat.start_ticks) / ticks);
    }
  }
  if (const auto open = OpenDescriptors()) {
    add("process_open_fds", "Number of open file descriptors.", MetricType::Gauge, *open);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    add("process_max_fds", "Maximum number of open file descriptors.", MetricType::Gauge,
        static_cast<double>(limit.rlim_cur));
  }
  return all;
}

}  // namespace vedette::metrics
