// Fills the charts from the data of the page, and moves them with the two controls.
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const report = read("report-data");
const charts = read("report-charts");
const views = [];

const along = (path) => path.split(".").reduce((value, name) => value[name], report);

const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);

function showTip(_, event, __, value) {
  tip.hidden = !value;
  if (!value) return;
  const lines = Object.entries(value).map(([name, text]) => {
    const line = document.createElement("div");
    line.textContent = `${name}: ${text}`;
    return line;
  });
  tip.replaceChildren(...lines);
  const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
  const top = Math.min(event.clientY + 12, innerHeight - tip.offsetHeight - 8);
  tip.style.translate = `${Math.max(left, 0)}px ${Math.max(top, 0)}px`;
}

// Labels are broken into lines, so that all of them can be read beside a narrow chart. Zero-width
// spaces tell apart those that are equal.
const WIDEST = 18;
const LINE = 14;
// What moves a label up by half of its further lines.
const MIDDLE = `-${LINE / 2} * (length(split(datum.value, '\\n')) - 1)`;

function lines(label) {
  const found = [""];
  for (const word of String(label).split(/\s+/).flatMap((w) => w.match(/.{1,22}/gu) ?? [""])) {
    const last = found[found.length - 1];
    if (last && last.length + 1 + word.length > WIDEST) found.push(word);
    else found[found.length - 1] = last ? `${last} ${word}` : word;
  }
  return found;
}

function placed(rows) {
  const seen = new Map();
  return rows.map((row) => {
    if (row.label === undefined) return row;
    const key = `${row.feature}|${row.label}`;
    const times = seen.get(key) ?? 0;
    seen.set(key, times + 1);
    return { ...row, place: lines(row.label).join("\n") + "\u200b".repeat(times) };
  });
}

// The height of a bar, so that the longest label fits; of features, of the one that is looked along.
function step(rows, usual, feature) {
  const shown = rows.filter((row) => row.feature === undefined || row.feature === feature);
  const most = Math.max(1, ...shown.map((row) => (row.place ?? "").split("\n").length));
  return Math.max(usual, LINE * most + 14);
}

async function draw(box) {
  const spec = charts[box.dataset.chart];
  const rows = placed(along(spec.usermeta.rows));
  spec.data.find((data) => data.name === "rows").values = rows;
  const height = spec.signals.find((signal) => signal.name === "y_step");
  const usual = height?.value;
  if (height) height.value = step(rows, usual, 0);
  for (const axis of spec.axes ?? []) {
    if (axis.scale === "y" && axis.encode?.labels) axis.encode.labels.update.dy = { signal: MIDDLE };
  }
  const options = { mode: "vega", renderer: "svg", actions: false, tooltip: showTip };
  const { view } = await window.vegaEmbed(box, spec, options);
  const signals = spec.signals.map((signal) => signal.name);
  views.push({ view, signals, step: height && ((place) => step(rows, usual, place)) });
}

// Labels may be longer than before: space beside the bars is measured again.
function set(signal, value, { anew = false } = {}) {
  for (const { view, signals } of views) {
    if (!signals.includes(signal)) continue;
    view.signal(signal, value);
    (anew ? view.resize() : view).runAsync();
  }
}

function choose(place) {
  const { name, sentence } = report.features[place];
  document.getElementById("feature-sentence").textContent = sentence;
  for (const span of document.querySelectorAll(".feature-name")) span.textContent = name;
  for (const part of document.querySelectorAll(".of-feature")) {
    part.hidden = Number(part.dataset.feature) !== place;
  }
  for (const one of views) {
    if (one.step && one.signals.includes("feature")) one.view.signal("y_step", one.step(place));
  }
  set("feature", place, { anew: true });
}

function answer(slider) {
  const point = report.people.points[Number(slider.value)];
  document.getElementById("share-sentence").textContent = point.sentence;
  slider.setAttribute("aria-valuetext", point.sentence);
  set("at", point.at);
}

await Promise.all([...document.querySelectorAll("[data-chart]")].map(draw));

const feature = document.getElementById("feature");
feature.addEventListener("change", () => choose(Number(feature.value)));
choose(Number(feature.value));
const slider = document.getElementById("share");
if (slider) {
  slider.addEventListener("input", () => answer(slider));
  answer(slider);
}
document.documentElement.dataset.ready = "true";
