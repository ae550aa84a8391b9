// The page of two plans: what changed from the first to the second.

function differenceValue(value, unit) {
  if (value === null)
    return "none";
  const isSize = unit === "bytes" || (unit === "text" && typeof value === "number"); // numbers among texts are sizes
  return isSize ? bytesText(value) : unit === "seconds" ? secondsText(value) : unit === "count" ? wholeText(value) : String(value);
}

/** A cell with the growth of a number. For bytes and seconds, less is better. */
function growthCell(from, to, unit) {
  if (typeof from !== "number" || typeof to !== "number" || from === 0)
    return make("td", {class: "n"}, "");
  const share = to / from - 1, judged = unit === "bytes" || unit === "seconds";
  const text = share >= 9 ? `${Math.round(share + 1)} times` : `${share > 0 ? "+" : "\u2212"}${percentText(Math.abs(share))}`;
  return make("td", {class: "n" + (judged ? share > 0 ? " up" : " down" : "")}, text);
}

/** Two bars, one below the other, with lengths proportional to the numbers. */
function pairCell(from, to) {
  const most = Math.max(from, to);
  return make("td", {class: "barcell", "aria-hidden": "true"}, most > 0 ? [[from, "soft"], [to, "accent"]].map(([value, variable]) =>
    make("div", {class: "bar slim"}, make("i", {style: `width: ${100 * value / most}%; background: var(--${variable})`}))) : "");
}

function differenceGroup(group, at) {
  const isNumber = group.unit !== "text", rows = group.rows.map(({what, from, to}) => {
    const cells = [wide(what), differenceValue(from, group.unit), differenceValue(to, group.unit)].map((cell, at) => at > 0 && !isNumber ? wide(cell) : cell);
    return isNumber ? [...cells, growthCell(from, to, group.unit), pairCell(from || 0, to || 0)] : cells;
  });
  const columns = [[""], ["before", isNumber], ["after", isNumber], ...(isNumber ? [["", true], [""]] : [])];
  return section(`group${at}`, group.title, null, rows.length ? longTable(columns, rows, 30, {class: isNumber ? "numbers" : null}) : make("p", {class: "soft"}, "Nothing changed."));
}

function differencePage() {
  const {from, to, sentences, groups} = report;
  const head = make("header", {}, make("h1", {}, `${from.file} \u2192 ${to.file}`),
    make("p", {class: "verdict"}, make("b", {}, "Before: "), sentences[0]), make("p", {class: "verdict", id: "verdict"}, make("b", {}, "After: "), sentences[1]));
  return [head, ...groups.map(differenceGroup), make("footer", {}, `Made from the two plans alone by ${to.producer}.`)];
}
