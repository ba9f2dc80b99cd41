// Makes the page nicer; nothing on it needs this file.
"use strict";

// Buttons that copy the text of an element: <button hidden data-copy="ID">. They show up where copying works.
for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = "Copied";
    } catch {
      window.getSelection().selectAllChildren(source);
      button.textContent = "Selected: copy it by hand";
    }
    setTimeout(() => { button.textContent = before; }, 3000);
  });
}

// A form that is sent is not sent twice by an impatient click.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// Open and close all parts of a tree: <button hidden data-toggles="ID">.
for (const button of document.querySelectorAll("button[data-toggles]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const parts = [...document.getElementById(button.dataset.toggles).querySelectorAll("details")];
    const open = parts.some((part) => !part.open);
    for (const part of parts) part.open = open;
    button.textContent = open ? "Close all" : "Open all";
  });
}

// Tables that are wider than their place say so.
const places = new ResizeObserver((changed) => {
  for (const { target } of changed) target.toggleAttribute("data-goes-on", target.scrollWidth > target.clientWidth + 1);
});
for (const place of document.querySelectorAll(".scroll")) places.observe(place);

// What is wrong is where the reader starts.
const wrong = document.querySelector("[role=alert]");
if (wrong) { wrong.tabIndex = -1; wrong.focus({ preventScroll: false }); }
