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

async function draw(box) {
  const spec = charts[box.dataset.chart];
  spec.data.find((data) => data.name === "rows").values = along(spec.usermeta.rows);
  const options = { mode: "vega", renderer: "svg", actions: false, tooltip: showTip };
  const { view } = await window.vegaEmbed(box, spec, options);
  views.push({ view, signals: spec.signals.map((signal) => signal.name) });
}

function set(signal, value) {
  for (const { view, signals } of views) {
    if (signals.includes(signal)) view.signal(signal, value).runAsync();
  }
}

function choose(place) {
  const { name, sentence } = report.features[place];
  document.getElementById("feature-sentence").textContent = sentence;
  for (const span of document.querySelectorAll(".feature-name")) span.textContent = name;
  for (const part of document.querySelectorAll(".of-feature")) {
    part.hidden = Number(part.dataset.feature) !== place;
  }
  set("feature", place);
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
