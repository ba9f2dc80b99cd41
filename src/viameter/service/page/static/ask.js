// Makes forms of questions shorter, and pages of running questions patient; everything works without it too.
"use strict";

const form = document.getElementById("ask-form");
if (form) {
  const published = new Map(
    [...document.querySelectorAll("#ask-columns [data-column]")].map((one) => [one.dataset.column, one.dataset]),
  );
  const field = (name) => form.elements.namedItem(name);

  // Rows: those in use, and one more on demand. A row with something wrong in it is in use.
  const rows = (kind) => [...form.querySelectorAll(`[data-rows="${kind}"]`)];
  const hasError = (part) => part.matches(".has-error") || part.querySelector(".has-error") !== null;
  const inUse = (row) => hasError(row) || row.querySelector("select").value !== "";
  for (const kind of ["condition", "aggregate"]) {
    const all = rows(kind);
    const button = form.querySelector(`[data-add="${kind}"]`);
    all.forEach((row, place) => { row.hidden = !inUse(row) && (kind === "condition" || place > 0); });
    button.hidden = all.every((row) => !row.hidden);
    button.addEventListener("click", () => {
      const next = all.find((row) => row.hidden);
      if (next) { next.hidden = false; next.querySelector("select").focus(); }
      button.hidden = all.every((row) => !row.hidden);
    });
  }

  // Only what applies: data-if="grouping=listed;group-1-column=*". What has something wrong in it is as good as filled in.
  const arrange = () => {
    const held = new FormData(form);
    for (const part of form.querySelectorAll("[data-if]")) {
      part.hidden = !part.dataset.if.split(";").every((rule) => {
        const [name, values] = rule.split("=");
        const value = held.get(name) || "";
        return values === "*" ? value !== "" || hasError(part) : values.split(" ").includes(value);
      });
    }
  };

  // What the custodian published of a column is filled in where one chooses it; what one typed oneself stays.
  const filled = new Map();
  const fill = (name, text) => {
    const target = field(name);
    if (target.value.trim() === "" || target.value === filled.get(name)) {
      target.value = text;
      filled.set(name, text);
    }
  };
  const fillable = [...form.querySelectorAll("[data-public]")].map((part) => {
    const [column, what] = part.dataset.public.split(" ");
    return { name: part.dataset.field, row: column.replace(/-column.*/, "-"), column, what };
  });
  const known = ({ column, what }) => (published.get(field(column).value) || {})[what] || "";
  for (const one of fillable) if (known(one) && known(one) === field(one.name).value) filled.set(one.name, known(one));
  const prefill = (changed) => {
    for (const one of fillable) if (changed.startsWith(one.row)) fill(one.name, known(one));
  };

  const outdate = () => {
    const preview = document.querySelector("[data-preview]");
    if (!preview || preview.classList.contains("stale")) return;
    preview.classList.add("stale");
    preview.querySelector(".outdated").hidden = false;
  };
  for (const one of [form, document.getElementById("sql-form")]) one.addEventListener("input", outdate);
  form.addEventListener("change", (event) => {
    outdate();
    // What was typed changes no other field; and nothing may move between pressing a button and letting it go.
    if (event.target.matches("input[type=text], textarea")) return;
    prefill(event.target.name || "");
    arrange();
  });
  arrange();
}

// A question that runs: look again, a little later each time, until it does not.
const running = document.querySelector("[data-poll]");
if (running) {
  let wait = 1000;
  const look = async () => {
    try {
      const reply = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      const state = page.querySelector("[data-state]");
      if (reply.status < 429 && !(state && state.dataset.state === "running")) {
        location.reload();
        return;
      }
      for (const part of ["[data-doing]", "[data-elapsed]"]) {
        const now = page.querySelector(part);
        if (now) running.querySelector(part).textContent = now.textContent;
      }
    } catch {
      // The service may be away for a moment.
    }
    wait = Math.min(wait * 1.3, 5000);
    setTimeout(look, wait);
  };
  setTimeout(look, wait);
}

// What takes long says so, and is not sent twice.
for (const slow of document.querySelectorAll("form[data-slow]")) {
  slow.addEventListener("submit", () => {
    slow.querySelector("[data-slow-says]").textContent = slow.dataset.slow;
    for (const button of slow.querySelectorAll("button[type=submit]")) setTimeout(() => { button.disabled = true; }, 0);
  });
}

// A file is read into a field, so that no file has to be sent.
for (const file of document.querySelectorAll("input[type=file][data-into]")) {
  file.closest("[data-file-field]").hidden = false;
  file.addEventListener("change", async () => {
    if (file.files.length) document.getElementById(file.dataset.into).value = await file.files[0].text();
  });
}
