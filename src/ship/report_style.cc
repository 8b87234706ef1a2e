#include "ship/report_style.h"

namespace kw {

// Colours: one blue for us, grey for the vendor, red for losses; proposers take the Okabe-Ito palette, which
// readers with any colour vision can tell apart.
const char* get_report_style() {
  return R"css(
:root { color-scheme: light dark;
  --back: #fff; --ink: #1b1f24; --soft: #5b6570; --line: #cfd6dc; --grid: #e9edf0; --panel: #f6f8f9;
  --ours: #0b6aa2; --vendor: #7d8790; --loss: #b3261e; --one: #59636d;
  --p0: #b77a00; --p1: #0072b2; --p2: #7a7a7a; --p3: #b0568a; --p4: #00845f; --p5: #c05000; --p6: #4b9fd0; --p7: #6a5acd;
  --s0: #bcd9ea; --s1: #d3e6f1; --s2: #e2eef5; --s3: #edf4f8; --s4: #f3f7f9; }
@media (prefers-color-scheme: dark) { :root {
  --back: #14181c; --ink: #e4e8eb; --soft: #9aa5af; --line: #3a434b; --grid: #262d33; --panel: #1b2126;
  --ours: #5bb3e6; --vendor: #98a3ad; --loss: #f2857c; --one: #8b96a0;
  --p0: #e6a938; --p1: #56b4e9; --p2: #a5a5a5; --p3: #dd8fb9; --p4: #2fc297; --p5: #f08a4b; --p6: #8ccbef; --p7: #a79cf0;
  --s0: #24506b; --s1: #213f53; --s2: #1f3442; --s3: #1d2b36; --s4: #1c262e; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 28px clamp(14px, 3vw, 36px) 60px; max-width: 1240px; background: var(--back);
  color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: break-word; }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 4px; letter-spacing: -.01em; }
h2 { font-size: 19px; margin: 48px 0 6px; padding-top: 14px; border-top: 1px solid var(--line); }
h3 { font-size: 15px; margin: 22px 0 6px; }
p { max-width: 78ch; margin: 6px 0 12px; }
.soft, .note, figcaption, nav { color: var(--soft); }
.note, figcaption, nav { font-size: 13px; }
.result { font-size: 19px; line-height: 1.45; max-width: 62ch; margin: 18px 0 10px; }
.result b { white-space: nowrap; font-variant-numeric: tabular-nums; }
nav a { color: var(--ours); text-decoration: none; margin-right: 14px; white-space: nowrap; }
nav a:hover { text-decoration: underline; }
a:focus-visible, summary:focus-visible, th button:focus-visible, .scroll:focus-visible { outline: 2px solid var(--ours); }
code { font: 12px/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre { background: var(--panel); padding: 10px 12px; overflow-x: auto; margin: 6px 0 12px; }
.scroll { overflow-x: auto; margin: 0 0 18px; }
.caption { margin: 12px 0 2px; max-width: none; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--grid); }
thead th { vertical-align: bottom; border-bottom: 1px solid var(--line); font-weight: 600; white-space: nowrap; }
th small { display: block; font-weight: 400; color: var(--soft); min-height: 1.2em; }
th button { all: unset; cursor: pointer; }
th button:hover { color: var(--ours); }
th[aria-sort=ascending] button::after { content: " ↑"; }
th[aria-sort=descending] button::after { content: " ↓"; }
.n { text-align: right; white-space: nowrap; }
td small { color: var(--soft); }
td.label { white-space: nowrap; position: sticky; left: 0; background: var(--back); }
td.nowrap { white-space: nowrap; }
td.why { min-width: 22ch; max-width: 44ch; }
td.key-text { min-width: 26ch; max-width: 52ch; overflow-wrap: anywhere; }
.facts th { font-weight: 400; color: var(--soft); white-space: nowrap; }
.facts { margin: 8px 0 18px; }
figure { margin: 10px 0 18px; }
figcaption { margin-top: 6px; }
svg { display: block; overflow: visible; }
svg.free { overflow: visible; }
.plot { max-width: 860px; }
text { paint-order: stroke; stroke: var(--back); stroke-width: 3px; font-size: 11px; fill: var(--soft); font-variant-numeric: tabular-nums; }
text.tick, text.title { fill: var(--soft); }
text.roof-label { fill: var(--ink); font-weight: 600; }
text.name { fill: var(--ink); }
line { stroke-width: 1; }
path { vector-effect: non-scaling-stroke; fill: none; }
line.grid { stroke: var(--grid); } line.axis { stroke: var(--line); }
.one { stroke: var(--one); stroke-dasharray: 3 3; }
.roof { stroke: var(--ink); stroke-width: 1.5; }
.mark { stroke-width: 2; }
.mark.ours { stroke: var(--ours); fill: var(--ours); } .mark.loss { stroke: var(--loss); fill: var(--loss); }
.mark.vendor { stroke: var(--vendor); fill: var(--vendor); stroke-width: 1; }
.mark.tried { stroke: var(--loss); fill: var(--back); stroke-width: 1.5; }
.joint { stroke-width: 1.5; opacity: .45; } .joint.ours { stroke: var(--ours); } .joint.loss { stroke: var(--loss); }
.bar { fill: var(--loss); opacity: .75; }
.band { fill: var(--ours); opacity: .16; stroke: none; } .middle { stroke: var(--ours); stroke-width: 2; }
.step { stroke-width: 1.8; } .dot { stroke: var(--back); stroke-width: 0; }
.step.p0 { stroke: var(--p0); } .step.p1 { stroke: var(--p1); } .step.p2 { stroke: var(--p2); }
.step.p3 { stroke: var(--p3); } .step.p4 { stroke: var(--p4); } .step.p5 { stroke: var(--p5); }
.step.p6 { stroke: var(--p6); } .step.p7 { stroke: var(--p7); }
.dot.p0 { fill: var(--p0); } .dot.p1 { fill: var(--p1); } .dot.p2 { fill: var(--p2); } .dot.p3 { fill: var(--p3); }
.dot.p4 { fill: var(--p4); } .dot.p5 { fill: var(--p5); } .dot.p6 { fill: var(--p6); } .dot.p7 { fill: var(--p7); }
.key.p0 { color: var(--p0); } .key.p1 { color: var(--p1); } .key.p2 { color: var(--p2); } .key.p3 { color: var(--p3); }
.key.p4 { color: var(--p4); } .key.p5 { color: var(--p5); } .key.p6 { color: var(--p6); } .key.p7 { color: var(--p7); }
.key.ours { color: var(--ours); } .key.vendor { color: var(--vendor); } .key.tried { color: var(--loss); }
.rows { font-size: 13px; font-variant-numeric: tabular-nums; }
.row { display: grid; grid-template-columns: 27ch minmax(0, 1fr) 8ch; column-gap: 12px; align-items: center; }
.row .label { text-align: right; line-height: 20px; overflow-wrap: anywhere; }
.row .value { white-space: nowrap; }
.row.axis { color: var(--soft); position: sticky; top: 0; background: var(--back); z-index: 1;
  border-bottom: 1px solid var(--line); }
.stacks .row { grid-template-columns: 27ch minmax(0, 1fr); margin-bottom: 3px; }
.stack { display: flex; gap: 1px; }
.stack span { flex: 1 1 0; min-width: 0; padding: 0 6px; line-height: 22px; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; }
.stack small { color: var(--soft); }
.s0 { background: var(--s0); } .s1 { background: var(--s1); } .s2 { background: var(--s2); } .s3 { background: var(--s3); }
.s4 { background: var(--s4); }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(172px, 1fr)); gap: 16px 22px; margin: 12px 0; }
.panel { display: flex; flex-direction: column; justify-content: space-between; font-size: 12px; min-width: 0;
  font-variant-numeric: tabular-nums; }
.panel > div { display: flex; justify-content: space-between; gap: 6px; }
.panel > div span { overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--ours); font-size: 13px; }
@media (max-width: 640px) {
  .wide { display: none; }
  .result { font-size: 17px; }
  .row { grid-template-columns: minmax(0, 1fr) auto; column-gap: 8px; row-gap: 0; margin-top: 4px; }
  .row .label { text-align: left; }
  .row svg, .stack { grid-row: 2; grid-column: 1 / -1; }
  .stacks .row { grid-template-columns: minmax(0, 1fr); margin-bottom: 8px; }
  .panels { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  td.label { position: static; }
  td.why, td.key-text { min-width: 46ch; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 11px; }
  nav { display: none; }
  .scroll { overflow: visible; }
  .row, .panel, tr { break-inside: avoid; }
  .row.axis { position: static; }
  td.label { position: static; }
}
)css";
}

// A click on a heading sorts by its column: numbers by value, else text; absent values come last when
// descending. Folded parts open for print.
const char* get_report_script() {
  return R"js(
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") !== "descending";
      const key = (row) => {
        const cell = row.cells[column];
        return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
      };
      const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
      const rows = [...table.tBodies[0].rows].sort((a, b) => (down ? -1 : 1) * compare(key(a), key(b)));
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      table.tBodies[0].append(...rows);
    });
  });
}
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
)js";
}

}  // namespace kw
