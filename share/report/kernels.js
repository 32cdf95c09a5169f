// Kernels: which lines of their loop nests and assembly compute which operations. A part is [kernel, stage].
import { PROFILE } from './data.js';

export const KERNELS = PROFILE.kernels;
export const kernelsOf = (g) => (g ? KERNELS.filter((k) => k.graph === g.name) : []);
/** The kernel whose texts it has: equal kernels have one code. */
export const codeOf = (k) => (k.code_of && KERNELS.find((x) => x.graph === k.graph && x.name === k.code_of)) || k;
export const partKey = (k, s) => k.name + '\0' + s;

/** [part, …] of a node, for all nodes of a graph. */
export function partsByNode(kernels) {
  const found = new Map();
  for (const k of kernels)
    k.stages.forEach((stage, s) => {
      for (const n of stage.nodes || []) {
        if (!found.has(n)) found.set(n, []);
        found.get(n).push([k, s]);
      }
    });
  return found;
}

/** Stages by their names. Where a name is an input's, too, Halide's function is called NAME_stage. */
function stageNumbers(kernel) {
  const number = new Map();
  kernel.stages.forEach((stage, i) => number.set(stage.name + '_stage', i));
  kernel.stages.forEach((stage, i) => number.set(stage.name, i));
  return number;
}

/** Lines {text, stage} of a loop nest as Halide prints it: what is below "produce F" is F's. */
export function nestLines(kernel) {
  const number = stageNumbers(codeOf(kernel));
  const open = [];
  const lines = [];
  for (const text of (codeOf(kernel).loop_nest || '').split('\n')) {
    if (!text.trim()) continue;
    const depth = text.match(/^ */)[0].length;
    while (open.length && open[open.length - 1].depth >= depth) open.pop();
    const produced = text.match(/^ *produce (\w+)/);
    if (produced && number.has(produced[1])) open.push({ depth, stage: number.get(produced[1]) });
    lines.push({ text, stage: open.length ? open[open.length - 1].stage : null });
  }
  return lines;
}

/** Lines {text, stage} of assembly: LLVM names its blocks after the loops that they come from. */
export function assemblyLines(kernel) {
  const code = codeOf(kernel),
    number = stageNumbers(code),
    owner = new Map();
  // "consume F" is the code of the stage around it that reads F.
  for (const { text, stage } of nestLines(kernel)) {
    const consumed = text.match(/^ *consume (\w+)/);
    if (consumed) owner.set(consumed[1], stage);
  }
  let stage = null;
  const lines = [];
  for (const text of (code.assembly || '').split('\n')) {
    const block = text.match(/%"?(for|produce|consume) (\w+)/),
      task = text.match(/^kernel_par_for_(\w+?)(?:__\d+)?_s\d+_/);
    if (block && number.has(block[2]))
      stage = block[1] === 'consume' && owner.get(block[2]) != null ? owner.get(block[2]) : number.get(block[2]);
    else if (task && number.has(task[1])) stage = number.get(task[1]);
    else if (/^\.Lfunc_end|^\t\.size/.test(text)) stage = null;
    // Directives and constants are no instructions.
    if (/^\t\./.test(text) || /^\.LCPI/.test(text) || !text.trim()) continue;
    lines.push({ text: text.replace(/\t/g, '  '), stage });
  }
  return lines;
}

/** The stage that the guilty directive of a result names; null where there is none. */
export const guiltyStage = (m) => (m.culprit && m.culprit.directive ? (m.culprit.directive.match(/^\w+/) || [])[0] : null);
/** The part whose schedule minify found guilty, of a result: the stage that its directive names; null where none is known. */
export function guiltyPart(m) {
  const name = guiltyStage(m),
    left = new Set((m.nodes || []).map((n) => n.id));
  for (const k of name ? KERNELS.filter((one) => one.graph === m.graph) : []) {
    const stage = k.stages.findIndex((x) => x.name === name && (x.nodes || []).some((n) => left.has(n)));
    if (stage >= 0) return [k, stage];
  }
  return null;
}

export const rate = (k) => (k.seconds ? (k.flops / k.seconds / 1e9).toPrecision(3) + ' GFLOP/s' : '');
