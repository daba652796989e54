// Draws the charts of the page: each when it comes into view, all of them before printing.
(() => {
  "use strict";
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const settings = { responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "",
                     modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"] };

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

  // What follows the reader's light or dark, as settings by their paths.
  function theme(layout) {
    const found = { "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "font.color": colour("text"),
                    "font.family": "system-ui, 'DejaVu Sans', 'Liberation Sans', Arial, sans-serif",
                    "hoverlabel.bgcolor": colour("panel"), "hoverlabel.bordercolor": colour("quiet"),
                    "hoverlabel.font.color": colour("text"), "modebar.bgcolor": "rgba(0,0,0,0)",
                    "modebar.color": colour("line"), "modebar.activecolor": colour("quiet") };
    for (const axis of Object.keys(layout).filter((name) => /^[xy]axis/.test(name))) {
      found[axis + ".gridcolor"] = colour("grid");
      found[axis + ".linecolor"] = colour("line");
      found[axis + ".tickcolor"] = colour("line");
    }
    return found;
  }

  function themed(layout) {
    const result = JSON.parse(JSON.stringify(layout));
    for (const [path, value] of Object.entries(theme(layout))) {
      const steps = path.split(".");
      const last = steps.pop();
      let at = result;
      for (const step of steps) at = at[step] = at[step] || {};
      at[last] = value;
    }
    return result;
  }

  async function draw(place) {
    if (place.dataset.state) return;
    place.dataset.state = "drawing";
    const figure = figures[place.id];
    try {
      await Plotly.newPlot(place, figure.data, themed(figure.layout), settings);
      place.dataset.state = "drawn";
    } catch (error) {
      place.dataset.state = "failed";
      place.classList.add("failed");
      place.textContent = "This chart could not be drawn: " + error.message;
      console.error(error);
    }
  }

  const places = () => [...document.querySelectorAll(".chart")];
  const shown = (place) => place.offsetWidth > 0;
  const recolour = () => places().filter((place) => place.dataset.state === "drawn")
    .forEach((place) => Plotly.relayout(place, theme(figures[place.id].layout)));

  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      draw(entry.target);
    }
  }, { rootMargin: "600px" });
  for (const place of places()) {
    place.style.height = figures[place.id].layout.height + "px";  // so that nothing moves when it is drawn
    watcher.observe(place);
  }

  window.drawAllCharts = () => Promise.all(places().filter(shown).map(draw));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  matchMedia("print").addEventListener("change", recolour);
  addEventListener("beforeprint", window.drawAllCharts);
})();
