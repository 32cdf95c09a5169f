// A worker (share/doc/how-to/compiler.md) around npm's @techstark/opencv-js: releases of OpenCV's DNN module that Debian does not have yet.
//   node worker.cjs VERSION [ENGINE] [any-rank]
// `install VERSION…` puts them where this looks for them. ENGINE: ENGINE_CLASSIC or ENGINE_NEW, where the release has both;
// `any-rank`: also of inputs that a script in JavaScript makes only by way of another network.
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const readline = require('node:readline');

const [version, ...words] = process.argv.slice(2);
const fixedEngine = words.find((word) => word.startsWith('ENGINE_'));
const anyRank = words.includes('any-rank');
const package = `@techstark/opencv-js@${version}-release.1`;
const data = process.env.XDG_DATA_HOME || path.join(os.homedir(), '.local', 'share');
const say = (line) => fs.writeSync(1, JSON.stringify(line) + '\n');
console.log = console.warn = console.error;  // what the module prints must not get between the answers

const kEngines = ['ENGINE_CLASSIC', 'ENGINE_NEW'];  // since 5.0.0; the new one is the default there

class Unsupported extends Error {}

// ---- inputs ----
// The binding makes matrices of two dimensions, and of those images of [1, 1, rows, columns]. What has other sizes comes
// out of a network that is one Reshape, whose file is written here.

const varint = (n) => n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)];
const field = (number, bytes) => [number << 3 | 2, ...varint(bytes.length), ...bytes];  // of protobuf: bytes or a message
const number = (field, value) => [field << 3, ...varint(value)];
const text = (field_, value) => field(field_, [...Buffer.from(value)]);

function reshapeModel(from, to) {
  const type = (shape) => field(2, field(1, [...number(1, 1), ...field(2, shape.flatMap((size) => field(1, number(1, size))))]));
  const node = [...text(1, 'x'), ...text(1, 's'), ...text(2, 'y'), ...text(4, 'Reshape')];
  const sizes = [...number(1, to.length), ...number(2, 7), ...text(8, 's'), ...field(7, to.flatMap(varint))];
  const graph = [...field(1, node), ...text(2, 'g'), ...field(5, sizes), ...field(11, [...text(1, 'x'), ...type(from)]),
                 ...field(12, [...text(1, 'y'), ...type(to)])];
  return new Uint8Array([...number(1, 8), ...field(7, graph), ...field(8, number(2, 13))]);
}

function reshaped(cv, matrix, shape) {
  cv.FS_createDataFile('/', 'reshape.onnx', reshapeModel(Array.from(matrix.matSize), shape), true, false, false);
  const net = 'ENGINE_CLASSIC' in cv ? cv.readNetFromONNX('/reshape.onnx', cv.ENGINE_CLASSIC) : cv.readNetFromONNX('/reshape.onnx');
  cv.FS_unlink('/reshape.onnx');
  net.setInput(matrix, 'x');
  return net.forward('y').mat_clone();
}

function input(cv, values, shape) {
  const image = shape.length === 4 && shape[0] === 1 && shape[1] === 1;
  if (shape.length === 2 || image) {
    const matrix = cv.matFromArray(shape.at(-2), shape.at(-1), cv.CV_32F, values);
    return image ? cv.blobFromImage(matrix) : matrix;
  }
  if (!anyRank || shape.length < 1) throw new Unsupported(`an input has ${shape.length} dimensions`);
  return reshaped(cv, cv.matFromArray(1, values.length, cv.CV_32F, values), shape);
}

function load(cv, file, names) {
  const bytes = fs.readFileSync(file);
  const length = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString('utf8', 8, 8 + length));
  return names.map((name, i) => {
    const { dtype, shape, data_offsets: [begin, end] } = header[i];
    if (dtype !== 'F32') throw new Unsupported(`an input is ${dtype}`);
    const values = new Float32Array(new Uint8Array(bytes.subarray(8 + length + begin, 8 + length + end)).buffer);
    return input(cv, values, shape);
  });
}

function save(file, results) {
  const header = {}, blobs = [];
  let offset = 0;
  results.forEach(({ values, shape }, i) => {
    header[i] = { dtype: 'F32', shape, data_offsets: [offset, offset + values.byteLength] };
    blobs.push(Buffer.from(values.buffer, values.byteOffset, values.byteLength));
    offset += values.byteLength;
  });
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  fs.writeFileSync(file, Buffer.concat([length, text, ...blobs]));
}

function answer(cv, { id, folder, model, inputs, outputs, options: { engine = fixedEngine } = {} }) {
  let stage = 'compile';
  try {
    const file = `/${id}.onnx`;
    cv.FS_createDataFile('/', file.slice(1), new Uint8Array(fs.readFileSync(path.join(folder, model))), true, false, false);
    const net = engine ? cv.readNetFromONNX(file, cv[engine]) : cv.readNetFromONNX(file);
    cv.FS_unlink(file);
    stage = 'run';
    say({ id, stage });
    const names = inputs.map(({ name }) => name);
    load(cv, path.join(folder, 'inputs.safetensors'), names).forEach((value, i) => net.setInput(value, names[i]));
    const results = outputs.map(({ name, dtype }) => {
      const result = net.forward(name);
      if (dtype !== 'f32' || result.type() !== cv.CV_32F) throw new Unsupported('found an output of another type, expected f32');
      return { values: Float32Array.from(result.data32F), shape: Array.from(result.matSize) };
    });
    save(path.join(folder, 'outputs.safetensors'), results);
    say({ id, ok: true });
  } catch (error) {
    const message = typeof error === 'number' ? cv.exceptionFromPtr(error).msg : String(error.message ?? error);
    const unsupported = error instanceof Unsupported || /not implemented|not supported|Can't create layer/i.test(message);
    say({ id, error: message, stage, unsupported });
  }
}

async function main() {
  const modules = path.join(data, 'whittle', 'backends', 'opencv_js', version, 'node_modules');
  let cv = require(path.join(modules, '@techstark', 'opencv-js'));
  if (cv instanceof Promise) cv = await cv;
  else if (!cv.Mat) await new Promise((done) => { cv.onRuntimeInitialized = done; });
  const options = kEngines[0] in cv && !fixedEngine ? { engine: { what: 'which runs the model', one_of: kEngines } } : {};
  const label = words.length ? [version, fixedEngine, '(opencv-js)'].filter(Boolean).join(' ')
                             : `${version} (${kEngines[1] in cv ? 'ENGINE_NEW, the default; ' : ''}${package}, node ${process.versions.node})`;
  say({
    whittle: 1, name: 'opencv_js', version: label, format: 'onnx', options,
    repro: { api: 'opencv', package, node_modules: modules },
  });
  for await (const line of readline.createInterface({ input: process.stdin })) answer(cv, JSON.parse(line));
}

main();
