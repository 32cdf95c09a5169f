// Words for numbers, sizes and names. Nothing here reads the page or its data.
export const nf = (x) => x.toLocaleString('en-US');
export const plural = (n, w) => nf(n) + ' ' + w + (n === 1 ? '' : 's');
/** "9 calls", or "9 calls (guessed)" where nothing proves where a call ends. */
export const callCount = (n, guessed) => plural(n, 'call') + (guessed ? ' (guessed)' : '');
/** How many of `all` are shown where `most` fit: nothing is gained by leaving out one. */
export const shownOf = (all, most) => (all <= most + 1 ? all : most);
/** The parts of "a", "a and b", "a, b and 4 more": texts or elements, of which `most` fit. */
export function listed(items, most) {
  const shown = items.slice(0, shownOf(items.length, most)),
    rest = items.length - shown.length,
    end = rest ? [' and ' + nf(rest) + ' more'] : shown.length > 1 ? [' and ', shown.pop()] : [];
  return [...shown.flatMap((item, i) => (i ? [', ', item] : [item])), ...end];
}
/** Whether a line of a stack, which may name a function with its scopes, is in the function. */
export const isIn = (at, name) => at[2] === name || at[2].endsWith('::' + name);
/** Where a failure is, beside its place: "In 2 graphs of f.", "In f."; no function that the place names. */
export function within(graphs, functions, at) {
  const names = at && functions.length === 1 && isIn(at, functions[0]) ? '' : listed(functions, 2).join('');
  if (graphs > 1) return 'In ' + graphs + ' graphs' + (names && ' of ' + names) + '.';
  return names && 'In ' + names + '.';
}
export const percent = (x) => (x == null ? '' : Math.round(100 * x) + ' %');

/** A time: "3.17 s", "42 ms", "0.5 µs". */
export function sec(x) {
  if (x >= 9.95) return x.toFixed(1) + ' s';
  if (x >= 0.995) return x.toFixed(2) + ' s';
  if (x >= 0.001) return Math.round(x * 1000) + ' ms';
  if (x >= 1e-5) return Math.round(x * 1e6) + ' µs';
  return x ? +(x * 1e6).toPrecision(2) + ' µs' : '0';
}

export function bytes(b) {
  if (b >= 1e9) return (b / 1e9).toFixed(2) + ' GB';
  if (b >= 1e6) return (b / 1e6).toFixed(2) + ' MB';
  if (b >= 1e3) return (b / 1e3).toFixed(1) + ' kB';
  return b + ' B';
}

/** An error, with two digits: "0.012", "3.4e-8"; a dash where it is unknown. */
export function sci(x) {
  if (x == null) return '–';
  if (x === 0) return '0';
  if (x >= 0.01 && x < 1e4) return String(+x.toPrecision(2));
  return x.toExponential(1).replace('e+', 'e').replace('.0e', 'e');
}

/** Of a result: dtypes are named after their bits, all but bool. */
export const byteSize = (o) =>
  o.sizes.reduce((product, size) => product * size, 1) * (o.dtype === 'bool' ? 1 : +o.dtype.match(/\d+/)[0] / 8);
export const shape = (o) => o.dtype + '[' + o.sizes.join(', ') + ']';
/** "relu" of "aten.relu.default", "Conv" of "onnx.Conv". */
export const short = (op) => (op.startsWith('aten.') ? op.split('.')[1] : op.replace(/^onnx\./, ''));
export const base = (path) => path.slice(path.lastIndexOf('/') + 1);
