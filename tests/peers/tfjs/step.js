// The CAMEL training step in TensorFlow.js, measured in the worker that measures ours.
const root = new URL('.', import.meta.url).href;
const libraries = {
  cpu: 'tfjs/dist/tf.min.js',
  wasm: 'tfjs-backend-wasm/dist/tf-backend-wasm.min.js',
  webgpu: 'tfjs-backend-webgpu/dist/tf-backend-webgpu.min.js',
};

async function load(library) {
  const response = await fetch(`${root}@tensorflow/${library}`);
  if (!response.ok) throw new Error(`${library} is not installed`);
  (0, eval)(await response.text());
}

async function choose(backend) {
  if (!globalThis.tf) await load(libraries.cpu);
  if (backend !== 'cpu') await load(libraries[backend]);
  if (backend === 'wasm') {
    globalThis.tf.wasm.setWasmPaths(`${root}@tensorflow/tfjs-backend-wasm/dist/`);
    globalThis.tf.wasm.setThreadsCount(1);
  }
  if (!(await globalThis.tf.setBackend(backend))) throw new Error(`${backend} does not start`);
  await globalThis.tf.ready();
  return globalThis.tf;
}

// Tasks [T, N, d] and [T, N]; the same inputs in all of them where they are shared.
function data(tf, { tasks, rows, inputs, shared }) {
  const x = tf.randomNormal([shared ? 1 : tasks, rows, inputs], 0, 1, 'float32', 1);
  const factors = tf.range(0, tasks).mul(0.1).add(1).reshape([tasks, 1, 1]);
  return { x, y: x.mul(factors).sin().sum(2) };
}

function camel(tf, shape) {
  const { tasks, rows, batch, inputs, hidden, rank, shared } = shape;
  const { x, y } = data(tf, shape);
  const sizes = [inputs, ...hidden, rank];
  const layers = sizes.slice(1).map((out, k) => [
    tf.variable(tf.randomNormal([sizes[k], out], 0, sizes[k] ** -0.5)),
    tf.variable(tf.zeros([out])),
  ]);
  const heads = tf.variable(tf.randomNormal([tasks, rank]).abs());
  const adam = tf.train.adam(5e-3);
  const order = Int32Array.from({ length: rows }, (_, i) => i);
  const loss = (taken) => {
    let h = x.gather(taken, 1).reshape([-1, inputs]);
    layers.forEach(([matrix, bias], k) => {
      h = h.matMul(matrix).add(bias);
      if (k + 1 < layers.length) h = h.tanh();
    });
    const outputs = shared
      ? heads.matMul(h, false, true)
      : h.reshape([tasks, batch, rank]).matMul(heads.reshape([tasks, rank, 1])).reshape([tasks, batch]);
    return outputs.sub(y.gather(taken, 1)).square().mean();
  };
  return () => {
    tf.util.shuffle(order);
    tf.tidy(() => {
      const taken = tf.tensor1d(order.slice(0, batch), 'int32');
      adam.minimize(() => loss(taken));
    });
    return heads;
  };
}

// Milliseconds of a step, measured for about so many seconds.
export async function measure(backend, shape, seconds) {
  const tf = await choose(backend);
  const step = camel(tf, shape);
  const times = [];
  await step().data();
  const end = performance.now() + 1e3 * seconds;
  while (times.length < 3 || performance.now() < end) {
    const begun = performance.now();
    await step().data();
    times.push(performance.now() - begun);
  }
  tf.disposeVariables();
  return Float64Array.from(times);
}
