"use strict";
// Tables that sort, filter and turn pages; fragments that lead to rows and to filters; the theme.
// The rows come from JSON beside each table. cells.py draws the same cells: keep both alike.
(() => {
  const collator = new Intl.Collator("en", { numeric: true });
  const tables = new Map();
  // Each row is a card there, as page.css says.
  const phone = matchMedia("screen and (max-width: 34rem)");

  const make = (tag, look, text) => {
    const made = document.createElement(tag);
    if (look) made.className = look;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const share = (value) => {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("class", "bar");
    svg.setAttribute("viewBox", "0 0 100 8");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    for (const [look, width] of [["track", "100"], ["fill", String(Number((value * 100).toFixed(2)))]]) {
      const rect = document.createElementNS(space, "rect");
      rect.setAttribute("class", look);
      rect.setAttribute("width", width);
      rect.setAttribute("height", "8");
      svg.append(rect);
    }
    return svg;
  };

  const piece = ([look, text, extra]) => {
    switch (look) {
      case "text": return [make("span", "", text)];
      case "strong": case "code": return [make(look, "", text)];
      case "badge": return [make("span", `badge ${extra}`, text)];
      case "bar": return [share(extra), make("span", "", text)];
      case "time": {
        const made = make("span", "", text);
        made.title = extra;
        return [made];
      }
      case "link": {
        const made = make("a", "", text);
        if (/^(#|https?:\/\/)/.test(extra)) made.setAttribute("href", extra);
        return [made];
      }
      case "more": {
        const made = make("details");
        const list = make("ul");
        list.append(...extra.map((each) => make("li", "", each)));
        made.append(make("summary", "", text), list);
        return [made];
      }
      default: return [make("span", look, text)];
    }
  };

  // As numbers.plain and numbers.money write them; halves go to the even digit there.
  const written = (value, unit) => {
    const size = Math.abs(value);
    const digits = (least, most) =>
      value.toLocaleString("en", { minimumFractionDigits: least, maximumFractionDigits: most, roundingMode: "halfEven" });
    if (unit.money) return size > 0 && size < 10 ? digits(2, 2) : digits(0, 0);
    return size < 100 ? digits(0, size < 1 ? 2 : 1) : digits(0, 0);
  };

  class Table {
    constructor(place) {
      this.place = place;
      this.name = place.dataset.table;
      this.body = place.querySelector("tbody");
      this.form = place.querySelector("form.filters");
      this.turning = place.querySelector("nav.turning");
      this.sum = place.querySelector("tfoot tr");
      this.whole = this.sum && [...this.sum.children].map((cell) => [...cell.childNodes]);
      this.start = 0;
      this.order = null;
      this.#prepareHeads();
      if (this.form) this.#prepareForm();
      this.#prepareColumns();
      this.turning?.addEventListener("click", (event) => {
        const step = Number(event.target.dataset?.turn);
        if (step) this.#turn(step);
      });
      if (this.turning && phone.matches) this.#shorten();
    }

    get page() {
      const { all, phone: few } = this.turning.dataset;
      return Number(phone.matches ? few : all);
    }

    // The first rows of the file, without reading the data.
    #shorten() {
      while (this.body.rows.length > this.page) this.body.lastElementChild.remove();
      this.#place(Number(this.turning.dataset.rows));
    }

    // Parsed when it is needed for the first time, so that a large page opens at once.
    get data() {
      if (!this.known) {
        const known = JSON.parse(document.getElementById(`data-${this.name}`).textContent);
        const texts = known.pieces.map(([, text, extra]) => [text, ...(Array.isArray(extra) ? extra : [])].join(" "));
        known.words = known.cells.map((cell) => cell.slice(1).map((index) => texts[index]).join(" "));
        known.search = known.rows.map((row) => row.slice(2).map((index) => known.words[index]).join("\n").toLowerCase());
        known.all = known.rows.map((_, index) => index);
        this.known = known;
        this.apart = new Set(known.apart);
        this.shown = known.all;
      }
      return this.known;
    }

    #prepareHeads() {
      this.heads = [...this.place.querySelectorAll("thead th")];
      this.titles = this.heads.map((head) => head.textContent);
      this.heads.forEach((head, column) => {
        const button = make("button", "", head.textContent);
        button.type = "button";
        button.addEventListener("click", () => this.#sort(column));
        head.dataset.title = head.textContent;
        head.replaceChildren(button);
      });
    }

    // Few columns fit a screen; a button shows the others.
    #prepareColumns() {
      const button = this.place.querySelector("button.columns");
      if (!button) return;
      const all = button.textContent;
      const show = (few) => {
        this.place.classList.toggle("few", few);
        button.setAttribute("aria-pressed", String(!few));
        button.textContent = few ? all : "Show fewer columns";
      };
      button.hidden = false;
      button.addEventListener("click", () => show(!this.place.classList.contains("few")));
      show(true);
    }

    #prepareForm() {
      this.form.hidden = false;
      let waiting;
      this.form.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(() => { this.filter(); this.#remember(); }, 60);
      });
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.form.addEventListener("reset", () => setTimeout(() => {
        this.order = null;
        for (const head of this.heads) head.removeAttribute("aria-sort");
        this.filter();
        this.#remember();
      }));
    }

    #sort(column) {
      const { columns, rows, cells, words, all } = this.data;
      const ascending = this.order?.column === column ? !this.order.ascending : !columns[column].largest;
      this.order = { column, ascending };
      this.heads.forEach((head, index) => {
        if (index === column) head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        else head.removeAttribute("aria-sort");
      });
      const sign = ascending ? 1 : -1;
      const key = (index) => rows[index][column + 2];
      const compare = columns[column].number
        ? (one, other) => {
          const left = cells[key(one)][0];
          const right = cells[key(other)][0];
          if (left === null || right === null) return (left === null) - (right === null);
          return sign * (left - right);
        }
        : (one, other) => sign * collator.compare(words[key(one)], words[key(other)]);
      this.sorted = [...all].sort(compare);
      this.filter();
    }

    #conditions() {
      const chosen = this.form ? new FormData(this.form) : new Map();
      const asked = (chosen.get("q") ?? "").toLowerCase().trim();
      const exact = /^"(.+)"$/.exec(asked)?.[1];
      const wanted = exact ? [] : asked.split(/\s+/).filter(Boolean);
      const filters = [];
      this.data.filters.forEach(({ name, values }, index) => {
        const value = chosen.get(name);
        if (value) filters.push([index, values.indexOf(value)]);
      });
      return { wanted, exact, filters };
    }

    filter() {
      const { rows, search, all } = this.data;
      const { wanted, exact, filters } = this.#conditions();
      this.shown = (this.order ? this.sorted : all).filter((index) =>
        filters.every(([filter, value]) => rows[index][1][filter] === value)
        && wanted.every((word) => search[index].includes(word))
        && (!exact || `\n${search[index]}\n`.includes(`\n${exact}\n`)));
      this.start = 0;
      this.draw();
    }

    // After the size of a page of rows has changed.
    again() {
      this.data;
      this.start = 0;
      this.draw();
    }

    #turn(step) {
      this.start += step * this.page;
      this.draw();
      this.place.scrollIntoView({ block: "start" });
    }

    draw() {
      const { rows } = this.data;
      const end = this.turning ? Math.min(this.start + this.page, this.shown.length) : this.shown.length;
      const drawn = document.createDocumentFragment();
      for (const index of this.shown.slice(this.start, end)) drawn.append(this.#row(rows[index]));
      if (!this.shown.length) drawn.append(this.#nothing());
      this.body.replaceChildren(drawn);
      const whole = `${rows.length.toLocaleString("en")} ${rows.length === 1 ? "row" : "rows"}`;
      const count = this.shown.length < rows.length ? `${this.shown.length.toLocaleString("en")} of ${whole}` : whole;
      if (this.form) this.form.querySelector("output").textContent = count;
      if (this.sum && this.data.part) this.#add();
      if (this.turning) this.#place(this.shown.length);
    }

    // Where the page of rows stands among all that the filters leave.
    #place(number) {
      const end = Math.min(this.start + this.page, number);
      this.turning.hidden = number <= this.page;
      const [previous, next] = this.turning.querySelectorAll("button");
      previous.disabled = this.start === 0;
      next.disabled = end >= number;
      const [first, last, whole] = [this.start + 1, end, number].map((each) => each.toLocaleString("en"));
      this.turning.querySelector(".place").textContent = `Rows ${first} to ${last} of ${whole}`;
    }

    // The last row is the sum of the rows that the filters leave, on all their pages.
    #add() {
      const { columns, rows, cells, part } = this.data;
      const all = this.shown.length === rows.length;
      const added = this.shown.filter((index) => !this.apart.has(index));
      [...this.sum.children].forEach((cell, column) => {
        const unit = columns[column].adds;
        if (all) cell.replaceChildren(...this.whole[column]);
        else if (column === 0) cell.replaceChildren(make("span", "plain", "Sum"), make("span", "muted", part));
        else if (!unit) cell.replaceChildren();
        else {
          const known = added.map((index) => cells[rows[index][column + 2]][0]).filter((value) => value !== null);
          const missing = added.length && (!known.length || (unit.whole && known.length < added.length));
          const sum = known.reduce((one, other) => one + other, 0);
          const text = missing ? unit.missing : `${unit.before}${written(sum, unit)}${unit.after}`;
          cell.replaceChildren(make("span", missing ? "muted" : "", text));
        }
      });
    }

    #row(row) {
      const { columns, cells, pieces } = this.data;
      const made = make("tr");
      columns.forEach((column, index) => {
        const drawn = cells[row[index + 2]].slice(1);
        const heads = column.heads && drawn.length;
        const cell = make(heads ? "th" : "td");
        if (heads) cell.scope = "row";
        if (column.look) cell.className = column.look;
        cell.dataset.title = this.titles[index];
        cell.append(...drawn.flatMap((number) => piece(pieces[number])));
        made.append(cell);
      });
      if (row[0]) made.id = row[0];
      return made;
    }

    // On paper the sum has a row above it: browsers keep rows of one group together, and not those of two.
    keepSum(kept) {
      const foot = this.sum?.parentElement;
      if (foot && kept && this.body.lastElementChild) foot.prepend(this.body.lastElementChild);
      if (foot && !kept && foot.children.length > 1) this.body.append(foot.firstElementChild);
    }

    #nothing() {
      const cell = make("td", "empty", "No row fits the filters.");
      cell.colSpan = this.heads.length;
      const row = make("tr");
      row.append(cell);
      return row;
    }

    choose(query) {
      if (!this.form) return;
      const values = new URLSearchParams(query);
      for (const field of this.form.elements) if (field.name) field.value = values.get(field.name) ?? "";
      this.filter();
    }

    // The address has the filters, so that a copied link shows the same rows.
    #remember() {
      const values = [...new FormData(this.form)].filter(([, value]) => value);
      const query = new URLSearchParams(values).toString();
      try {
        history.replaceState(null, "", `#${this.name}${query ? `?${query}` : ""}`);
      } catch { /* some browsers refuse many changes at once */ }
    }

    // Shows the row with this id: on its page of the present filters, or of all rows.
    find(id) {
      const { rows } = this.data;
      const found = rows.findIndex((row) => row[0] === id);
      if (found < 0) return false;
      if (!this.shown.includes(found)) this.choose("");
      const place = this.shown.indexOf(found);
      if (this.turning) this.start = place - (place % this.page);
      this.draw();
      return true;
    }
  }

  const follow = () => {
    const [name, query] = location.hash.slice(1).split("?");
    for (const chosen of document.querySelectorAll("tr.chosen")) chosen.classList.remove("chosen");
    if (!name) return;
    if (query !== undefined) {
      tables.get(name)?.choose(query);
      document.getElementById(name)?.scrollIntoView();
      return;
    }
    let target = document.getElementById(name);
    if (!target && name.includes("-")) {
      for (const table of tables.values()) if (table.find(name)) break;
      target = document.getElementById(name);
    }
    if (!target) return;
    target.closest("details")?.setAttribute("open", "");
    if (target.tagName === "TR") {
      target.classList.add("chosen");
      target.tabIndex = -1;
      target.focus({ preventScroll: true });
      target.scrollIntoView({ block: "center" });
    }
  };

  const prepareTheme = () => {
    const button = document.getElementById("theme");
    const root = document.documentElement;
    const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    const say = () => { button.textContent = dark() ? "Light theme" : "Dark theme"; };
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      say();
    });
    say();
  };

  for (const place of document.querySelectorAll(".table")) {
    const table = new Table(place);
    tables.set(table.name, table);
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-filter]");
    if (!link) return;
    event.preventDefault();
    location.hash = `${link.getAttribute("href")}?${link.dataset.filter}`;
  });
  addEventListener("hashchange", follow);
  phone.addEventListener("change", () => {
    for (const table of tables.values()) if (table.turning) table.again();
  });
  addEventListener("beforeprint", () => {
    for (const table of tables.values()) table.keepSum(true);
  });
  addEventListener("afterprint", () => {
    for (const table of tables.values()) table.keepSum(false);
  });
  // Before somebody asks for it, but after the page is there.
  const prepare = () => { for (const table of tables.values()) table.data; };
  if (window.requestIdleCallback) requestIdleCallback(prepare, { timeout: 2000 });
  prepareTheme();
  follow();
  document.documentElement.dataset.ready = "yes";
})();
