// What views gain where scripts run: tables that sort by a heading and filter by a text. Everything is there without it.
"use strict";
(() => {
  const units = { ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, "%": 1 };
  const value = (cell) => {
    const text = cell ? cell.textContent.trim() : "";
    const found = /^<?\s*(-?[\d,]*\.?\d+)\s*([a-zA-Zµ%]+)?/.exec(text);
    if (!found || /^\d{4}-\d\d-\d\d/.test(text)) return text === "-" ? null : text;
    return Number(found[1].replaceAll(",", "")) * (units[found[2]] ?? 1);
  };
  const compare = (a, b) => {
    // What is not known stands at the end, whichever way.
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  };
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    const body = table.tBodies[0];
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = heading.textContent;
      heading.replaceChildren(button);
      button.addEventListener("click", () => {
        const falls = heading.getAttribute("aria-sort") ? heading.getAttribute("aria-sort") === "ascending" : heading.classList.contains("figure");
        headings.forEach((each) => each.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", falls ? "descending" : "ascending");
        const rows = [...body.rows].map((row) => ({ row, key: value(row.cells[at]) }));
        const known = rows.filter(({ key }) => key !== null).sort((a, b) => (falls ? compare(b.key, a.key) : compare(a.key, b.key)));
        body.append(...[...known, ...rows.filter(({ key }) => key === null)].map(({ row }) => row));
      });
    });
    if (body.rows.length < 8) continue;
    const label = document.createElement("label");
    label.className = "filter";
    const input = document.createElement("input");
    input.type = "search";
    input.placeholder = `filter ${body.rows.length} rows`;
    input.setAttribute("aria-label", `Filter ${table.caption ? table.caption.textContent : "the table"}`);
    label.append(input);
    table.closest(".scroll").before(label);
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase();
      for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  }
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || (target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))) return;
    const input = document.querySelector(".filter input");
    if (!input) return;
    event.preventDefault();
    input.focus();
  });
})();
