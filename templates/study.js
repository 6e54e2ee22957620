// The page of `gfsmith tune --report`: filters, sorts and marks variants. Variant i is row i of the table and point i
// of every plot. The URL fragment has the filter and the sort key.

const form = document.getElementById('filters');
const table = document.getElementById('variants');
const body = table.tBodies[0];
const rows = [...body.rows];
const boxes = rows.map((row) => row.querySelector('input'));
const headings = [...table.querySelectorAll('th[data-column]')];
const collator = new Intl.Collator('en', { numeric: true });

/** Returns the checked values of each column. A column without any is not restricted. */
function wanted() {
  const found = new Map();
  for (const box of form.querySelectorAll('input:checked')) {
    found.set(box.name, [...(found.get(box.name) ?? []), box.value]);
  }
  return [...found];
}

function passing(source) {
  const filters = wanted().map(([name, values]) => [source.get_column(name), values]);
  const passes = (i) => filters.every(([column, values]) => values.includes(String(column[i])));
  return rows.map((_, i) => i).filter(passes);
}

/** Compares two values that are not missing: numbers before texts. */
function compare(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return (typeof b === 'number') - (typeof a === 'number') || collator.compare(a, b);
}

/** Returns the indices in the order of the sort key: a column, with '-' before it for descending. Missing values are
 *  last. */
function sorted(indices, source) {
  const descending = form.sort.value.startsWith('-');
  const column = source.get_column(form.sort.value.replace('-', ''));
  if (!column) return indices;
  const missing = (i) => Number.isNaN(column[i]);
  const order = (i, j) => (descending ? compare(column[j], column[i]) : compare(column[i], column[j]));
  return indices.toSorted((i, j) => missing(i) - missing(j) || (missing(i) ? 0 : order(i, j)));
}

function show(source, filter) {
  const indices = passing(source);
  filter.indices = indices;
  const shown = sorted(indices, source).slice(0, table.dataset.limit);
  body.replaceChildren(...shown.map((i) => rows[i]));
  const rest = shown.length < indices.length ? `, of which the table has the first ${shown.length}` : '';
  document.getElementById('count').textContent = `${indices.length} of ${rows.length} variants${rest}`;
  for (const heading of headings) {
    const state = { [heading.dataset.column]: 'ascending', [`-${heading.dataset.column}`]: 'descending' };
    heading.ariaSort = state[form.sort.value] ?? 'none';
  }
}

function restore() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const box of form.querySelectorAll('input[type=checkbox]')) {
    box.checked = asked.getAll(box.name).includes(box.value);
  }
  form.sort.value = asked.get('sort') ?? '';
}

function keep() {
  const asked = new URLSearchParams(new FormData(form));
  if (!form.sort.value) asked.delete('sort');
  history.replaceState(null, '', asked.size ? `#${asked}` : location.pathname + location.search);
}

function markPoints(source) {
  source.selected.indices = boxes.flatMap((box, i) => (box.checked ? [i] : []));
}

function markRows(source) {
  const marked = new Set(source.selected.indices);
  boxes.forEach((box, i) => (box.checked = marked.has(i)));
  body.querySelector('tr:has(:checked)')?.scrollIntoView({ block: 'nearest' });
}

function start() {
  const [plots] = Bokeh.documents;
  const source = plots.get_model_by_name('variants');
  const filter = plots.get_model_by_name('passing');
  const update = () => {
    keep();
    show(source, filter);
  };
  form.addEventListener('change', update);
  form.addEventListener('reset', () => setTimeout(update));
  for (const heading of headings) {
    heading.querySelector('button').addEventListener('click', () => {
      const { column } = heading.dataset;
      form.sort.value = form.sort.value === column ? `-${column}` : column;
      update();
    });
  }
  body.addEventListener('change', () => markPoints(source));
  source.selected.properties.indices.change.connect(() => markRows(source));
  const load = () => {
    restore();
    show(source, filter);
  };
  window.addEventListener('hashchange', load);
  load();
  document.body.dataset.ready = 'yes';
}

form.hidden = false;
table.classList.add('live');
Bokeh.embed.embed_item(JSON.parse(document.getElementById('document').textContent), 'plots').then(start);
