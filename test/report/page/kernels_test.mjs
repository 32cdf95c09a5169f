import assert from 'node:assert/strict';
import test from 'node:test';

import { assemblyLines, guiltyStage, nestLines, partsByNode } from '../../../share/report/kernels.js';

const kernel = {
  name: 'kernel_0',
  stages: [
    { name: 'sum', nodes: ['norm'] },
    { name: 'out', nodes: ['norm', 'relu'] },
  ],
  loop_nest: ['produce out:', '  parallel i:', '    produce sum:', '      for j:', '        sum(...) = ...', '    consume sum:']
    .concat('      out(...) = ...', 'consume out:', '')
    .join('\n'),
  assembly: [
    '\t.text',
    'kernel_0:',
    '\tpush rbp',
    '.LBB0_1: # %"for sum.s0.j"',
    '\tvaddps ymm0, ymm0, ymm1',
    '.LBB0_2: # %"consume sum"',
    '\tvmaxps ymm0, ymm0, ymm1',
    '.Lfunc_end0:',
    'kernel_par_for_sum__2_s0_i:',
    '\tvmulps ymm0, ymm0, ymm1',
  ].join('\n'),
};
const stagesOf = (lines) => lines.map(({ text, stage }) => text.trim().split(' ')[0] + ' ' + stage);

test('a node is computed by parts of kernels', () => {
  const parts = partsByNode([kernel]);
  assert.deepEqual(parts.get('norm'), [[kernel, 0], [kernel, 1]]);
  assert.deepEqual(parts.get('relu'), [[kernel, 1]]);
});

test('a line of a loop nest is of the stage that is produced around it', () => {
  const stages = nestLines(kernel).map((line) => line.stage);
  assert.deepEqual(stages, [1, 1, 0, 0, 0, 1, 1, null]);
  assert.equal(nestLines(kernel)[4].text, '        sum(...) = ...');
  assert.deepEqual(nestLines({ stages: [] }), []);
});

test('a block of assembly is of the stage whose loop it is, or that reads another', () => {
  assert.deepEqual(stagesOf(assemblyLines(kernel)), [
    'kernel_0: null',
    'push null',
    '.LBB0_1: 0',
    'vaddps 0',
    '.LBB0_2: 1',
    'vmaxps 1',
    '.Lfunc_end0: null',
    'kernel_par_for_sum__2_s0_i: 0',
    'vmulps 0',
  ]);
});

test("a stage of an input's name has a name of its own", () => {
  const [first] = nestLines({ ...kernel, loop_nest: 'produce sum_stage:' });
  assert.equal(first.stage, 0);
});

test('a directive names the stage that it is about', () => {
  assert.equal(guiltyStage({ culprit: { directive: 'sum.update(0).vectorize(j, 8)' } }), 'sum');
  assert.equal(guiltyStage({ culprit: { op: 'aten.relu.default' } }), null);
  assert.equal(guiltyStage({}), null);
});
