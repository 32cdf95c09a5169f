// The schedule of a program that uses Halide: what depends on what, and which loops are whose. Nothing here reads the page.
import { nestLines } from './kernels.js';

/** By the number of each directive: the numbers of those that need it. */
export function dependents(directives) {
  const found = new Map(directives.map((d) => [d.number, []]));
  for (const d of directives)
    for (const n of needsOf(d)) if (found.has(n)) found.get(n).push(d.number);
  return found;
}
/** The directives that make its Func, the loops that it uses, or the loop at which its Func is computed. */
export const needsOf = (d) => [...new Set([...d.needs, ...(d.at ? [d.at] : [])])];

/** Lines {text, func, loop} of a pipeline's loop nest; loop: the names in the loop's variable, of "y.yo" y and yo. */
export function loopLines(pipeline) {
  const stages = pipeline.funcs.map(({ name }) => ({ name }));
  return nestLines({ stages, loop_nest: pipeline.loop_nest }).map(({ text, stage }) => {
    const loop = text.match(/^ *(?!produce |consume |store )\w+ ([\w$.]+)(?: in .*)?:$/);
    return { text, func: stage == null ? null : stages[stage].name, loop: loop ? loop[1].split('.') : [] };
  });
}

/** Whether the loop of the line is one that the directive names. */
export function concerns(d, line) {
  const words = d.text.slice(d.text.lastIndexOf(d.name + '(') + d.name.length).split(/[^\w$]+/);
  return line.func === d.func && line.loop.some((name) => words.includes(name));
}
