// Filters, sorting and copy buttons. Texts of libraries are only ever read from the page and compared, never made into
// elements; without this script the page shows everything.
"use strict";

(() => {
  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  };
  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  };
  for (const button of document.querySelectorAll("button[data-copy]")) {
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      const done = await copied(source.textContent);
      if (!done) select(source);
      button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
      setTimeout(() => { button.textContent = label; }, 2000);
    });
  }

  const table = document.getElementById("bug-table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const controls = [...document.querySelectorAll("[data-filter]")];
  const heads = [...table.querySelectorAll("th[data-sort]")];
  const sorting = document.getElementById("sorting");
  const fold = (text) => text.toLowerCase();
  const state = { by: "rank", down: false };

  const matches = (row) => controls.every((control) => {
    const wanted = control.value;
    if (!wanted) return true;
    if (control.dataset.filter === "text") return fold(row.textContent).includes(fold(wanted.trim()));
    // Several layers may be at fault together: they stand on lines of their own.
    return row.dataset[control.dataset.filter].split("\n").includes(wanted);
  });
  const filter = () => {
    let shown = 0;
    for (const row of rows) {
      row.hidden = !matches(row);
      shown += !row.hidden;
    }
    const all = rows.length === 1 ? "1 bug" : `${rows.length} bugs`;
    document.getElementById("shown").textContent = shown === rows.length ? all : `${shown} of ${all}`;
    document.getElementById("none").hidden = shown > 0;
  };
  const sort = () => {
    const number = ["rank", "severity", "data"].includes(state.by);
    const key = (row) => row.dataset[`${state.by}Weight`] ?? row.dataset[state.by];
    const order = (left, right) =>
      (number ? key(left) - key(right) : key(left).localeCompare(key(right), "en")) * (state.down ? -1 : 1) ||
      left.dataset.rank - right.dataset.rank;
    body.append(...[...rows].sort(order));
    for (const head of heads) {
      if (head.dataset.sort === state.by) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    sorting.value = state.by;
  };

  // The address holds the filters, so that a link can name some of the bugs: #library=torch&symptom=crash
  const save = () => {
    const wanted = new URLSearchParams();
    for (const control of controls) if (control.value) wanted.set(control.dataset.filter, control.value);
    history.replaceState(null, "", `#${wanted}`);
  };
  const read = () => {
    if (!location.hash.includes("=")) return false;
    const wanted = new URLSearchParams(location.hash.slice(1));
    for (const control of controls) {
      control.value = wanted.get(control.dataset.filter) ?? "";
      if (control.value === "" && control.tagName === "SELECT") control.selectedIndex = 0;
    }
    filter();
    return true;
  };

  for (const control of controls) {
    control.addEventListener("input", () => { filter(); save(); });
  }
  document.getElementById("clear").addEventListener("click", () => {
    for (const control of controls) control.value = "";
    filter();
    save();
  });
  for (const head of heads) {
    head.querySelector("button").addEventListener("click", () => {
      state.down = state.by === head.dataset.sort && !state.down;
      state.by = head.dataset.sort;
      sort();
    });
  }
  sorting.addEventListener("input", () => { state.by = sorting.value; state.down = false; sort(); });
  addEventListener("hashchange", () => { if (read()) document.getElementById("bugs").scrollIntoView(); });
  document.getElementById("filters").hidden = false;
  if (!read()) filter();
})();
