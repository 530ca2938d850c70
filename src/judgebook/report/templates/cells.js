// The state of the filter stands in the address (#paper=…&verdict=…&words=…&page=…), so that it can be linked and kept.
// Every string is in the data once; a number is a list of places of strings, in the order of `keys`.
const { size, keys, strings, numbers, titles, verdicts } = JSON.parse(document.getElementById("data").textContent);
const rows = numbers.map((row) => Object.fromEntries(keys.map((key, i) => [key, strings[row[i]]])));
const byId = (id) => document.getElementById(id);
const fields = Object.fromEntries(["words", "paper", "element", "verdict"].map((id) => [id, byId(id)]));
const form = document.querySelector("form.filter");
let page = 1;
function searched(row) {
  row.search ??= [titles[row.paper], row.element, row.place, row.printed, row.note, row.source, verdicts[row.verdict]].join(" ").toLowerCase();
  return row.search;
}
function node(tag, className, ...children) {
  const made = Object.assign(document.createElement(tag), { className });
  made.append(...children);
  return made;
}
function line(row) {
  const source = row.href ? Object.assign(node("a", "", row.source), { href: row.href }) : row.source;
  const verdict = node("span", `verdict v-${row.verdict}`, verdicts[row.verdict]);
  const cells = [titles[row.paper], row.element, row.place, row.printed, row.here, verdict, row.note, source];
  return node("tr", "", ...cells.map((cell, i) => node("td", i === 3 || i === 4 ? "n" : "", cell)));
}
function places() {
  const paper = fields.paper.value;
  for (const option of fields.element.options) option.hidden = Boolean(paper && option.dataset.paper && option.dataset.paper !== paper);
}
function show() {
  places();
  const asked = fields.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((row) => ["paper", "element", "verdict"].every((id) => !fields[id].value || row[id] === fields[id].value)
    && asked.every((word) => searched(row).includes(word)));
  const last = Math.max(1, Math.ceil(found.length / size));
  page = Math.min(Math.max(1, page), last);
  byId("cells").replaceChildren(...found.slice((page - 1) * size, page * size).map(line));
  byId("count").textContent = found.length === 1 ? "1 number" : `${found.length.toLocaleString("en")} numbers`;
  byId("page").textContent = last > 1 ? `page ${page} of ${last}` : "";
  byId("back").hidden = page === 1;
  byId("on").hidden = page === last;
}
function remember() {
  const state = new URLSearchParams(Object.entries(fields).map(([id, field]) => [id, field.value]).filter(([, value]) => value));
  if (page > 1) state.set("page", page);
  history.replaceState(null, "", `#${state}`);
}
function recall() {
  const state = new URLSearchParams(location.hash.slice(1));
  for (const [id, field] of Object.entries(fields)) field.value = state.get(id) || "";
  page = Number(state.get("page")) || 1;
  if (state.size || rows.length > size) show();
  if (state.size) byId("numbers").scrollIntoView();
}
function turn(to) {
  page = to;
  show();
  remember();
}
form.addEventListener("input", () => turn(1));
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(() => turn(1)));
addEventListener("hashchange", recall);
for (const [id, step] of [["back", -1], ["on", 1]]) byId(id).addEventListener("click", () => {
  turn(page + step);
  byId("cells").closest(".table-box").scrollTop = 0;
});
for (const bar of document.querySelectorAll(".bar button")) bar.addEventListener("click", () => {
  for (const [id, field] of Object.entries(fields)) field.value = bar.dataset[id] || "";
  turn(1);
  byId("numbers").scrollIntoView();
});
recall();
