// Finish times of flows in SimGrid: CM02 with all corrections off.
//
// Usage: simgrid_flows INPUT [actors] [full]
//
// INPUT holds numbers apart by white space: how many links, and of each its bandwidth (bytes/s) and
// latency (s); how many routes, and of each how many links and which; how many flows, and of each
// its start (s), route, bytes (whole) and rate limit (bytes/s; 0: none). Prints when each flow ends,
// one a line, and last the CPU seconds of the simulation alone.
//
// A Full zone has one route for an ordered pair of hosts. Each route gets a pair of its own, so that
// n routes take about sqrt(n) hosts; no host talks to itself. One actor starts all flows at their
// times and waits for all: 64,000 actors are more than SimGrid can map. With "actors" each flow has
// a sender and a receiver, as programs for SimGrid have. So has a flow with a rate limit anyway: the
// one actor's Comm::sendto ignores it. With "full" rates are found by network/optim:Full: the lazy
// way, which is the default, can miss a change of rates where flows share by latency.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

struct Flow {
  double start;
  std::size_t route;
  std::uint64_t bytes;
  double rate;
  double finish;
};

class Numbers {
  std::string text_;
  const char* at_;

public:
  explicit Numbers(const char* path)
  {
    std::ifstream file(path);
    text_.assign(std::istreambuf_iterator<char>(file), {});
    at_ = text_.c_str();
  }
  double real()
  {
    char* end;
    const double value = std::strtod(at_, &end);
    if (end == at_) {
      std::fprintf(stderr, "a number is missing\n");
      std::exit(2);
    }
    at_ = end;
    return value;
  }
  std::uint64_t whole() { return static_cast<std::uint64_t>(real()); }
};

static void send_all(std::vector<Flow*> flows, const std::vector<sg4::Host*>& source,
                     const std::vector<sg4::Host*>& target)
{
  std::stable_sort(flows.begin(), flows.end(),
                   [](const Flow* a, const Flow* b) { return a->start < b->start; });
  std::vector<sg4::CommPtr> sent;
  for (const Flow* flow : flows) {
    if (flow->start > sg4::Engine::get_clock())
      sg4::this_actor::sleep_until(flow->start);
    sent.push_back(
        sg4::Comm::sendto_async(source[flow->route], target[flow->route], flow->bytes));
  }
  for (std::size_t i = 0; i < flows.size(); i++) {
    sent[i]->wait();
    flows[i]->finish = sent[i]->get_finish_time();
  }
}

static void add_actors(Flow& flow, sg4::Host* source, sg4::Host* target, const std::string& name)
{
  sg4::Actor::create("s" + name, source, [&flow, name] {
    static char nothing;
    sg4::this_actor::sleep_until(flow.start);
    auto comm = sg4::Mailbox::by_name(name)->put_init(&nothing, flow.bytes);
    if (flow.rate > 0)
      comm->set_rate(flow.rate);
    comm->wait();
  });
  sg4::Actor::create("r" + name, target, [&flow, name] {
    sg4::Mailbox::by_name(name)->get<char>();
    flow.finish = sg4::Engine::get_clock();
  });
}

int main(int argc, char** argv)
{
  const std::vector<std::string> asked(argv + std::min(argc, 2), argv + argc);
  const auto has = [&](const char* word) {
    return std::find(asked.begin(), asked.end(), word) != asked.end();
  };
  const bool actors = has("actors");
  std::vector<std::string> words{argv[0],
                                 "--log=root.thres:warning",
                                 "--cfg=network/model:CM02",
                                 "--cfg=network/latency-factor:1",
                                 "--cfg=network/bandwidth-factor:1",
                                 "--cfg=network/TCP-gamma:0",
                                 "--cfg=network/weight-S:0",
                                 "--cfg=network/crosstraffic:0",
                                 "--cfg=surf/precision:1e-15",
                                 std::string("--cfg=network/optim:") + (has("full") ? "Full" : "Lazy"),
                                 "--cfg=contexts/stack-size:64",
                                 "--cfg=contexts/guard-size:0"};
  std::vector<char*> options;
  for (auto& word : words)
    options.push_back(word.data());
  int count = static_cast<int>(options.size());
  options.push_back(nullptr);
  sg4::Engine engine(&count, options.data());
  if (argc < 2)
    return 2;

  Numbers numbers(argv[1]);
  auto* zone = sg4::create_full_zone("zone");
  std::vector<sg4::Link*> links(numbers.whole());
  for (std::size_t i = 0; i < links.size(); i++) {
    links[i] = zone->create_link("l" + std::to_string(i), numbers.real());
    links[i]->set_latency(numbers.real());
  }
  const std::size_t num_routes = numbers.whole();
  std::size_t num_hosts = 2;
  while (num_hosts * (num_hosts - 1) < num_routes)
    num_hosts++;
  std::vector<sg4::Host*> hosts(num_hosts), source(num_routes), target(num_routes);
  for (std::size_t i = 0; i < num_hosts; i++)
    hosts[i] = zone->create_host("h" + std::to_string(i), 1e9);
  for (std::size_t i = 0; i < num_routes; i++) {
    const std::size_t from = i / (num_hosts - 1), other = i % (num_hosts - 1);
    source[i] = hosts[from];
    target[i] = hosts[other + (other >= from)];
    std::vector<sg4::LinkInRoute> route;
    for (std::size_t left = numbers.whole(); left > 0; left--)
      route.emplace_back(links.at(numbers.whole()));
    zone->add_route(source[i]->get_netpoint(), target[i]->get_netpoint(), nullptr, nullptr, route,
                    false);
  }
  zone->seal();

  std::vector<Flow> flows(numbers.whole());
  std::vector<Flow*> by_one;
  for (std::size_t i = 0; i < flows.size(); i++) {
    Flow& flow = flows[i];
    flow.start = numbers.real();
    flow.route = numbers.whole();
    flow.bytes = numbers.whole();
    flow.rate = numbers.real();
    if (actors || flow.rate > 0)
      add_actors(flow, source.at(flow.route), target.at(flow.route), std::to_string(i));
    else
      by_one.push_back(&flow);
  }
  if (!by_one.empty())
    sg4::Actor::create("all", hosts[0], [&] { send_all(by_one, source, target); });
  const std::clock_t began = std::clock();
  engine.run();
  const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  for (const Flow& flow : flows)
    std::printf("%.17g\n", flow.finish);
  std::printf("%.6f\n", seconds);
}
