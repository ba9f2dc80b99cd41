// What readers of a page would stumble over, as a list of texts: run in the page, after a Tab was pressed.
() => {
  const found = [];
  const shown = (one) => one.checkVisibility({ visibilityProperty: true });
  const named = (one) => `<${one.tagName.toLowerCase()}${one.id ? ` id=${one.id}` : ""}> ${one.textContent.trim().slice(0, 40)}`;

  // Structure.
  const headings = [...document.querySelectorAll("h1")];
  if (headings.length !== 1) found.push(`${headings.length} headings of level 1`);
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of new Set(ids)) if (ids.filter((one) => one === id).length > 1) found.push(`id=${id} twice`);
  if (!document.title.trim()) found.push("no title");

  // Names.
  for (const one of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    const label = [...one.labels].map((each) => each.textContent.trim()).join(" ") || one.getAttribute("aria-label");
    if (!label) found.push(`no label: ${named(one)}`);
  }
  for (const one of document.querySelectorAll("img, svg")) {
    const by = (one.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id)?.textContent);
    const name = one.getAttribute("alt") || one.getAttribute("aria-label") || by.join("");
    if (one.getAttribute("aria-hidden") !== "true" && !name) found.push(`no name: ${named(one)}`);
  }
  for (const one of document.querySelectorAll("a[href], button, summary")) {
    if (!one.textContent.trim() && !one.getAttribute("aria-label")) found.push(`no text: ${named(one)}`);
  }

  // What has the focus looks like it.
  const before = document.activeElement;
  for (const one of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")) {
    if (!shown(one)) continue;
    one.focus();
    const style = getComputedStyle(one);
    if (document.activeElement !== one) found.push(`takes no focus: ${named(one)}`);
    else if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2) found.push(`focus not seen: ${named(one)}`);
  }
  before.focus();

  // Nothing makes the whole page scroll sideways.
  const wide = document.documentElement;
  if (wide.scrollWidth > wide.clientWidth) found.push(`${wide.scrollWidth} wide in ${wide.clientWidth}`);

  // Contrast, as WCAG AA has it.
  const numbers = (color) => color.match(/[\d.]+/g).map(Number);
  const over = ([r, g, b, a = 1], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a)];
  const ground = (one) => {
    if (!one) return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255];
    const own = numbers(getComputedStyle(one).backgroundColor);
    return own[3] === 0 ? ground(one.parentElement) : over(own, own.length > 3 ? ground(one.parentElement) : own);
  };
  const luminance = (color) => {
    const [r, g, b] = color.map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const one of document.querySelectorAll("body *")) {
    const text = [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (!text || !shown(one) || ["title", "desc", "OPTION", "NOSCRIPT"].includes(one.tagName)) continue;
    const style = getComputedStyle(one);
    const below = ground(one);
    const ink = over(numbers(one.closest("svg") ? style.fill : style.color), below);
    const [dark, light] = [luminance(ink), luminance(below)].sort((a, b) => a - b);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < (large ? 3 : 4.5)) found.push(`contrast ${contrast.toFixed(2)}: ${named(one)}`);
  }
  return found;
}
