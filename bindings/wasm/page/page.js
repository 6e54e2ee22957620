// The page: displays the worker's reports. States of a shard: intact, destroyed, corrupted, rebuilt.

import { ask, onProgress } from './remote.js';

/** @typedef {{index: number, state: string, reason: string | null}} Tile */
/** @typedef {import('../src/index.js').Report} Report */

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 */
function element(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`no ${id} in the page`);
  return found;
}

const ui = {
  drop: element('drop', HTMLLabelElement),
  file: element('file', HTMLInputElement),
  shape: element('shape', HTMLFormElement),
  k: element('k', HTMLInputElement),
  m: element('m', HTMLInputElement),
  again: element('again', HTMLButtonElement),
  status: element('status', HTMLParagraphElement),
  problem: element('problem', HTMLParagraphElement),
  progress: element('progress', HTMLProgressElement),
  set: element('set', HTMLElement),
  summary: element('summary', HTMLParagraphElement),
  tiles: element('tiles', HTMLUListElement),
  random: element('random', HTMLButtonElement),
  repair: element('repair', HTMLButtonElement),
  download: element('download', HTMLButtonElement),
  figures: element('figures', HTMLElement),
};

const REBUILDABLE = 'every block can be rebuilt';
const PHASES = { encode: 'Computing parities', checksum: 'Checksums', rebuild: 'Rebuilding' };

/** @param {string} id @param {string} text */
const write = (id, text) => (element(id, HTMLElement).textContent = text);

onProgress(({ phase, done, total }) => {
  ui.progress.value = total > 0 ? done / total : 1;
  ui.progress.title = PHASES[phase];
});

// ---- state ----

/** @type {File | null} */
let chosen = null;
/** @type {Report | null} */
let set = null;
/** @type {Tile[]} */
let tiles = [];
let busy = false;

/** @param {string} state */
const whole = (state) => state === 'intact' || state === 'rebuilt';
const lost = () => tiles.filter(({ state }) => !whole(state));

/** @param {number} bytes */
function size(bytes) {
  const units = ['bytes', 'kB', 'MB', 'GB'];
  let unit = 0;
  let value = bytes;
  for (; value >= 1000 && unit < units.length - 1; unit++) value /= 1000;
  return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`;
}

/** @param {number | null} rate */
const speed = (rate) => (rate === null ? 'too short to measure' : `${Math.round(rate / 1e6)} MB of data per second`);

/** @param {number} count @param {string} [rest] */
const shardsAre = (count, rest = 'lost') => `${count} ${count === 1 ? 'shard is' : 'shards are'} ${rest}`;

/** @param {string} text */
function problem(text) {
  ui.problem.textContent = text;
  ui.problem.hidden = text === '';
}

/**
 * Run an action during which no other action can be started.
 * @param {string} doing
 * @param {() => Promise<string>} work its result is the new status
 */
async function exclusively(doing, work) {
  if (busy) return;
  busy = true;
  problem('');
  ui.status.textContent = doing;
  ui.progress.value = 0;
  ui.progress.hidden = false;
  draw();
  try {
    ui.status.textContent = await work();
  } catch (error) {
    ui.status.textContent = '';
    problem(error instanceof Error ? error.message : String(error));
  }
  ui.progress.hidden = true;
  busy = false;
  draw();
}

// ---- drawing ----

/** Tiles are created once for a set and then updated, so that the focus is kept. */
function makeTiles() {
  ui.tiles.replaceChildren(
    ...tiles.map(({ index }) => {
      const item = document.createElement('li');
      const button = document.createElement('button');
      button.type = 'button';
      button.dataset.index = String(index);
      button.append(document.createElement('span'), document.createElement('span'));
      item.append(button);
      return item;
    }),
  );
}

/**
 * @param {Tile} tile
 * @param {HTMLButtonElement} button
 */
function drawTile({ index, state, reason }, button) {
  const { k } = /** @type {Report} */ (set);
  const kind = index < k ? 'data' : 'parity';
  const name = `${kind} ${index < k ? index : index - k}`;
  button.className = `tile ${kind} ${state}`;
  button.dataset.state = state;
  button.title = reason ?? '';
  button.setAttribute('aria-label', `${name}, ${state}`);
  button.setAttribute('aria-disabled', String(busy || !whole(state)));
  [name, state].forEach((text, n) => (button.children[n].textContent = text));
}

function draw() {
  ui.set.hidden = ui.figures.hidden = set === null;
  ui.file.disabled = busy;
  ui.again.disabled = busy || chosen === null;
  if (set === null) return;
  const { name, length, k, m, payloadBytes } = set;
  ui.summary.textContent =
    `${name}, ${size(length)}: ${k} data shards and ${m} parity shards of ${size(payloadBytes)} each, ` +
    `${size((k + m) * payloadBytes)} in all.`;
  ui.tiles.querySelectorAll('button').forEach((button, index) => drawTile(tiles[index], button));
  ui.random.textContent = `Damage ${m} of them at random`;
  ui.random.disabled = busy || lost().length > 0;
  ui.repair.disabled = busy || lost().length === 0;
  ui.download.disabled = busy;
}

/** Describe the state after damage. Damage to more than m shards is repaired if it is in different blocks; lrc may fail
 * to repair m losses. */
async function tellDamage() {
  const { code, m, k } = /** @type {Report} */ (set);
  const count = lost().length;
  const sure = count <= m && code !== 'lrc';
  const gone = !sure && !(await ask('repairable'));
  write('after', 'not yet');
  write('verdict', '');
  problem(gone ? `${count} of ${k + m} shards are lost; ${code} ${k}+${m} cannot rebuild them. The file is gone.` : '');
  const rest = sure ? `up to ${m} can be rebuilt` : REBUILDABLE;
  ui.status.textContent = gone ? '' : `${shardsAre(count)}; ${rest}.`;
}

/**
 * @param {Report} report
 * @param {string} before
 * @param {string} kernels
 * @param {string} encoding
 */
function show(report, before, kernels, encoding) {
  set = report;
  const words = { intact: 'intact', damaged: 'corrupted', missing: 'destroyed' };
  tiles = report.shards.map(({ index, state, reason }) => ({ index, state: words[state], reason }));
  makeTiles();
  write('before', before);
  write('after', 'not yet');
  write('verdict', '');
  write('encoding', encoding);
  write('rebuilding', 'nothing yet');
  write('kernels', kernels);
}

/** @param {string} after */
function compare(after) {
  const before = element('before', HTMLElement).textContent ?? '';
  write('after', after);
  const known = before.length === after.length;
  write('verdict', !known ? '' : after === before ? '✓ the same' : '✗ different');
  element('verdict', HTMLElement).className = after === before ? 'same' : 'different';
}

// ---- actions ----

/** @param {File} file */
function splitFile(file) {
  if (!ui.shape.reportValidity()) return Promise.resolve();
  const [k, m] = [ui.k.valueAsNumber, ui.m.valueAsNumber];
  chosen = file;
  return exclusively(`Splitting ${file.name} …`, async () => {
    const bytes = await file.arrayBuffer();
    const { report, before, kernels, rate } = await ask('split', { bytes, name: file.name, k, m }, [bytes]);
    show(report, before, kernels, speed(rate));
    return `${file.name} is split. Click shards to damage them.`;
  });
}

/** @param {File[]} files */
function openShards(files) {
  return exclusively(`Opening ${files.length} shards …`, async () => {
    const buffers = await Promise.all(files.map((file) => file.arrayBuffer()));
    const { report, kernels } = await ask('open', { files: buffers, names: files.map(({ name }) => name) }, buffers);
    chosen = null;
    show(report, 'not known: shards were opened', kernels, 'nothing: shards were opened');
    const rest = report.repairable ? REBUILDABLE : 'the file is gone';
    return `${shardsAre(report.lost, `lost of ${report.k + report.m}`)}; ${rest}.`;
  });
}

/** @param {FileList | undefined | null} list */
function take(list) {
  const files = Array.from(list ?? []);
  if (files.length === 0 || busy) return;
  if (files.every(({ name }) => name.endsWith('.gfs'))) openShards(files);
  else if (files.length === 1) splitFile(files[0]);
  else problem(`${files.length} files: choose one, or the shard files (.gfs) of one set.`);
}

/** @param {number} index */
async function damage(index) {
  const how = document.querySelector('input[name="damage"]:checked');
  const command = /** @type {HTMLInputElement} */ (how).value;
  if (busy || !whole(tiles[index].state)) return;
  tiles[index] = { index, state: command === 'destroy' ? 'destroyed' : 'corrupted', reason: null };
  await ask(command, { index });
  draw();
  await tellDamage();
}

async function damageSome() {
  const { m } = /** @type {Report} */ (set);
  const order = tiles.map(({ index }) => ({ index, rank: Math.random() })).sort((a, b) => a.rank - b.rank);
  for (const { index } of order.slice(0, m)) await damage(index);
}

function repairAll() {
  return exclusively('Repairing …', async () => {
    const { rebuilt, after, rate } = await ask('repair');
    for (const index of rebuilt) tiles[index] = { index, state: 'rebuilt', reason: null };
    write('rebuilding', speed(rate));
    compare(after);
    return `${shardsAre(rebuilt.length, 'rebuilt')}; all shards are intact.`;
  });
}

function download() {
  return exclusively('Putting the file together …', async () => {
    const { name, bytes, after } = await ask('join');
    compare(after);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([bytes]));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    return `${name} is complete: ${size(bytes.byteLength)}.`;
  });
}

ui.file.addEventListener('change', () => {
  take(ui.file.files);
  ui.file.value = ''; // so that the same file can be chosen again
});
ui.shape.addEventListener('submit', (event) => {
  event.preventDefault();
  if (chosen) splitFile(chosen);
});
ui.tiles.addEventListener('click', (event) => {
  const tile = event.target instanceof Element ? event.target.closest('button') : null;
  if (tile) damage(Number(tile.dataset.index));
});
ui.random.addEventListener('click', damageSome);
ui.repair.addEventListener('click', repairAll);
ui.download.addEventListener('click', download);

for (const name of ['dragenter', 'dragover']) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    ui.drop.classList.add('over');
  });
}
for (const name of ['dragleave', 'drop']) document.addEventListener(name, () => ui.drop.classList.remove('over'));
document.addEventListener('drop', (event) => {
  event.preventDefault();
  take(event.dataTransfer?.files);
});
