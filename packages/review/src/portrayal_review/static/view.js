// Keys for judging, a value beside a slider, a filter for long lists. Every page works without it.
"use strict";

const typing = (target) => target.matches("textarea, select, input:not([type=range]):not([type=checkbox]):not([type=radio])");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.key === "Escape" && typing(event.target)) { event.target.blur(); return; }
  if (typing(event.target)) return;
  const warned = document.querySelector("details.warned:not([open])");
  if (warned && (event.key === "w" || event.key === "W")) { warned.open = true; event.preventDefault(); return; }
  const wanted = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!wanted || (warned && wanted.hasAttribute("data-judges"))) return;
  event.preventDefault();
  if (wanted.matches("select, textarea, input:not([type=checkbox])")) wanted.focus(); else wanted.click();
});

for (const slider of document.querySelectorAll("input[type=range]")) {
  const shown = slider.form.querySelector("output");
  const moved = slider.form.querySelector("input[name=moved]");
  const tell = () => { shown.value = slider.value; moved.value = "1"; };
  for (const kind of ["input", "pointerdown", "keydown"]) slider.addEventListener(kind, (event) => {
    if (kind !== "keydown" || /^(Arrow|Home|End|Page)/.test(event.key)) tell();
  });
}

// A second press while the first is under way would judge the next item unseen.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "1";
  });
}
window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });
