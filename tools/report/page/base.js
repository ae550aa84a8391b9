// Elements, numbers as text, colours.

window.addEventListener("error", event => { document.documentElement.dataset.error = event.message; });

/** Creates an element with attributes and children. Strings become text nodes. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on"))
      element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return element;
}

/** Formats a number below about 1000 with three significant digits, as the programs do: rounds ties to even. */
function threeDigits(value) {
  const digits = Math.abs(value) < 9.995 ? 2 : Math.abs(value) < 99.95 ? 1 : 0, shifted = value * 10 ** digits, below = Math.floor(shifted);
  return (shifted - below === 0.5 && below % 2 === 0 ? below / 10 ** digits : value).toFixed(digits);
}

/** Formats a value in the largest unit in which it is at least 1, such as "4.26 GiB". Each unit is `base` times the one before. */
function scaled(value, base, units) {
  let unit = 0;
  for (; Math.abs(value) >= base - 0.5 && unit + 1 < units.length; ++unit)
    value /= base;
  return `${unit === 0 && Number.isInteger(value) ? value : threeDigits(value)} ${units[unit]}`.trim();
}

const bytesText = bytes => scaled(bytes, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
const countText = count => scaled(count, 1000, ["", "K", "M", "G", "T", "P", "E"]);

function secondsText(seconds) {
  if (seconds === 0)
    return "0 s";
  for (const [size, name] of [[1, "s"], [1e-3, "ms"], [1e-6, "us"]])
    if (Math.abs(seconds) >= size)
      return `${threeDigits(seconds / size)} ${name}`;
  return `${(seconds * 1e6).toPrecision(2)} us`;
}

const wholeText = number => number.toLocaleString("en-US").replaceAll(",", "\u202f");
const percentText = share => `${(100 * share).toFixed(1)} %`;

/** Returns the value of a colour variable of the style sheet. */
const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

/** The name of a kind's colour variable, such as "gathered" for "gathered parameters". */
const kindVariable = kind => kind.split(" ")[0];

/** A table cell for a text that may be long. */
const wide = (...children) => make("td", {class: "name"}, children);

/** A table cell with a coloured dot before the text. */
const dotted = (variable, text) => make("td", {class: "name dotted"}, dot(variable), text);

const dot = variable => make("i", {class: "dot", style: `background: var(--${variable})`});

/** A table: columns are [title, isNumber]; rows are lists of texts and elements, or functions that make such a list. */
function table(columns, rows, attributes) {
  const head = make("tr", {}, columns.map(([title, isNumber]) => make("th", {scope: "col", class: isNumber ? "n" : null}, title)));
  const body = rows.map(row => make("tr", {}, (typeof row === "function" ? row() : row).map((cell, at) =>
    cell instanceof HTMLTableCellElement ? cell : make("td", {class: columns[at][1] ? "n" : null}, cell))));
  return make("div", {class: "scroll"}, make("table", attributes, make("thead", {}, head), make("tbody", {}, body)));
}

/** A table of many rows: the first ones, and a button for the others. */
function longTable(columns, rows, shown, attributes) {
  if (rows.length <= shown + 3)
    return table(columns, rows, attributes);
  const holder = make("div", {}, table(columns, rows.slice(0, shown), attributes));
  const button = make("button", {class: "more", onclick: () => holder.replaceChildren(table(columns, rows, attributes))},
                      `Show all ${wholeText(rows.length)}`);
  holder.append(button);
  return holder;
}

/** A cell with a bar of segments [colour variable, share of the whole width]. */
function barCell(parts) {
  const pieces = parts.filter(([, share]) => share > 0).map(([variable, share]) =>
    make("i", {style: `width: ${100 * share}%; background: var(--${variable})`}));
  return make("td", {class: "barcell", "aria-hidden": "true"}, make("div", {class: "bar slim"}, pieces));
}

const section = (id, title, note, ...children) =>
  make("section", {id, "aria-labelledby": id + "-title"}, make("h2", {id: id + "-title"}, title), note ? make("p", {class: "soft"}, note) : null, children);

/** A group of buttons of which one is pressed. */
function choice(label, options, chosen, onchoose) {
  const buttons = options.map(([value, text]) => make("button", {type: "button", "aria-pressed": String(value === chosen), onclick: () => {
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(options[at][0] === value)));
    onchoose(value);
  }}, text));
  return make("div", {class: "group", role: "group", "aria-label": label}, make("span", {class: "soft"}, label), buttons);
}
