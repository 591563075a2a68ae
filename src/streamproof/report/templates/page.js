"use strict";
(() => {
  const all = (query, root = document) => [...root.querySelectorAll(query)];
  const byId = (id) => document.getElementById(id);
  const panel = byId("panel"), title = byId("panel-title"), shown = byId("panel-body");
  const cells = all("#cells a.c");
  let opener = null;

  // Histories and lists of checks stand once in the page; they are put where they are read.
  const put = (root) => {
    for (const link of all("a[data-put]", root)) {
      const block = byId(link.dataset.put);
      if (!block) continue;
      const copy = block.cloneNode(true);
      copy.removeAttribute("id");
      const host = link.parentElement;
      link.replaceWith(link.textContent);
      host.after(copy);
    }
  };
  const element = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const scenario = (index, step, first) => {
    const row = byId("s" + index), from = element("div", first ? "" : "from"), line = element("p", "name");
    const name = row.querySelector("summary code").textContent;
    line.append(row.querySelector("summary .tag").cloneNode(true));
    if (name !== step) line.append(element("code", "", name));
    from.append(line);
    if (first && !name.startsWith(step)) from.append(element("p", "same", "Proved by this scenario: the disk is the same at both points."));
    if (row.dataset.v === "pass") from.append(element("p", "", row.querySelector("summary .crash").textContent));
    from.append(row.querySelector(".body").cloneNode(true));
    put(from);
    return from;
  };
  const open = (cell) => {
    all("[aria-current]").forEach((other) => other.removeAttribute("aria-current"));
    cell.setAttribute("aria-current", "true");
    opener = cell;
    title.textContent = cell.dataset.step;
    const indexes = cell.dataset.s.split(" ").filter(Boolean);
    shown.replaceChildren(...indexes.map((index, place) => scenario(index, cell.dataset.step, place === 0)));
    if (!indexes.length) shown.append(element("p", "empty", "Not tried: no scenario of this run proves this crash point."));
    panel.className = "panel " + cell.classList[1];
    panel.hidden = false;
    title.focus({ preventScroll: true });
    panel.scrollIntoView({ block: "nearest" });
  };
  const close = () => {
    if (!panel || panel.hidden) return;
    panel.hidden = true;
    if (opener) { opener.removeAttribute("aria-current"); opener.focus(); }
  };

  // Without script there is nothing to press.
  all(".replay").forEach((line) => {
    const button = element("button", "copy", "Copy");
    button.type = "button";
    line.append(button);
  });

  // One tab stop for the whole grid, at the first cell that is not well; the arrow keys walk.
  const stop = (cell) => {
    cells.forEach((other) => { other.tabIndex = other === cell ? 0 : -1; });
  };
  const start = cells.find((cell) => cell.classList.contains("fail")) || cells.find((cell) => cell.classList.contains("unknown")) || cells[0];
  if (start) stop(start);
  const beside = (cell, key) => {
    const at = cells.indexOf(cell);
    if (key === "Home") return cells[0];
    if (key === "End") return cells[cells.length - 1];
    if (key === "ArrowRight") return cells[at + 1];
    if (key === "ArrowLeft") return cells[at - 1];
    const column = cell.closest("td").cellIndex, up = key === "ArrowUp";
    for (let row = cell.closest("tr"); (row = up ? row.previousElementSibling : row.nextElementSibling);) {
      const found = row.cells[column].querySelector("a.c");
      if (found) return found;
    }
    return undefined;
  };
  if (start) byId("cells").addEventListener("keydown", (event) => {
    const cell = event.target.closest("a.c");
    if (!cell || event.ctrlKey || event.metaKey || event.altKey || !/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key)) return;
    event.preventDefault();
    const next = beside(cell, event.key);
    if (next) { stop(next); next.focus(); }
  });

  const copied = (text) => {
    const area = element("textarea");
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.append(area);
    area.select();
    let done = false;
    try { done = document.execCommand("copy"); } catch { done = false; }
    area.remove();
    return done;
  };
  const copy = async (button) => {
    const code = button.parentElement.querySelector("code"), text = code.textContent;
    let done = copied(text);
    if (!done && navigator.clipboard) {
      try { await navigator.clipboard.writeText(text); done = true; } catch { done = false; }
    }
    if (!done) getSelection().selectAllChildren(code);
    button.focus();
    button.textContent = done ? "Copied" : "Selected";
    byId("said").textContent = done ? "Copied" : "Selected: copy it with the keyboard";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };

  // A story is told where it was asked for, and goes when it is asked for again. From a list of names, or the picture, it is gone to.
  const tell = (link) => {
    const story = byId(link.getAttribute("href").slice(1)), place = link.closest("li, dd, p:not(.made-of)");
    if (!story || !place) return false;
    const there = [...place.children].find((child) => child.dataset.of === story.id);
    if (there) { there.remove(); link.setAttribute("aria-expanded", "false"); return true; }
    const box = element("span", "told-here"), copy = story.cloneNode(true);
    copy.removeAttribute("id");
    box.dataset.of = story.id;
    box.append(copy);
    place.append(box);
    link.setAttribute("aria-expanded", "true");
    return true;
  };

  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (!target) return;
    const link = target.closest("a.story-of");
    if (link && !event.ctrlKey && !event.metaKey && tell(link)) { event.preventDefault(); return; }
    const button = target.closest("button.copy"), cell = target.closest("#cells a.c"), jump = target.closest("a.to");
    if (button) { copy(button); return; }
    if (target.closest("button.close")) { close(); return; }
    if (cell && !event.ctrlKey && !event.metaKey) { event.preventDefault(); stop(cell); open(cell); return; }
    if (jump) {
      const found = cells.find((other) => other.dataset.step === jump.dataset.step);
      if (found) { event.preventDefault(); stop(found); open(found); opener = jump; }
    }
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });

  const reveal = () => {
    const found = /^#[ser]\d+$/.test(location.hash) ? byId(location.hash.slice(1)) : null, row = found && found.closest("details");
    if (!row) return;
    row.hidden = false;
    const fold = row.closest("details.fold");
    if (fold) fold.open = true;
    row.open = true;
    row.scrollIntoView({ block: "start" });
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("toggle", (event) => { if (event.target.open && event.target.classList.contains("s")) put(event.target); }, true);
  reveal();

  // One search for each list or table: what does not fit is hidden.
  all(".search").forEach((search) => {
    const box = search.querySelector("input"), said = search.querySelector("output");
    const rows = all(box.dataset.in + " [data-find]"), texts = rows.map((row) => row.textContent.toLowerCase());
    search.hidden = false;
    box.addEventListener("input", () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      rows.forEach((row, index) => { row.hidden = !words.every((word) => texts[index].includes(word)); });
      said.textContent = words.length ? rows.filter((row) => !row.hidden).length + " of " + rows.length : "";
    });
  });

  const filter = byId("filter"), buttons = all(".choose button"), rows = all("details.s"), folds = all("details.fold");
  if (filter) {
    const texts = rows.map((row) => row.querySelector("summary").textContent.toLowerCase());
    let verdict = "";
    const apply = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      rows.forEach((row, index) => {
        row.hidden = !((!verdict || row.dataset.v === verdict) && words.every((word) => texts[index].includes(word)));
        count += row.hidden ? 0 : 1;
      });
      const asked = words.length > 0 || verdict !== "";
      folds.forEach((fold) => {
        fold.hidden = !fold.querySelector("details.s:not([hidden])");
        if (asked) fold.open = !fold.hidden;
      });
      byId("matches").textContent = asked ? count + " of " + rows.length : "";
    };
    filter.addEventListener("input", apply);
    buttons.forEach((button) => button.addEventListener("click", () => {
      verdict = button.dataset.verdict;
      buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      apply();
    }));
  }
})();
