// Graphs for the tests of share/report's modules.

/** A graph of lines "NAME: what it reads @ its module". What reads nothing is an input, `output` the output. */
export function graphOf(...lines) {
  const nodes = lines.map((line) => {
    const [, id, read, mod] = line.match(/^(\w+):([^@]*)(?:@ *(.*))?$/);
    const ins = read.split(' ').filter(Boolean);
    const kind = id === 'output' ? 'output' : ins.length ? 'op' : 'input';
    return { id, kind, op: kind === 'op' ? 'aten.relu.default' : kind, in: ins, out: [], text: id, ...(mod ? { mod } : {}) };
  });
  return { name: 'net', nodes };
}

/** A chain of operations below an input: v0, v1, … */
export const chain = (length) =>
  graphOf('x:', ...Array.from({ length }, (_, i) => `v${i}: ${i ? 'v' + (i - 1) : 'x'}`), `output: v${length - 1}`);
