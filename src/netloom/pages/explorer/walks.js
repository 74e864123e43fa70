// How flows cross the network: walked in the page, so that other tables, cables that are out and
// ranks that change places need no new answer.

// The walks of all flows: walk w belongs to flow[w], carries share[w] of it, and crosses
// channel[first[w]] … channel[first[w + 1] - 1].
export function walksOf(network, view, changes = {}) {
  const { flows, ways } = view;
  if (!flows || !ways) return null;
  const hostOf = swapped(flows.host_of, changes.swap);
  const out = new Set(changes.out || []);
  if (ways.table) {
    const table = out.size ? detoured(network, view, hostOf, out) : ways.table;
    return walked(network, flows, hostOf, table);
  }
  return out.size ? aroundGone(network, givenWalks(flows, ways), flows, hostOf, out) : givenWalks(flows, ways);
}

export function canSwap(view) {
  return Boolean(view.flows && view.ways && view.ways.table);
}

function swapped(hostOf, swap) {
  if (!swap) return hostOf;
  const found = hostOf.slice();
  [found[swap[0]], found[swap[1]]] = [found[swap[1]], found[swap[0]]];
  return found;
}

function walked(network, flows, hostOf, table) {
  const many = flows.source.length;
  const first = new Uint32Array(many + 1);
  let channel = new Uint32Array(Math.max(16, many * 4));
  let at = 0;
  const { target, hosts, router_of: routerOf, out } = network;
  let lost = 0;
  for (let flow = 0; flow < many; flow++) {
    const from = hostOf[flows.source[flow]];
    const to = hostOf[flows.target[flow]];
    let router = routerOf[from] - 1;
    if (from !== to) {
      for (let hop = 0; ; hop++) {
        const port = table[router * hosts + to];
        if (!port) break;
        if (hop > network.routers) break;
        if (at === channel.length) {
          const more = new Uint32Array(2 * at);
          more.set(channel);
          channel = more;
        }
        const next = out.channel[out.first[router] + port - 1];
        channel[at++] = next;
        router = target[next];
      }
      if (router !== routerOf[to] - 1) lost++;
    }
    first[flow + 1] = at;
  }
  return { first, channel: channel.subarray(0, at), flow: null, share: null, many, lost };
}

function givenWalks(flows, ways) {
  const many = ways.hops.length;
  const first = new Uint32Array(many + 1);
  for (let walk = 0; walk < many; walk++) first[walk + 1] = first[walk] + ways.hops[walk];
  return { first, channel: ways.channels, flow: ways.flow || null, share: ways.probability || null, many, lost: 0 };
}

export const flowOf = (walks, walk) => (walks.flow ? walks.flow[walk] : walk);
export const shareOf = (walks, walk) => (walks.share ? walks.share[walk] : 1);

export function loadsOf(network, walks, flows) {
  const load = new Float64Array(network.channels);
  for (let walk = 0; walk < walks.many; walk++) {
    const amount = flows.amount[flowOf(walks, walk)] * shareOf(walks, walk);
    for (let at = walks.first[walk]; at < walks.first[walk + 1]; at++) load[walks.channel[at]] += amount;
  }
  return load;
}

// The walks over each channel: channel c has walk[first[c]] … walk[first[c + 1] - 1].
export function crossing(network, walks) {
  const first = new Uint32Array(network.channels + 1);
  for (const channel of walks.channel) first[channel + 1]++;
  for (let at = 0; at < network.channels; at++) first[at + 1] += first[at];
  const next = first.slice();
  const walk = new Uint32Array(walks.channel.length);
  for (let each = 0; each < walks.many; each++) {
    for (let at = walks.first[each]; at < walks.first[each + 1]; at++) walk[next[walks.channel[at]]++] = each;
  }
  return { first, walk };
}

// Hops from each router to one of them, without channels that are out; -1 where there is no way.
function hopsTo(network, router, out, into) {
  const hops = new Int32Array(network.routers).fill(-1);
  hops[router] = 0;
  const queue = [router];
  for (let at = 0; at < queue.length; at++) {
    const here = queue[at];
    for (let each = into.first[here]; each < into.first[here + 1]; each++) {
      const channel = into.channel[each];
      const before = network.source[channel];
      if (hops[before] >= 0 || out.has(channel)) continue;
      hops[before] = hops[here] + 1;
      queue.push(before);
    }
  }
  return hops;
}

function entering(network) {
  if (!network.into) {
    const first = new Uint32Array(network.routers + 1);
    for (const router of network.target) first[router + 1]++;
    for (let at = 0; at < network.routers; at++) first[at + 1] += first[at];
    const next = first.slice();
    const channel = new Uint32Array(network.channels);
    for (let at = 0; at < network.channels; at++) channel[next[network.target[at]]++] = at;
    network.into = { first, channel };
  }
  return network.into;
}

// What a table does with packets for a host that are at a router.
const [LEADS, FAILS, UNKNOWN] = [1, 2, 3];

// The table when cables are out. An entry stays if its way still leads to the host. Any other takes
// the channel on a shortest way that fewest entries of its router use; so do routers without an
// entry, where packets may now come by.
function detoured(network, view, hostOf, out) {
  const { hosts, router_of: routerOf } = network;
  const old = view.ways.table;
  const table = old.slice();
  const used = new Uint32Array(network.channels);
  for (let router = 0; router < network.routers; router++) {
    for (let host = 0; host < hosts; host++) {
      const port = old[router * hosts + host];
      if (port) used[network.out.channel[network.out.first[router] + port - 1]]++;
    }
  }
  const distance = new Map();
  for (let host = 0; host < hosts; host++) {
    const end = routerOf[host] - 1;
    if (end < 0) continue;
    const kept = reaching(network, old, host, end, out);
    if (!kept.includes(FAILS)) continue;
    if (!distance.has(end)) distance.set(end, hopsTo(network, end, out, entering(network)));
    const hops = distance.get(end);
    for (const state of [FAILS, UNKNOWN]) {
      for (let router = 0; router < network.routers; router++) {
        if (kept[router] !== state) continue;
        const port = leastUsed(network, router, hops, out, used);
        table[router * hosts + host] = port;
        if (port && state === FAILS) used[network.out.channel[network.out.first[router] + port - 1]]++;
      }
    }
  }
  return table;
}

// Whether the table leads from each router to a host without a channel that is out; unknown where it
// never had a way.
function reaching(network, table, host, end, out) {
  const known = new Int8Array(network.routers);
  known[end] = LEADS;
  for (let start = 0; start < network.routers; start++) {
    const seen = [];
    let router = start;
    while (known[router] === 0) {
      known[router] = -1;
      seen.push(router);
      const port = table[router * network.hosts + host];
      if (!port) {
        known[router] = UNKNOWN;
        break;
      }
      const channel = network.out.channel[network.out.first[router] + port - 1];
      if (out.has(channel)) {
        known[router] = FAILS;
        break;
      }
      router = network.target[channel];
    }
    const found = known[router] < 0 ? FAILS : known[router];
    for (const each of seen) known[each] = found;
  }
  return known;
}

function leastUsed(network, router, hops, out, used) {
  let best = 0;
  let least = Infinity;
  for (let at = network.out.first[router]; at < network.out.first[router + 1]; at++) {
    const channel = network.out.channel[at];
    const next = network.target[channel];
    if (out.has(channel) || hops[next] < 0 || hops[next] !== hops[router] - 1) continue;
    if (used[channel] < least) {
      least = used[channel];
      best = at - network.out.first[router] + 1;
    }
  }
  return best;
}

// The routers where channels begin and end: a path leaves the first once more than it enters it. The
// channels of a message over several ways stand in no order.
function endsOf(network, channels) {
  const more = new Map();
  for (const channel of channels) {
    more.set(network.source[channel], (more.get(network.source[channel]) || 0) + 1);
    more.set(network.target[channel], (more.get(network.target[channel]) || 0) - 1);
  }
  const ends = [1, -1].map((sign) => [...more.keys()].find((router) => Math.sign(more.get(router)) === sign));
  return ends[0] === undefined ? [network.source[channels[0]], network.source[channels[0]]] : ends;
}

// Given paths when cables are out: those that crossed them take a shortest way, the least used first.
function aroundGone(network, walks, flows, hostOf, out) {
  const load = loadsOf(network, walks, flows);
  const distance = new Map();
  const channel = [];
  const first = new Uint32Array(walks.many + 1);
  let lost = 0;
  for (let walk = 0; walk < walks.many; walk++) {
    const own = walks.channel.subarray(walks.first[walk], walks.first[walk + 1]);
    if (!own.some((each) => out.has(each))) {
      channel.push(...own);
    } else {
      const [begin, end] = endsOf(network, own);
      let router = begin;
      if (!distance.has(end)) distance.set(end, hopsTo(network, end, out, entering(network)));
      const hops = distance.get(end);
      if (hops[router] < 0) lost++;
      const amount = flows.amount[flowOf(walks, walk)] * shareOf(walks, walk);
      while (router !== end && hops[router] > 0) {
        const port = leastUsed(network, router, hops, out, load);
        const next = network.out.channel[network.out.first[router] + port - 1];
        load[next] += amount;
        channel.push(next);
        router = network.target[next];
      }
    }
    first[walk + 1] = channel.length;
  }
  return { ...walks, first, channel: Uint32Array.from(channel), lost };
}
