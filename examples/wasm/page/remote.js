// The page's side of the worker: a call is a message, its result another one, with progress in between.

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
 * Have the worker do something; worker.js has the commands.
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

/** @param {typeof listener} heard is called with the progress of whatever is done */
export function onProgress(heard) {
  listener = heard;
}
