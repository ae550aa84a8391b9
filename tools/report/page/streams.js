// The streams, on the same axis as the memory diagram above: when instructions run, and which are exposed.

/** Parts of a span in which the compute stream waits. */
function exposedParts(entry, from, to) {
  const {begin, seconds} = entry.waits, parts = [];
  for (let wait = 0; wait < begin.length; ++wait) {
    const left = Math.max(from, begin[wait]), right = Math.min(to, begin[wait] + seconds[wait]);
    if (left < right)
      parts.push([left, right]);
  }
  return parts;
}

function drawStreams(plot, context) {
  const {entry} = plot;
  plot.streams.forEach((stream, row) => {
    const top = plot.rowsTop + row * kPlot.row;
    context.fillStyle = colour("soft");
    context.textAlign = "right";
    context.fillText(entry.streams[stream].name.replace("_", " "), kPlot.left - 8, top + kPlot.row / 2 - 1);
    context.fillStyle = colour("plot");
    context.fillRect(kPlot.left, top, plot.width - kPlot.left - kPlot.right, kPlot.row - 4);
  });
  context.save();
  context.beginPath();
  context.rect(kPlot.left, plot.rowsTop, plot.width - kPlot.left - kPlot.right, plot.streams.length * kPlot.row);
  context.clip();
  for (let moment = 0; moment < entry.moments.index.length; ++moment)
    drawMoment(plot, context, moment);
  context.restore();
}

function drawMoment(plot, context, moment) {
  const {entry} = plot, {stream, instruction} = entry.moments, [from, to] = plot.span(moment);
  if (to < plot.view[0] || from > plot.view[1])
    return;
  const top = plot.rowsTop + plot.streams.indexOf(stream[moment]) * kPlot.row, left = plot.x(from);
  const width = Math.max(plot.x(to) - left - (plot.x(to) - left > 3 ? 0.7 : 0), 0.6);
  context.fillStyle = colour(report.instructions.class[instruction[moment]]);
  context.fillRect(left, top, width, kPlot.row - 4);
  if (stream[moment] === 0 || plot.axis === "order")
    return;
  context.fillStyle = colour("mark");
  for (const [begin, end] of exposedParts(entry, from, to))
    context.fillRect(plot.x(begin), top + kPlot.row - 10, Math.max(plot.x(end) - plot.x(begin), 1), 6);
}

/** The tooltip of a moment: [title, lines]. */
function momentLines(entry, moment) {
  const {instruction, stream, begin, seconds, iterations} = entry.moments, at = instruction[moment];
  const lines = [
    report.instructions.text[at],
    `${entry.streams[stream[moment]].name.replace("_", " ")}, instruction ${momentName(entry, moment)}` +
      (iterations[moment] ? `, in a loop of ${wholeText(iterations[moment])} iterations` : ""),
  ];
  if (entry.seconds > 0)
    lines.push(`${secondsText(seconds[moment])} from ${secondsText(begin[moment])} on`);
  if (stream[moment] > 0) {
    const exposed = exposedParts(entry, begin[moment], momentEnd(entry, moment)).reduce((sum, [from, to]) => sum + to - from, 0);
    lines.push(exposed > 0 ? `exposed for ${secondsText(exposed)}` : "hidden by computation");
  }
  return [momentText(entry, moment), lines];
}

const kClasses = [["product", "matrix products"], ["attention", "attention"], ["rows", "rows"], ["copy", "copies and zeroings"],
                  ["scatter", "scatters"], ["rank_sum", "sums over ranks"], ["collective", "collectives"]];

/** The legend of the streams: the classes that the entry has. */
function streamLegend(entry) {
  const has = new Set(entry.moments.instruction.map(at => report.instructions.class[at]));
  const items = kClasses.filter(([kind]) => has.has(kind)).map(([kind, text]) => make("li", {}, dot(kind), text));
  if (entry.waits.begin.length > 0)
    items.push(make("li", {}, dot("mark"), "exposed: computation waits"));
  return make("ul", {class: "legend", "aria-label": "Colours of instructions"}, items);
}
