// Which lines of a kernel's loop nest and assembly compute which operations. A part is [kernel, stage]. Nothing here reads the data.

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
  const number = stageNumbers(kernel);
  const open = [];
  const lines = [];
  for (const text of (kernel.loop_nest || '').split('\n')) {
    if (!text.trim()) continue;
    const depth = text.match(/^ */)[0].length;
    while (open.length && open[open.length - 1].depth >= depth) open.pop();
    const produced = text.match(/^ *produce ([\w$]+)/);
    if (produced && number.has(produced[1])) open.push({ depth, stage: number.get(produced[1]) });
    lines.push({ text, stage: open.length ? open[open.length - 1].stage : null });
  }
  return lines;
}

/** Lines {text, stage} of assembly: LLVM names its blocks after the loops that they come from. */
export function assemblyLines(kernel) {
  const number = stageNumbers(kernel),
    owner = new Map();
  // "consume F" is the code of the stage around it that reads F.
  for (const { text, stage } of nestLines(kernel)) {
    const consumed = text.match(/^ *consume (\w+)/);
    if (consumed) owner.set(consumed[1], stage);
  }
  let stage = null;
  const lines = [];
  for (const text of (kernel.assembly || '').split('\n')) {
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
export const rate = (k) => (k.seconds ? (k.flops / k.seconds / 1e9).toPrecision(3) + ' GFLOP/s' : '');
