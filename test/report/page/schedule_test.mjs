import assert from 'node:assert/strict';
import test from 'node:test';

import { concerns, dependents, loopLines, needsOf } from '../../../share/report/schedule.js';

const directive = (number, func, name, text, needs = [], at = 0) => ({ number, func, name, text, needs, ...(at ? { at } : {}) });
const directives = [
  directive(1, 'out', 'split', 'out.split(x, xo, xi, 2)'),
  directive(2, 'out', 'vectorize', 'out.vectorize(xi)', [1]),
  directive(3, 'box$1', 'compute_at', 'box$1.compute_at(out, xo)', [], 1),
];
const pipeline = {
  funcs: [{ name: 'box$1' }, { name: 'out' }],
  loop_nest: ['produce out:', '  for y in [0, 127]:', '    for x.xo in [0, 63]:', '      produce box$1:', '        for x:']
    .concat('          box$1(...) = ...', '      consume box$1:', '        vectorized x.xi in [0, 1]:', '          out(...) = ...')
    .join('\n'),
};

test('a directive is needed by those that use its loops, or are computed there', () => {
  assert.deepEqual([...dependents(directives)], [[1, [2, 3]], [2, []], [3, []]]);
  assert.deepEqual(needsOf(directives[2]), [1]);
});

test('a line of the loops is of the Func that is produced around it', () => {
  const lines = loopLines(pipeline);
  assert.deepEqual(lines.map((line) => line.func), ['out', 'out', 'out', 'box$1', 'box$1', 'box$1', 'out', 'out', 'out']);
  assert.deepEqual(lines.map((line) => line.loop.join('.')), ['', 'y', 'x.xo', '', 'x', '', '', 'x.xi', '']);
});

test('a directive concerns the loops of its Func that it names', () => {
  const lines = loopLines(pipeline);
  const about = (d) => lines.filter((line) => concerns(d, line)).map((line) => line.text.trim().split(' in ')[0]);
  assert.deepEqual(about(directives[1]), ['vectorized x.xi']);
  assert.deepEqual(about(directives[0]), ['for x.xo', 'vectorized x.xi']);
  assert.deepEqual(about(directives[2]), []);
});
