// The document, and queries on it that several parts of the page use.

const report = JSON.parse(document.getElementById("document").textContent);

/** "h.3.mlp: nn.matmul" -> "h.3.mlp"; empty where a source has no scope. */
function scopeOf(op) {
  const end = op.indexOf(": ");
  return end < 0 || /[ (]/.test(op.slice(0, end)) ? "" : op.slice(0, end);
}

/** "gpt.mlir:14", without the folders. */
function placeOf(source) {
  const file = report.files[report.sources.file[source]], line = report.sources.line[source];
  return file && line ? `${file.slice(file.lastIndexOf("/") + 1)}:${line}` : "";
}

/** The name of an op; the list of ops that a kernel was fused from is shortened. */
function shortOp(op, most = 64) {
  return op.length <= most ? op : op.slice(0, most - 1) + "\u2026";
}

/** The moment's op and place, as "h.3.mlp: nn.matmul (gpt.mlir:14)". */
function momentText(entry, moment) {
  if (moment >= entry.moments.index.length)
    return "the entry's end";
  const source = entry.moments.source[moment], place = placeOf(source);
  return report.sources.op[source] + (place ? ` at ${place}` : "");
}

/** The instruction of a moment as `trainc dump` numbers it: "12", in a loop "12.3". */
function momentName(entry, moment) {
  const {index, iterations} = entry.moments;
  if (moment >= index.length || !iterations[moment])
    return moment < index.length ? String(index[moment]) : "end";
  let first = moment;
  while (first > 0 && index[first - 1] === index[moment])
    --first;
  return `${index[moment]}.${moment - first}`;
}

const momentEnd = (entry, moment) => entry.moments.begin[moment] + entry.moments.seconds[moment];

/** The length of an axis: "time" in seconds, including copies that overlap the next entry, or "order" in moments. */
function axisLength(entry, axis) {
  if (axis === "order")
    return entry.moments.index.length;
  let length = entry.seconds;
  for (let moment = 0; moment < entry.moments.index.length; ++moment)
    length = Math.max(length, momentEnd(entry, moment));
  return length;
}

/** The begin and end of a value's lifetime on an axis: "time" in seconds, or "order" in moments. */
function valueSpan(entry, value, axis) {
  const {begin, end, last} = entry.values;
  if (axis === "order")
    return [begin[value], end[value]];
  const until = last[value] < end[value] ? momentEnd(entry, last[value]) : entry.moments.begin[end[value]];
  return [entry.moments.begin[begin[value]], until];
}

/** The values of an entry that are alive at a moment, the largest first. */
function valuesAt(entry, moment) {
  const {begin, end, bytes} = entry.values, found = [];
  for (let value = 0; value < begin.length && begin[value] <= moment; ++value)
    if (moment < end[value])
      found.push(value);
  return found.sort((a, b) => bytes[b] - bytes[a]);
}

const kindOf = (entry, value) => report.kinds[report.buffers.kind[entry.values.buffer[value]]];

/** The entry's peak in one of its arenas, or null. */
const peakIn = (entry, arena) => entry.peaks.find(peak => peak.arena === arena) || null;

/** The tooltip of a value: [title, lines]. */
function valueText(entry, value) {
  const {buffer, offset, bytes, begin, end, last} = entry.values;
  const at = buffer[value], life = valueSpan(entry, value, "time");
  const lines = [
    `${bytesText(bytes[value])} of ${kindOf(entry, value)}, ${report.buffers.dtype[at]}`,
    `at ${wholeText(offset[value])} in ${report.arenas[report.buffers.arena[at]].name}`,
    `written by ${shortOp(momentText(entry, begin[value]), 90)}`,
    `needed until ${shortOp(momentText(entry, last[value]), 90)}`,
    `instructions ${momentName(entry, begin[value])} to ${momentName(entry, end[value] - 1)}` + (entry.seconds > 0 ? `, ${secondsText(life[1] - life[0])}` : ""),
  ];
  return [report.buffers.name[at], lines];
}

/** Seconds and moments of a step by source op, block numbers left out, the costliest first. */
function costsOfStep() {
  const sums = new Map();
  for (const entry of report.entries)
    for (let moment = 0; entry.runs_per_step > 0 && moment < entry.moments.index.length; ++moment) {
      const {instruction, source, seconds} = entry.moments;
      const kind = report.instructions.class[instruction[moment]];
      const op = report.sources.op[source[moment]].replace(/\.\d+(?=[.: )]|$)/g, ".*"), key = kind + op;
      const sum = sums.get(key) || {op, kind, place: placeOf(source[moment]), seconds: 0, count: 0};
      sum.seconds += entry.runs_per_step * seconds[moment];
      sum.count += entry.runs_per_step;
      sums.set(key, sum);
    }
  return [...sums.values()].sort((a, b) => b.seconds - a.seconds);
}
