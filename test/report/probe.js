// Put into a copy of the report before anything else in it: collects errors, uses the page as a reader does, measures it,
// and writes what it found into <html data-probe>.
"use strict";
const probe = { errors: [], empty: [], overlaps: [], outside: [], unsorted: [] };
addEventListener("error", (event) => probe.errors.push(event.message || "a resource failed"), true);
addEventListener("unhandledrejection", (event) => probe.errors.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => probe.errors.push("blocked: " + event.blockedURI));

function sortTables() {
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      for (const direction of ["descending", "ascending"]) {
        heading.querySelector("button").click();
        if (heading.getAttribute("aria-sort") !== direction) probe.unsorted.push(heading.textContent + ": no " + direction);
      }
      const cells = [...table.tBodies[0].rows].map((row) => row.cells[column].dataset.v);
      const numbers = cells.map(Number);
      const rising = numbers.every((value, i) => i === 0 || numbers[i - 1] <= value);
      if (cells.every((value) => value !== undefined) && !rising) probe.unsorted.push(heading.textContent);
    });
  }
}

function measureDrawings() {
  for (const svg of document.querySelectorAll("svg")) {
    if (svg.parentElement.closest("svg")) continue;
    const name = svg.querySelector("title").textContent;
    const box = svg.getBoundingClientRect();
    if (!(box.width > 20 && box.height > 10)) probe.empty.push(name);
    const texts = [...svg.querySelectorAll("text")].filter((text) => getComputedStyle(text).display !== "none");
    const boxes = texts.map((text) => text.getBoundingClientRect());
    boxes.forEach((a, i) => {
      if (a.left < box.left - 12 || a.right > box.right + 12 || a.top < box.top - 2 || a.bottom > box.bottom + 2)
        probe.outside.push(name + ": " + texts[i].textContent);
      boxes.slice(i + 1).forEach((b, j) => {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 3) probe.overlaps.push(name + ": " + texts[i].textContent + " | " + texts[i + 1 + j].textContent);
      });
    });
  }
}

addEventListener("load", () => {
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  probe.width = innerWidth;
  probe.needs = document.documentElement.scrollWidth;
  probe.hacked = window.hacked || 0;
  measureDrawings();
  probe.drawings = {};
  for (const section of document.querySelectorAll("section"))
    probe.drawings[section.id] = section.querySelectorAll("svg").length;
  sortTables();
  document.documentElement.dataset.probe = JSON.stringify(probe);
});
