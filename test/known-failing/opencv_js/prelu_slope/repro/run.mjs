// OpenCV 5.0.0 dnn, CPU: PRelu(x, slope=[4, -4]) of float[1, 1, 1, 2] gives -16, expected 16.
//
//   npm install @techstark/opencv-js@5.0.0-release.1 && node run.mjs
import fs from 'node:fs';
import opencv from '@techstark/opencv-js';

const cv = opencv instanceof Promise ? await opencv : opencv;
if (!cv.Mat) await new Promise((done) => { cv.onRuntimeInitialized = done; });

cv.FS_createDataFile('/', 'model.onnx', fs.readFileSync('model.onnx'), true, false, false);
const net = cv.readNetFromONNX('/model.onnx');
net.setInput(cv.blobFromImage(cv.matFromArray(1, 2, cv.CV_32F, [4, -4])), 'x');
const y = Array.from(net.forward('y').data32F, (v) => +v.toPrecision(7));

const expected = [4, 16];
console.log(`y: [${y.join(', ')}], expected: [${expected.join(', ')}]`);
process.exit(y.some((a, i) => !(Math.abs(a - expected[i]) <= 0.0017)) ? 1 : 0);
