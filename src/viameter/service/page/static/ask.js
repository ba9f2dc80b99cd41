// Makes forms of questions shorter, and pages of running questions patient; everything works without it too.
"use strict";

const form = document.getElementById("ask-form");
if (form) {
  const published = new Map(
    [...document.querySelectorAll("#ask-columns [data-column]")].map((one) => [one.dataset.column, one.dataset]),
  );
  const field = (name) => form.elements.namedItem(name);
  const chosen = (name) => new FormData(form).get(name) || "";
  const withoutValue = ["is_null", "not_null"];
  const counts = ["count", "count_units"];
  const widths = [...counts, "sum"];

  // Rows: those in use, and one more on demand. A row with something wrong in it is in use.
  const rows = (kind) => [...form.querySelectorAll(`[data-rows="${kind}"]`)];
  const inUse = (row) => row.querySelector(".has-error") || row.querySelector("select").value !== "";
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

  // Only fields that apply.
  const only = (attribute, value) => {
    for (const part of form.querySelectorAll(`[data-${attribute}]`)) {
      part.hidden = !part.getAttribute(`data-${attribute}`).split(" ").includes(value);
    }
  };
  const show = (name, shown) => {
    const part = form.querySelector(`[data-field="${name}"]`);
    if (part) part.hidden = !shown;
  };
  const arrange = () => {
    const grouping = chosen("grouping");
    only("for-grouping", grouping);
    only("for-asked", chosen("asked"));
    only("for-costing", chosen("costing"));
    form.querySelector('[data-group="1"]').hidden = grouping === "none";
    form.querySelector('[data-group="2"]').hidden = grouping === "none" || grouping === "intervals";
    for (const part of form.querySelectorAll("[data-values-of]")) {
      const used = field(`${part.dataset.valuesOf}-column`).value !== "" || part.querySelector(".has-error");
      part.hidden = grouping !== "listed" || !used;
    }
    show("delta", grouping === "found");
    rows("condition").forEach((_, place) => {
      const row = `condition-${place + 1}`;
      const column = field(`${row}-column`).value !== "";
      show(`${row}-comparison`, column);
      show(`${row}-value`, column && !withoutValue.includes(field(`${row}-comparison`).value));
    });
    rows("aggregate").forEach((_, place) => {
      const row = `aggregate-${place + 1}`;
      const what = field(`${row}-what`).value;
      for (const part of ["column", "lower", "upper"]) show(`${row}-${part}`, what && !counts.includes(what));
      show(`${row}-q`, what === "quantile");
      show(`${row}-within`, widths.includes(what) && chosen("costing") === "within");
      show(`${row}-name`, what);
    });
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
  for (const name of ["group-1-values", "group-2-values"]) {
    const known = published.get(field(name.replace("values", "column")).value);
    if (known && known.listed === field(name).value) filled.set(name, known.listed);
  }
  const prefill = (name) => {
    const found = /^(group|aggregate)-(\d)-(column|what)$/.exec(name);
    if (!found) return;
    const known = published.get(field(`${found[1]}-${found[2]}-column`).value);
    if (found[1] === "group") {
      fill(`group-${found[2]}-values`, known ? known.listed : "");
    } else {
      fill(`aggregate-${found[2]}-lower`, known ? known.lower : "");
      fill(`aggregate-${found[2]}-upper`, known ? known.upper : "");
    }
  };

  const outdate = () => {
    const preview = document.querySelector("[data-preview]");
    if (!preview || preview.classList.contains("stale")) return;
    preview.classList.add("stale");
    preview.querySelector(".outdated").hidden = false;
  };
  form.addEventListener("input", outdate);
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
