// OpenCV 5.0.0 dnn, CPU: MaxPool<kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER">(x) of float[1, 1, 4, 1]
// gives 2, expected 1.
//
//   npm install @techstark/opencv-js@5.0.0-release.1 && node run.mjs
import fs from 'node:fs';
import opencv from '@techstark/opencv-js';

const cv = opencv instanceof Promise ? await opencv : opencv;
if (!cv.Mat) await new Promise((done) => { cv.onRuntimeInitialized = done; });

cv.FS_createDataFile('/', 'model.onnx', fs.readFileSync('model.onnx'), true, false, false);
const net = cv.readNetFromONNX('/model.onnx');
net.setInput(cv.blobFromImage(cv.matFromArray(4, 1, cv.CV_32F, [0, 2, 1, 0])), 'x');
const y = Array.from(net.forward('y').data32F, (v) => +v.toPrecision(7));

const expected = [2, 1];
console.log(`y: [${y.join(', ')}], expected: [${expected.join(', ')}]`);
process.exit(y.some((a, i) => !(Math.abs(a - expected[i]) <= 0.00021)) ? 1 : 0);
