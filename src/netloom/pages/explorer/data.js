// What the page was given: arrays are compressed, in base64.

const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Bytes of one weight stand together: they compress better so.
function interleaved(bytes, size) {
  const found = new Uint8Array(bytes.length);
  const many = bytes.length / size;
  for (let weight = 0; weight < size; weight++) {
    for (let at = 0; at < many; at++) found[at * size + weight] = bytes[weight * many + at];
  }
  return found;
}

async function unpacked(packed) {
  const bytes = await inflated(packed.data);
  if (packed.type === "words") {
    return packed.many ? new TextDecoder().decode(bytes).split("\n") : [];
  }
  const Type = TYPES[packed.type];
  const size = Type.BYTES_PER_ELEMENT;
  const plain = packed.type[0] === "f" || size === 1 ? bytes : interleaved(bytes, size);
  const values = new Type(plain.buffer, 0, packed.many);
  if (packed.delta) for (let at = 1; at < values.length; at++) values[at] += values[at - 1];
  return values;
}

// Places are whole parts of a pixel, column by column.
async function places(packed) {
  const values = await unpacked(packed.values);
  const many = packed.columns ? values.length / packed.columns : 0;
  const found = new Float32Array(values.length);
  for (let column = 0; column < packed.columns; column++) {
    for (let row = 0; row < many; row++) {
      found[row * packed.columns + column] = packed.low + values[column * many + row] / packed.fine;
    }
  }
  return found;
}

async function drawingOf(given) {
  return {
    ...given,
    curves: { channel: await unpacked(given.curves.channel), places: await places(given.curves.places) },
    squares: { channel: await unpacked(given.squares.channel), places: await places(given.squares.places) },
    gone: await places(given.gone),
    rims: await places(given.rims),
    routers: { router: await unpacked(given.routers.router), places: await places(given.routers.places) },
    depth: given.depth ? await unpacked(given.depth) : null,
  };
}

// The channels that leave each router: router r has channel[first[r]] … channel[first[r + 1] - 1].
function leaving(source, routers) {
  const first = new Uint32Array(routers + 1);
  for (const router of source) first[router + 1]++;
  for (let at = 0; at < routers; at++) first[at + 1] += first[at];
  const next = first.slice();
  const channel = new Uint32Array(source.length);
  for (let at = 0; at < source.length; at++) channel[next[source[at]]++] = at;
  return { first, channel };
}

async function networkOf(given) {
  const network = { ...given };
  for (const name of ["router_names", "host_names", "router_of", "source", "target", "rate", "up", "out_port", "in_port"]) {
    if (given[name]) network[name] = await unpacked(given[name]);
  }
  if (network.direct) network.host_names = network.router_names;
  network.out = leaving(network.source, network.routers);
  network.drawings = [];
  for (const each of given.drawings) network.drawings.push(await drawingOf(each));
  network.even = network.rate.every((rate) => rate === network.rate[0]);
  network.twin = twins(network);
  network.parallel = parallel(network);
  return network;
}

// The number of each channel among those that join the same two routers; 0 of a single one.
function parallel(network) {
  const found = new Uint16Array(network.channels);
  const first = new Map();
  const many = new Map();
  for (let channel = 0; channel < network.channels; channel++) {
    const key = network.source[channel] * network.routers + network.target[channel];
    many.set(key, (many.get(key) || 0) + 1);
    if (!first.has(key)) first.set(key, channel);
    else found[channel] = many.get(key);
  }
  for (const [key, channel] of first) if (many.get(key) > 1) found[channel] = 1;
  return found;
}

// The channel of the same cable that goes the other way; -1 where there is none. Cables between the
// same routers are told apart by their ports, where these are known.
function twins(network) {
  const waiting = new Map();
  const { out_port: leaves, in_port: enters } = network;
  const twin = new Int32Array(network.channels).fill(-1);
  for (let channel = 0; channel < network.channels; channel++) {
    const [out, into] = leaves ? [leaves[channel], enters[channel]] : [0, 0];
    const back = `${network.target[channel]} ${network.source[channel]} ${into} ${out}`;
    const found = (waiting.get(back) || []).shift();
    if (found !== undefined) {
      twin[channel] = found;
      twin[found] = channel;
      continue;
    }
    const key = `${network.source[channel]} ${network.target[channel]} ${out} ${into}`;
    if (!waiting.has(key)) waiting.set(key, []);
    waiting.get(key).push(channel);
  }
  return twin;
}

async function flowsOf(given) {
  if (!given) return null;
  const flows = { ...given, host_of: await unpacked(given.host_of) };
  if (given.job_of) flows.job_of = await unpacked(given.job_of);
  if (given.each !== undefined) {
    const many = given.ranks * (given.ranks - 1);
    flows.source = new Uint32Array(many);
    flows.target = new Uint32Array(many);
    flows.amount = new Float64Array(many).fill(given.each);
    let at = 0;
    for (let source = 0; source < given.ranks; source++) {
      for (let target = 0; target < given.ranks; target++) {
        if (source === target) continue;
        flows.source[at] = source;
        flows.target[at++] = target;
      }
    }
    return flows;
  }
  for (const name of ["source", "target", "amount"]) flows[name] = await unpacked(given[name]);
  return flows;
}

async function waysOf(given) {
  if (!given) return null;
  const ways = {};
  for (const name of Object.keys(given)) ways[name] = await unpacked(given[name]);
  return ways;
}

async function framesOf(given) {
  if (!given) return null;
  return { ...given, edges: await unpacked(given.edges), changes: await unpacked(given.changes) };
}

export async function dataOf(given) {
  const views = [];
  for (const each of given.views) {
    views.push({
      ...each,
      load: await unpacked(each.load),
      flows: await flowsOf(each.flows),
      ways: await waysOf(each.ways),
      frames: await framesOf(each.frames),
    });
  }
  return { ...given, network: await networkOf(given.network), views };
}
