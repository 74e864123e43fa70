// What SimGrid makes of a platform file: its links, and the route of each pair of hosts.
//
// Usage: simgrid_zones PLATFORM.xml
//
// Prints how many links, and of each its bandwidth (bytes/s) and latency (s); then how many routes,
// and of each how many links and which. Routes are those from host 0 to 1, 2, ..., then from 1 to 0,
// 2, ..., by the hosts' numbers. Links that no route takes are left out.
#include <algorithm>
#include <cstdio>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

static long number(const sg4::Host* host)
{
  const auto& name = host->get_name();
  return std::stol(name.substr(name.find('-') + 1));
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  if (argc < 2)
    return 2;
  engine.load_platform(argv[1]);
  auto hosts = engine.get_all_hosts();
  std::sort(hosts.begin(), hosts.end(),
            [](const auto* a, const auto* b) { return number(a) < number(b); });
  std::map<const sg4::Link*, std::size_t> seen;
  std::vector<const sg4::Link*> links;
  std::vector<std::vector<std::size_t>> routes;
  for (const auto* from : hosts)
    for (const auto* to : hosts) {
      if (from == to)
        continue;
      std::vector<sg4::Link*> found;
      double latency = 0;
      from->route_to(to, found, &latency);
      auto& route = routes.emplace_back();
      for (const auto* link : found) {
        if (seen.emplace(link, links.size()).second)
          links.push_back(link);
        route.push_back(seen[link]);
      }
    }
  std::printf("%zu\n", links.size());
  for (const auto* link : links)
    std::printf("%.17g %.17g\n", link->get_bandwidth(), link->get_latency());
  std::printf("%zu\n", routes.size());
  for (const auto& route : routes) {
    std::printf("%zu", route.size());
    for (auto link : route)
      std::printf(" %zu", link);
    std::printf("\n");
  }
}
