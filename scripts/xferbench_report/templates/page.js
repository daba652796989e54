// Draws the charts of the page, each when it comes into view, all of them before printing; sorts and filters tables;
// and shows the samples of a case to whoever asks.
(() => {
  "use strict";
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const settings = { responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "",
                     modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"] };
  const NARROW = 560;  // pixels, below which names beside a chart would leave no room for it

  const byId = (id) => document.getElementById(id);
  const all = (what, within = document) => [...within.querySelectorAll(what)];
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const escaped = (words) => String(words).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const unescaped = (words) => words.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

  function element(name, words = "", attributes = {}) {
    const made = document.createElement(name);
    made.textContent = words;
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    return made;
  }

  // ---- Charts

  // What follows the reader's light or dark, as settings by their paths.
  function theme(layout) {
    const found = { "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "font.color": colour("text"),
                    "font.family": "system-ui, 'DejaVu Sans', 'Liberation Sans', Arial, sans-serif",
                    "hoverlabel.bgcolor": colour("panel"), "hoverlabel.bordercolor": colour("quiet"),
                    "hoverlabel.font.color": colour("text"), "modebar.bgcolor": "rgba(0,0,0,0)",
                    "modebar.color": colour("edge"), "modebar.activecolor": colour("quiet") };
    for (const axis of axesOf(layout)) {
      found[axis + ".gridcolor"] = colour("grid");
      found[axis + ".linecolor"] = colour("edge");
      found[axis + ".tickcolor"] = colour("edge");
    }
    return found;
  }

  const axesOf = (layout) => Object.keys(layout).filter((name) => /^[xy]axis/.test(name));

  function themed(layout) {
    for (const [path, value] of Object.entries(theme(layout))) {
      const steps = path.split(".");
      const last = steps.pop();
      let at = layout;
      for (const step of steps) at = at[step] = at[step] || {};
      at[last] = value;
    }
    return layout;
  }

  // A name in lines of so many characters.
  function wrapped(name, most) {
    const lines = [""];
    for (const word of name.split(" ")) {
      const last = lines.length - 1;
      if (lines[last] && lines[last].length + word.length >= most) lines.push(word);
      else lines[last] += (lines[last] ? " " : "") + word;
    }
    return lines;
  }

  // On small screens: names in several short lines, and neither a scale of colours, whose numbers stand in the cells,
  // nor wide margins.
  function narrowed(figure) {
    const { data, layout } = figure;
    layout.margin = { ...layout.margin, l: layout.yaxis.automargin ? 40 : 120, r: 8 };
    layout.font = { ...layout.font, size: 10 };
    for (const trace of data) if (trace.type === "heatmap") trace.showscale = false;
    for (const one of layout.annotations || []) if (one.name === "watermark") one.font = { ...one.font, size: 14 };
    const names = layout.yaxis && layout.yaxis.categoryarray;
    if (names) {
      const lines = names.map((name) => wrapped(name, 17));
      const most = Math.max(...lines.map((one) => one.length));
      const ticktext = lines.map((one) => one.join("<br>"));
      layout.yaxis = { ...layout.yaxis, tickmode: "array", tickvals: names, ticktext };
      layout.height += names.length * Math.max(0, 12 * most - 16);
    }
    for (const axis of axesOf(layout)) {
      const title = layout[axis].title;
      if (title && title.text) layout[axis].title = { ...title, text: wrapped(title.text, 34).join("<br>") };
    }
    return figure;
  }

  function fitted(figure, width) {
    const copy = JSON.parse(JSON.stringify(figure));
    return width < NARROW ? narrowed(copy) : copy;
  }

  async function draw(place) {
    if (place.dataset.state) return;
    place.dataset.state = "drawing";
    try {
      const figure = fitted(figures[place.id], place.clientWidth);
      place.style.height = figure.layout.height + "px";
      await Plotly.newPlot(place, figure.data, themed(figure.layout), settings);
      listTraces(place, figure.data);
      place.dataset.state = "drawn";
    } catch (error) {
      place.dataset.state = "failed";
      place.classList.add("failed");
      place.textContent = "This chart could not be drawn: " + error.message;
      console.error(error);
    }
  }

  // ---- Legends: below the chart, so that they neither cover it nor scroll

  const SYMBOLS = { "circle": "M4 0A4 4 0 1 1 -4 0A4 4 0 1 1 4 0Z", "square": "M-4 -4H4V4H-4Z",
                    "diamond": "M0 -5L5 0L0 5L-5 0Z", "triangle-up": "M0 -5L5 4H-5Z", "triangle-down": "M0 5L5 -4H-5Z",
                    "triangle-left": "M-5 0L4 -5V5Z", "triangle-right": "M5 0L-4 -5V5Z", "x": "M-4 -4L4 4M-4 4L4 -4",
                    "star": "M0 -5L1.5 -1.5L5 -1.5L2.2 1L3.2 5L0 2.6L-3.2 5L-2.2 1L-5 -1.5L-1.5 -1.5Z" };
  const DASHES = { dash: "6 4", dot: "2 3", dashdot: "7 3 2 3" };

  function sample(trace) {
    const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const mode = trace.type === "bar" ? "bar" : trace.mode || "markers";
    const marker = trace.marker || {}, line = trace.line || {};
    const add = (name, attributes) => {
      const part = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [attribute, value] of Object.entries(attributes)) part.setAttribute(attribute, value);
      picture.append(part);
    };
    const outside = { width: 28, height: 12, viewBox: "-14 -6 28 12", "aria-hidden": "true" };
    for (const [name, value] of Object.entries(outside)) picture.setAttribute(name, value);
    const dashes = { "stroke-dasharray": DASHES[line.dash] || "none" };
    if (mode.includes("lines")) add("path", { d: "M-14 0H14", stroke: line.color, "stroke-width": 2, ...dashes });
    if (mode === "bar") add("path", { d: "M-12 -4H12V4H-12Z", fill: marker.color });
    if (mode.includes("markers")) {
      const [shape, open] = [String(marker.symbol || "circle").replace("-open", ""), /-open$/.test(marker.symbol)];
      const hollow = open || shape === "x";
      add("path", { d: SYMBOLS[shape] || SYMBOLS.circle, fill: hollow ? "none" : marker.color, stroke: marker.color,
                    "stroke-width": hollow ? 2 : 0 });
    }
    return picture;
  }

  function listTraces(place, data) {
    const list = document.querySelector(`.legend[data-of="${place.id}"]`);
    if (!list) return;
    list.replaceChildren();
    data.forEach((trace, number) => {
      if (trace.showlegend === false || !trace.name) return;
      const button = element("button", "", { type: "button", "aria-pressed": "true" });
      button.append(sample(trace), element("bdi", unescaped(trace.name)));
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        const together = data.map((one, other) => other).filter((other) => other === number
          || (trace.legendgroup && data[other].legendgroup === trace.legendgroup && data[other].showlegend === false));
        Plotly.restyle(place, { visible: shown }, together);
      });
      const item = element("li");
      item.append(button);
      list.append(item);
    });
  }

  // ---- Charts by keyboard: left and right go along a trace, up and down to the next one

  function walk(place, key) {
    const data = place.data.map((trace, number) => ({ trace, number }))
      .filter(({ trace }) => trace.hovertext || trace.z);
    if (!data.length) return;
    const at = place.at || { trace: 0, point: -1, row: 0 };
    const along = { ArrowRight: 1, ArrowLeft: -1 }[key] || 0, across = { ArrowDown: 1, ArrowUp: -1 }[key] || 0;
    const current = data[at.trace].trace;
    if (current.z) {
      at.row = Math.min(current.z.length - 1, Math.max(0, at.row - across));
    } else if (across) {
      at.trace = (at.trace + across + data.length) % data.length;
    }
    const { trace, number } = data[at.trace];
    const points = trace.z ? trace.z[0].length : (trace.x || trace.y).length;
    at.point = Math.min(points - 1, Math.max(0, at.point + along));
    place.at = at;
    Plotly.Fx.hover(place, [{ curveNumber: number, pointNumber: trace.z ? [at.row, at.point] : at.point }]);
    const words = trace.z ? trace.hovertext[at.row][at.point]
      : Array.isArray(trace.hovertext) ? trace.hovertext[at.point] : trace.hovertext;
    byId("spoken").textContent = unescaped(String(words || "").replaceAll("<br>", ", "));
  }

  document.addEventListener("keydown", async (event) => {
    const place = event.target;
    if (!place.classList || !place.classList.contains("chart") || !/^Arrow/.test(event.key)) return;
    event.preventDefault();
    if (place.id !== "samples-chart") await draw(place);
    if (place.data) walk(place, event.key);
  });

  const places = () => all("figure .chart");
  const shown = (place) => place.offsetWidth > 0;
  const recolour = () => all(".chart").filter((place) => place.dataset.state === "drawn")
    .forEach((place) => Plotly.relayout(place, theme(place.layout)));

  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      draw(entry.target);
    }
  }, { rootMargin: "300px" });
  for (const place of places()) {
    place.style.height = figures[place.id].layout.height + "px";  // so that nothing moves when it is drawn
    watcher.observe(place);
  }

  // ---- Tables: sorted by a column, and filtered by words

  function value(row, column) {
    const cell = row.cells[column];
    const words = cell.textContent.trim();
    if (cell.dataset.sort !== undefined) return Number(cell.dataset.sort);
    const number = cell.className === "n" ? parseFloat(words.replace(/^[^\d+-]+/, "").replaceAll(",", "")) : NaN;
    return Number.isNaN(number) ? words : number;
  }

  function ordered(one, other) {
    if (one === "" || other === "") return (one === "") - (other === "");
    if (typeof one === "number" && typeof other === "number") return one - other;
    return String(one).localeCompare(String(other), undefined, { numeric: true });
  }

  function sort(table, column, head) {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const one of all("th", table)) one.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row, place) => ({ row, place, value: value(row, column) }));
    keyed.sort((a, b) => {
      const empty = (a.value === "") - (b.value === "");  // last, whichever way
      return empty || (down ? -1 : 1) * ordered(a.value, b.value) || a.place - b.place;
    });
    body.append(...keyed.map((one) => one.row));
  }

  function filter(table, words, told) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const row of table.tBodies[0].rows) {
      const keys = all("[data-case]", row).map((one) => samples().keys[one.dataset.case]).join(" ");
      const text = (row.textContent + " " + keys).toLowerCase();
      row.hidden = !wanted.every((word) => text.includes(word));
      left += !row.hidden;
    }
    told.textContent = `${left} of ${table.tBodies[0].rows.length} cases`;
  }

  function equip(table) {
    all("th", table).forEach((head, column) => {
      const button = element("button", head.textContent, { type: "button", class: "sort" });
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, column, head));
    });
    if (table.tBodies[0].rows.length < 8) return;
    const tools = element("div", "", { class: "filter" }), label = element("label", "Filter ");
    const input = element("input", "", { type: "search" }), told = element("span", "", { role: "status" });
    input.addEventListener("input", () => filter(table, input.value, told));
    label.append(input);
    tools.append(label, told, element("span", "choose a case to see its samples", { class: "quiet" }));
    table.closest(".scroll").before(tools);
  }
  all("table.sortable").forEach(equip);

  // ---- Samples of a case, in run order and as a density

  const dialog = byId("samples-of"), which = byId("samples-which"), chart = byId("samples-chart");
  const samples = () => samples.read ||= JSON.parse(byId("samples").textContent);
  const UNITS = [[1, "s"], [1e3, "ms"], [1e6, "us"], [1e9, "ns"]];

  function decoded([file, name, unit, count, every, low, high, median, from, to, packed]) {
    const bytes = Uint8Array.from(atob(packed), (one) => one.charCodeAt(0)), values = [];
    for (let at = 0; at < bytes.length; at += 2)
      values.push(low + (high - low) * (bytes[at] + 256 * bytes[at + 1]) / 65535);
    return { file, name, unit, count, every, median, from, to, values };
  }

  // A colour for each side where several are shown, else for each file.
  function hues(found) {
    const sides = found.map((one) => samples().files[one.file].side), several = new Set(sides).size > 1;
    return found.map((_, place) => samples().colours[(several ? sides[place] : place) % samples().colours.length]);
  }

  // What one file's samples look like: dots in the order taken, and beside them how dense they are.
  function tracesOf(one, place, hue, factor, unit) {
    const name = escaped(samples().files[one.file].label);
    const y = one.values.map((sampled) => sampled * factor), many = y.length > 300;
    const x = y.map((_, at) => 1 + at * one.every);
    const hovertext = y.map((sampled, at) =>
      `sample ${x[at]} of ${one.count}: ${sampled.toPrecision(5)} ${escaped(unit)}<br>${name}`);
    const symbol = ["circle", "square", "diamond", "triangle-up"][place % 4];
    return [
      { type: "scatter", mode: "markers", name, x, y, hovertext, hoverinfo: "text",
        marker: { color: hue, size: many ? 3 : 5, symbol } },
      { type: "violin", name, showlegend: false, y, x0: String(place + 1), xaxis: "x2", hoverinfo: "skip",
        line: { color: hue, width: 1 }, points: many ? false : "all", jitter: .6, pointpos: 0,
        marker: { size: 3, color: hue }, box: { visible: true } },
    ];
  }

  // The median as a line, and of a single file its interval as a band.
  function shapesOf(one, hue, factor, alone) {
    const found = [], across = { xref: "x domain", x0: 0, x1: 1 };
    if (one.median !== null)
      found.push({ type: "line", ...across, y0: one.median * factor, y1: one.median * factor,
                   line: { color: hue, width: 1.5, dash: "dash" } });
    if (one.from !== null && alone)
      found.push({ type: "rect", layer: "below", ...across, y0: one.from * factor, y1: one.to * factor,
                   line: { width: 0 }, fillcolor: hue, opacity: .2 });
    return found;
  }

  function spread(found) {
    const unit = found[0].unit, middle = Math.abs(found[0].median || found[0].values[0] || 1);
    const [factor, shownUnit] = unit === "s" ? UNITS.find(([by]) => middle * by >= 1) || UNITS[3] : [1, unit];
    const marks = [...new Set(found.flatMap((one) => samples().files[one.file].marks))];
    const axis = { automargin: true, zeroline: false, showline: true, ticks: "outside" };
    const annotations = marks.map((mark, place) => ({ text: escaped(mark), xref: "paper", yref: "paper", x: .5,
                                                      y: .6 - .2 * place, showarrow: false,
                                                      font: { size: 24, color: "rgba(200,40,40,0.45)" } }));
    const colours = hues(found);
    const title = escaped(`${found[0].name}, ${shownUnit} (does not begin at zero)`);
    const layout = { height: 380, hovermode: "closest", showlegend: false, annotations,
                     shapes: found.flatMap((one, place) => shapesOf(one, colours[place], factor, found.length === 1)),
                     margin: { l: 60, r: 12, t: 16, b: 48 }, yaxis: { ...axis, title: { text: title, standoff: 12 } },
                     xaxis: { ...axis, domain: [0, .7], title: { text: "sample, in the order taken" } },
                     xaxis2: { ...axis, domain: [.74, 1], showticklabels: false, ticks: "",
                               title: { text: "density" } } };
    const data = found.flatMap((one, place) => tracesOf(one, place, colours[place], factor, shownUnit));
    return { figure: { data, layout }, marks };
  }

  // What stands below the picture.
  function described(found) {
    if (!found.length) return samples().left_out || "This case has no samples.";
    const every = Math.max(...found.map((one) => one.every));
    const band = found.length === 1 ? "; shaded: its 95 % interval" : "";
    const thinned = every > 1 ? `, of which one in ${every} is shown` : "";
    return `Dashed: median${band}. ${found.map((one) => one.count).join(", ")} samples${thinned}.`;
  }

  async function showSamples(number, name) {
    const key = samples().keys[number], measured = (samples().cases[number] || []).map(decoded);
    which.dataset.case = number;
    const names = [...new Set(measured.map((one) => one.name))];
    which.replaceChildren(...names.map((one) => element("option", one, { value: one })));
    which.value = names.includes(name) ? name : names[0] || "";
    which.parentElement.hidden = names.length < 2;
    byId("samples-title").textContent = key;
    if (!dialog.open) dialog.showModal();
    const found = measured.filter((one) => one.name === which.value);
    byId("samples-note").textContent = described(found);
    byId("samples-mark").textContent = "";
    document.querySelector('.legend[data-of="samples-chart"]').replaceChildren();
    chart.hidden = !found.length;
    if (!found.length) return;
    const { figure, marks } = spread(found);
    byId("samples-mark").textContent = marks.join(", ");
    chart.setAttribute("aria-label", `Samples of ${key}: ${which.value}, in the order taken and as a density`);
    const fit = fitted(figure, chart.clientWidth);
    await Plotly.react(chart, fit.data, themed(fit.layout), settings);
    chart.dataset.state = "drawn";
    if (found.length > 1) listTraces(chart, fit.data);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("button.case");
    if (button) showSamples(button.dataset.case);
  });
  which.addEventListener("change", () => showSamples(which.dataset.case, which.value));
  all(".close", dialog).forEach((button) => button.addEventListener("click", () => dialog.close()));

  window.drawAllCharts = () => Promise.all(places().filter(shown).map(draw));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  matchMedia("print").addEventListener("change", recolour);
  addEventListener("beforeprint", window.drawAllCharts);
})();
