// The state of the filter stands in the address (#paper=…&verdict=…&words=…), so that it can be linked and kept.
const rows = [...document.querySelectorAll("#cells tr")];
const fields = Object.fromEntries(["words", "paper", "element", "verdict"].map((id) => [id, document.getElementById(id)]));
const form = document.querySelector("form.filter");
function places() {
  const paper = fields.paper.value;
  for (const option of fields.element.options) option.hidden = Boolean(paper && option.dataset.paper && option.dataset.paper !== paper);
}
function filter() {
  places();
  const asked = fields.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let n = 0;
  for (const row of rows) {
    const shown = ["paper", "element", "verdict"].every((id) => !fields[id].value || row.dataset[id] === fields[id].value)
      && asked.every((word) => row.dataset.search.includes(word));
    row.hidden = !shown;
    n += shown;
  }
  document.getElementById("count").textContent = n === 1 ? "1 number" : `${n.toLocaleString("en")} numbers`;
}
function remember() {
  const state = new URLSearchParams(Object.entries(fields).map(([id, field]) => [id, field.value]).filter(([, value]) => value));
  history.replaceState(null, "", `#${state}`);
}
function recall() {
  const state = new URLSearchParams(location.hash.slice(1));
  for (const [id, field] of Object.entries(fields)) field.value = state.get(id) || "";
  filter();
  if (state.size) document.getElementById("numbers").scrollIntoView();
}
form.addEventListener("input", () => { filter(); remember(); });
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(() => { filter(); remember(); }));
addEventListener("hashchange", recall);
for (const button of document.querySelectorAll(".bar button")) button.addEventListener("click", () => {
  for (const [id, field] of Object.entries(fields)) field.value = button.dataset[id] || "";
  filter();
  remember();
  document.getElementById("numbers").scrollIntoView();
});
recall();
