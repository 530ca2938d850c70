const rows = [...document.querySelectorAll("#cells tr")];
const [words, paper, element, verdict] = ["words", "paper", "element", "verdict"].map((id) => document.getElementById(id));
const form = document.querySelector("form.filter");
function filter() {
  const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let n = 0;
  for (const row of rows) {
    const d = row.dataset;
    const shown = (!paper.value || d.paper === paper.value) && (!element.value || d.element === element.value)
      && (!verdict.value || d.verdict === verdict.value) && asked.every((w) => d.search.includes(w));
    row.hidden = !shown;
    n += shown;
  }
  document.getElementById("count").textContent = n === 1 ? "1 number" : `${n.toLocaleString("en")} numbers`;
}
function places() {
  for (const option of element.options) option.hidden = Boolean(paper.value && option.dataset.paper && option.dataset.paper !== paper.value);
  const chosen = element.selectedOptions[0];
  if (chosen && chosen.hidden) element.value = "";
}
form.addEventListener("input", () => { places(); filter(); });
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(() => { places(); filter(); }));
for (const button of document.querySelectorAll(".bar button")) button.addEventListener("click", () => {
  const d = button.dataset;
  words.value = "";
  paper.value = d.paper;
  places();
  element.value = d.element;
  verdict.value = d.verdict || "";
  filter();
  document.getElementById("numbers").scrollIntoView();
});
