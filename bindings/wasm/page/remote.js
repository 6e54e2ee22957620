// The page's interface to the worker: a call is a message, its result is another one, and progress is reported
// in between.

const worker = new Worker(new URL('worker.js', import.meta.url), { type: 'module' });
/** @type {Map<number, {resolve: (result: any) => void, reject: (error: Error) => void}>} */
const waiting = new Map();
let calls = 0;
/** @type {(progress: import('../src/index.js').Progress) => void} */
let listener = () => {};

worker.addEventListener('message', ({ data }) => {
  if (data.progress) {
    listener(data.progress);
    return;
  }
  const call = waiting.get(data.id);
  waiting.delete(data.id);
  if (data.error !== undefined) call?.reject(new Error(data.error));
  else call?.resolve(data.result);
});
worker.addEventListener('error', (event) => {
  const error = new Error(event.message || 'the worker could not be started');
  waiting.forEach(({ reject }) => reject(error));
  waiting.clear();
});

/**
 * Run a command of worker.js in the worker.
 * @param {string} command
 * @param {object} [message]
 * @param {Transferable[]} [transfer]
 * @returns {Promise<any>}
 */
export function ask(command, message = {}, transfer = []) {
  return new Promise((resolve, reject) => {
    const id = ++calls;
    waiting.set(id, { resolve, reject });
    worker.postMessage({ id, command, ...message }, transfer);
  });
}

/** @param {typeof listener} heard is called with the progress of commands */
export function onProgress(heard) {
  listener = heard;
}
