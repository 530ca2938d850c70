const button = document.getElementById("code");
if (button) button.addEventListener("click", () => {
  const all = [...document.querySelectorAll("details.code")];
  const open = all.some((d) => !d.open);
  all.forEach((d) => { d.open = open; });
  button.textContent = open ? "Hide all code" : "Show all code";
});
addEventListener("beforeprint", () => document.querySelectorAll("details.code").forEach((d) => { d.open = false; }));
