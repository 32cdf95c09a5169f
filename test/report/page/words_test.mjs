import assert from 'node:assert/strict';
import test from 'node:test';

import { base, byteSize, bytes, callCount, listed, percent, plural, sci, sec, shape, short, within } from '../../../share/report/words.js';

test('times have a unit that fits', () => {
  const texts = [12.345, 1.234, 0.0421, 42e-6, 3.21e-6, 0].map(sec);
  assert.deepEqual(texts, ['12.3 s', '1.23 s', '42 ms', '42 µs', '3.2 µs', '0']);
});

test('sizes have a unit that fits', () => {
  assert.deepEqual([2.5e9, 3.2e6, 1500, 12].map(bytes), ['2.50 GB', '3.20 MB', '1.5 kB', '12 B']);
  assert.equal(byteSize({ dtype: 'bf16', sizes: [2, 3] }), 12);
  assert.equal(byteSize({ dtype: 'bool', sizes: [] }), 1);
  assert.equal(shape({ dtype: 'f32', sizes: [2, 3] }), 'f32[2, 3]');
});

test('errors have two digits', () => {
  assert.deepEqual([null, 0, 0.0123, 3.44e-8, 2e5].map(sci), ['–', '0', '0.012', '3.4e-8', '2e5']);
});

test('names are short, counts have nouns', () => {
  assert.deepEqual(['aten.relu.default', 'onnx.Conv', 'input'].map(short), ['relu', 'Conv', 'input']);
  assert.equal(base('a/b/c.cpp'), 'c.cpp');
  assert.deepEqual([plural(1, 'op'), plural(1200, 'op')], ['1 op', '1,200 ops']);
  assert.deepEqual([callCount(1, true), callCount(9)], ['1 call (guessed)', '9 calls']);
  assert.deepEqual([percent(0.256), percent(null)], ['26 %', '']);
});

test('a list that is cut leaves out two or more', () => {
  const lists = [1, 2, 3, 4].map((count) => listed(['a', 'b', 'c', 'd'].slice(0, count), 2).join(''));
  assert.deepEqual(lists, ['a', 'a and b', 'a, b and c', 'a, b and 2 more']);
});

test('a function is named once: by the place, or beside it', () => {
  const at = [0, 24, 'Net::loss'];
  assert.deepEqual([within(1, ['loss'], at), within(3, ['loss'], at)], ['', 'In 3 graphs.']);
  assert.deepEqual([within(1, ['step'], at), within(3, ['step'], null)], ['In step.', 'In 3 graphs of step.']);
  assert.equal(within(2, ['loss', 'step'], at), 'In 2 graphs of loss and step.');
});
