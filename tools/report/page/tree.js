// The model as a tree of names: rows that open.

class ModelTree {
  constructor() {
    const {name, parent} = report.tree;
    this.children = name.map(() => []);
    for (let node = 1; node < name.length; ++node)
      this.children[parent[node]].push(node);
    this.open = new Set([0]);
    this.body = make("tbody", {});
    const columns = ["part", "parameters", "held across steps", "at the peak", "FLOP a step", "bytes touched a step", "seconds a step", ""];
    const head = make("tr", {}, columns.map((text, at) => make("th", {scope: "col", class: at > 0 && at < 7 ? "n" : null}, text)));
    this.element = section("model", "The model", "What each part is made of, on one rank except for the number of parameters. Seconds are those of its instructions, one after the other. Press a row, or Enter on it, to open it; arrows go from row to row.",
      make("div", {class: "scroll"}, make("table", {role: "treegrid", id: "tree", "aria-label": "The model as a tree"}, make("thead", {}, head), this.body)));
    this.body.addEventListener("keydown", event => this.key(event));
    this.fill(0);
  }

  /** The rows that are in view, in order, with their depth. */
  *rows(node = 0, depth = 1) {
    yield [node, depth];
    if (this.open.has(node))
      for (const child of this.children[node])
        yield* this.rows(child, depth + 1);
  }

  fill(focused) {
    const rows = [...this.rows()].map(([node, depth]) => this.row(node, depth, node === focused));
    this.body.replaceChildren(...rows);
  }

  row(node, depth, isFocused) {
    const {name, parameters, persistent_bytes, peak_bytes, flops, touched_bytes, seconds} = report.tree, opens = this.children[node].length > 0, isOpen = this.open.has(node);
    const number = (value, text) => make("td", {class: "n"}, value ? text(value) : "\u2013");
    const title = make("td", {class: "name", style: `padding-left: ${18 * (depth - 1)}px`}, make("span", {class: "twist", "aria-hidden": "true"}, opens ? isOpen ? "\u25be" : "\u25b8" : ""), name[node]);
    return make("tr", {role: "row", tabindex: isFocused ? "0" : "-1", "data-node": node, "aria-level": depth, "aria-expanded": opens ? String(isOpen) : null, class: depth === 1 ? "total" : null, onclick: () => this.toggle(node)},
      title, number(parameters[node], countText), number(persistent_bytes[node], bytesText), number(peak_bytes[node], bytesText), number(flops[node], countText),
      number(touched_bytes[node], bytesText), number(seconds[node], secondsText), barCell([["accent", seconds[0] ? seconds[node] / seconds[0] : 0]]));
  }

  toggle(node) {
    if (this.children[node].length === 0)
      return;
    if (!this.open.delete(node))
      this.open.add(node);
    this.fill(node);
    this.focus(node);
  }

  focus(node) {
    for (const row of this.body.children)
      row.tabIndex = Number(row.dataset.node) === node ? 0 : -1;
    this.body.querySelector(`[data-node="${node}"]`).focus({preventScroll: false});
  }

  key(event) {
    const row = event.target.closest("tr"), node = Number(row.dataset.node), isOpen = this.open.has(node);
    const near = {ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling}[event.key];
    if (near)
      this.focus(Number(near.dataset.node));
    else if (event.key === "Enter" || event.key === " " || (event.key === "ArrowRight" && !isOpen) || (event.key === "ArrowLeft" && isOpen))
      this.toggle(node);
    else if (event.key === "ArrowLeft" && node > 0)
      this.focus(report.tree.parent[node]);
    else
      return;
    event.preventDefault();
  }
}
