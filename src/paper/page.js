// Makes long tables sortable by the heads of their columns, and filters their rows. All is there to read without it.
"use strict";
{
  const UNITS = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

  function element(name, words, attributes) {
    const made = document.createElement(name);
    made.textContent = words;
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    return made;
  }

  // The number that a cell says, in its base unit; NaN where it says none.
  function number(cell) {
    const [, digits, unit] = /^[*+]?(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(\S*)/.exec(cell.textContent) || [];
    return Number(digits) * (UNITS[unit] || 1);
  }

  // Cells without a number, and rows without the cell, stand last either way.
  function sort(table, column, head) {
    const down = head.getAttribute("aria-sort") === "ascending", sign = down ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = [...table.tBodies[0].rows].map((row) => {
      const cell = row.cells[column], text = cell ? cell.textContent : "";
      return { row, text, value: text ? number(cell) : NaN };
    });
    keyed.sort((a, b) => {
      if (isNaN(a.value) !== isNaN(b.value)) return isNaN(a.value) ? 1 : -1;
      if (!isNaN(a.value)) return sign * (a.value - b.value);
      return !a.text || !b.text ? !a.text - !b.text : sign * a.text.localeCompare(b.text, "en", { numeric: true });
    });
    table.tBodies[0].append(...keyed.map((one) => one.row));
  }

  function filter(table, text, told) {
    const wanted = text.toLowerCase().split(/\s+/), rows = [...table.tBodies[0].rows];
    for (const row of rows) {
      const has = row.textContent.toLowerCase();
      row.hidden = !wanted.every((word) => has.includes(word));
    }
    told.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  }

  document.querySelectorAll(".long table").forEach((table) => {
    if (!table.tHead) return;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = element("button", head.textContent, { type: "button" });
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, column, head));
    });
    const tools = element("div", "", { class: "filter" }), label = element("label", "Filter ", {});
    const input = element("input", "", { type: "search" }), told = element("span", "", { role: "status" });
    input.addEventListener("input", () => filter(table, input.value, told));
    label.append(input);
    tools.append(label, told);
    table.closest(".scroll").before(tools);
  });
}
