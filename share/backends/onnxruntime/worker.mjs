// A worker (share/doc/how-to/compiler.md) around npm's onnxruntime-node, on the CPU.
//   node worker.mjs [--release VERSION]
// The package is the one that `install` put into the folder of the user's data, or what node finds beside this file or in
// the current folder; further releases are those that `install VERSION…` put into releases/VERSION of that folder. A process
// is one release: two of them would share the first one's library.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';

const data = process.env.XDG_DATA_HOME || path.join(os.homedir(), '.local', 'share');
const own = path.join(data, 'whittle', 'backends', 'onnxruntime');
const require = createRequire(import.meta.url);
const find = (places) => {
  const file = require.resolve('onnxruntime-node', { paths: places });
  return { file, version: JSON.parse(fs.readFileSync(path.join(path.dirname(file), '..', 'package.json'))).version };
};

const usual = find([own, import.meta.dirname ?? '.', '.']);
const installer = fileURLToPath(new URL('install', import.meta.url));
const releases = path.join(own, 'releases');
const others = (fs.existsSync(releases) ? fs.readdirSync(releases) : [])
  .filter((name) => !name.endsWith('.new') && fs.existsSync(path.join(releases, name, 'node_modules/onnxruntime-node/package.json')))
  .map((name) => find([path.join(releases, name)]));
const installed = new Map([...others, usual].map((one) => [one.version, one]));
const byAge = (a, b) => a.localeCompare(b, 'en', { numeric: true });
const asked = process.argv[2] === '--release' ? process.argv[3] : usual.version;
if (!installed.has(asked)) throw new Error(`found release ${asked}, expected one of ${[...installed.keys()].join(', ')}`);
const { file: found, version } = installed.get(asked);
// The package would make these of elements of type float16 where Node.js has them (since 24), and its binding cannot read them.
delete globalThis.Float16Array;
const ort = require(found);

// What `optimization.disable_specified_optimizers` takes: the rewrite rules and graph transformers that a session on the
// CPU registers. Without those that later stages rely on, and without the transformers that are only lists of rules.
const optimizers = `
  EliminateIdentity EliminateSlice UnsqueezeElimination EliminateDropout ExpandElimination CastElimination
  CastChainElimination PreShapeNodeElimination NoopElimination DivMulFusion FuseReluClip GemmSumFusion GemmTransposeFusion
  NotWhereFusion ConvAddFusion ConvMulFusion ConvBNFusion Pad_Fusion MatMul_BatchNormalization_Fusion LabelEncoderFusion
  ClipQuantRewrite ReluQuantRewrite DoubleQDQPairsRemover ConstantSharing CommonSubexpressionElimination ConstantFolding
  MatMulAddFusion ReshapeFusion GeluFusionL1 LayerNormFusionL1 QDQPropagationTransformer WeightBiasQuantization WhereDummyDq
  TransposeOptimizer TransposeOptimizer_CPUExecutionProvider QDQS8ToU8Transformer QDQSelectorActionTransformer
  GemmActivationFusion MatMulIntegerToFloatFusion DynamicQuantizeMatMulFusion ConvActivationFusion ConvAddActivationFusion
  GeluFusionL2 LayerNormFusionL2 SimplifiedLayerNormFusion AttentionFusion EmbedLayerNormFusion GatherSliceToSplitFusion
  GatherToSliceFusion MatmulTransposeFusion BiasGeluFusion GroupQueryAttentionFusion GroupQueryAttentionPreNormFusion
  SkipLayerNormFusion BiasSkipLayerNormFusion FastGeluFusion QuickGeluFusion BiasSoftmaxFusion BiasDropoutFusion
  SliceConcatToSpaceToDepthFusion MatMulScaleFusion MatMulActivationFusion MatMulNBitsFusion QDQFinalCleanupTransformer
  NchwcTransformer NhwcTransformer FuseFp16InitializerToFp32NodeTransformer`.trim().split(/\s+/);
const takesSwitches = byAge(version, '1.21.0') >= 0;  // an earlier binding passes them over in silence
const levels = ['disabled', 'basic', 'extended', 'layout', 'all'];
if (byAge(version, '1.23.0') < 0) levels[3] = levels[2];  // there was none between the two

// ---- tensors -------------------------------------------------------------------------------------------------------------

// safetensors' name of a dtype, ONNX Runtime's, and the array of its elements.
const dtypes = [
  ['F64', 'float64', Float64Array], ['F32', 'float32', Float32Array], ['F16', 'float16', Uint16Array],
  ['I64', 'int64', BigInt64Array], ['I32', 'int32', Int32Array], ['I16', 'int16', Int16Array], ['I8', 'int8', Int8Array],
  ['U64', 'uint64', BigUint64Array], ['U32', 'uint32', Uint32Array], ['U16', 'uint16', Uint16Array],
  ['U8', 'uint8', Uint8Array], ['BOOL', 'bool', Uint8Array],
];

class Unsupported extends Error {}

function loadTensors(file) {
  const bytes = fs.readFileSync(file);
  const length = Number(bytes.readBigUInt64LE(0));
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: [begin, end] }] of Object.entries(JSON.parse(bytes.toString('utf8', 8, 8 + length)))) {
    if (name === '__metadata__') continue;
    const known = dtypes.find(([own]) => own === dtype);
    if (!known) throw new Unsupported(`found an input of ${dtype}, which onnxruntime-node does not support`);
    const copy = new Uint8Array(bytes.subarray(8 + length + begin, 8 + length + end));  // aligned
    tensors[name] = new ort.Tensor(known[1], new known[2](copy.buffer), shape);
  }
  return tensors;
}

function saveTensors(file, tensors) {
  const header = {}, blobs = [];
  let offset = 0;
  tensors.forEach((tensor, i) => {
    const known = dtypes.find(([, own]) => own === tensor.type);
    if (!known) throw new Unsupported(`found an output of ${tensor.type}, which Whittle does not support`);
    const { buffer, byteOffset, byteLength } = tensor.data;
    header[i] = { dtype: known[0], shape: [...tensor.dims], data_offsets: [offset, offset + byteLength] };
    blobs.push(Buffer.from(buffer, byteOffset, byteLength));
    offset += byteLength;
  });
  const text = JSON.stringify(header).padEnd(Math.ceil(JSON.stringify(header).length / 8) * 8);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
  fs.writeFileSync(file, Buffer.concat([length, Buffer.from(text), ...blobs]));
}

// ---- questions -----------------------------------------------------------------------------------------------------------

function sessionOptions({ off = [], most = {}, options = {} }) {
  const chosen = {
    graphOptimizationLevel: levels[Math.min(most.level ?? levels.length, levels.length - 1)],
    intraOpNumThreads: Number(options.threads ?? 1),
    logSeverityLevel: 3,
  };
  if (off.length) chosen.extra = { optimization: { disable_specified_optimizers: off.join(';') } };
  return chosen;
}

// What says that something is not there, and not that it is wrong.
const notThere = /NOT_IMPLEMENTED|Could not find an implementation|is not a registered function|is under development|Unsupported model IR version|Unsupported data type|does not support|[Nn]ot supported|Failed to find kernel/;

// Writes the model that a session makes of the question's.
async function optimize(question, at) {
  const options = { ...sessionOptions(question), optimizedModelFilePath: at(question.optimized) };
  await (await ort.InferenceSession.create(at(question.model), options)).release();
  if (!fs.existsSync(at(question.optimized))) throw new Unsupported(`release ${version} does not write optimized models`);
}

async function answer(question, say) {
  const at = (file) => path.join(question.folder, file);
  let stage = 'compile', session, compiler_ms = 0;
  const timed = async (promise, begin = performance.now()) => {
    const result = await promise;
    compiler_ms += performance.now() - begin;
    return result;
  };
  try {
    if (question.optimized) {
      await optimize(question, at);
      return say({ ok: true });
    }
    session = await timed(ort.InferenceSession.create(at(question.model), sessionOptions(question)));
    stage = 'run';
    say({ stage });
    const inputs = loadTensors(at('inputs.safetensors')), feeds = {};
    session.inputNames.forEach((name, i) => { feeds[name] = inputs[i]; });
    const results = await timed(session.run(feeds));
    saveTensors(at('outputs.safetensors'), session.outputNames.map((name) => results[name]));
    const run_seconds = [];
    for (let left = question.timed_runs ?? 0; left > 0; left--) {
      const begin = performance.now();
      await session.run(feeds);
      run_seconds.push((performance.now() - begin) / 1e3);
    }
    // For benchmarks: what the compiler took of it, and the best time of a run, of runs for so long.
    let best = Infinity;
    for (const end = performance.now() + 1e3 * (question.repeat_seconds ?? 0); performance.now() < end; ) {
      const begin = performance.now();
      await session.run(feeds);
      best = Math.min(best, performance.now() - begin);
    }
    const done = { ok: true, compiler_ms };
    if (run_seconds.length) done.run_seconds = run_seconds;
    if (Number.isFinite(best)) done.best_ms = best;
    say(done);
  } catch (error) {
    const message = String(error?.message ?? error).replaceAll(question.folder, '');
    say({ error: message, stage, unsupported: error instanceof Unsupported || notThere.test(message) });
  } finally {
    await session?.release();
  }
}

const write = (line) => fs.writeSync(1, JSON.stringify(line) + '\n');
write({
  whittle: 1,
  name: 'onnxruntime',
  version: `${version} (onnxruntime-node, node ${process.versions.node})`,
  format: 'onnx',
  external_data: true,
  switches: { kind: 'optimizer', names: takesSwitches ? optimizers : [] },
  levels: [{ name: 'level', most: levels.length - 1 }],
  optimized: { level: 0 },
  releases: { names: [...installed.keys()].sort(byAge), is: version, install: `${installer} VERSION` },
  options: { threads: { what: 'the number of threads of one run; default: 1', least: 1 } },
  repro: { api: 'onnxruntime', package: `onnxruntime-node@${version}`, node_modules: path.join(path.dirname(found), '..', '..') },
});
for await (const line of readline.createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  await answer(question, (said) => write({ id: question.id, ...said }));
}
