// The verdict, and the parts of the page that are tables.

const tile = (value, text, kind) => make("div", {class: kind ? "tile " + kind : "tile"}, make("b", {}, value), make("span", {}, text));

function verdictPart() {
  const {plan, verdict} = report, sharded = plan.ranks > 1 ? ` on each of ${plan.ranks} ranks` : "";
  const tiles = [tile(bytesText(verdict.peak_bytes), `planned peak${sharded}, exactly what is allocated`)];
  if (verdict.limit_bytes !== null)
    tiles.push(tile(bytesText(Math.abs(verdict.headroom_bytes)), `${verdict.headroom_bytes < 0 ? "more than" : "to spare of"} the limit of ${bytesText(verdict.limit_bytes)}` +
                    (verdict.unplanned_bytes ? `, with ${bytesText(verdict.unplanned_bytes)} for the process` : ""), verdict.headroom_bytes < 0 ? "bad" : "good"));
  const kindsText = kinds => Object.entries(kinds).map(([kind, bytes]) => `${kind} ${bytesText(bytes)}`).join(", ");
  if (verdict.disk_bytes)
    tiles.push(tile(bytesText(verdict.disk_bytes), `on disk: ${kindsText(verdict.disk_kinds)}`));
  if (verdict.host_bytes)
    tiles.push(tile(bytesText(verdict.host_bytes), `of the host's memory: ${kindsText(verdict.host_kinds)}`));
  if (verdict.step_seconds !== null) {
    tiles.push(tile(secondsText(verdict.step_seconds), "a step, predicted"));
    tiles.push(tile(countText(verdict.flops_per_step / verdict.step_seconds) + "FLOP/s", `of products, ${countText(verdict.flops_per_step)}FLOP a step`));
    if (plan.ranks > 1)
      tiles.push(tile(secondsText(verdict.exposed_seconds), `exposed of ${secondsText(verdict.communication_seconds)} communication a step`));
  }
  return make("header", {}, make("h1", {}, plan.name), make("p", {class: "soft"}, [plan.file, `target ${plan.target}`, plan.ranks > 1 ? `${plan.ranks} ranks: ${plan.mesh}` : "one rank", plan.producer].join(" \u00b7 ")),
              make("p", {class: "verdict", id: "verdict", "data-peak": verdict.peak_bytes}, verdict.sentence), make("div", {class: "tiles"}, tiles));
}

/** Bytes at the peak by kind, in the order of kinds, "unused" at the end. */
function peakKinds() {
  const sums = new Map([...report.kinds, "unused"].map(kind => [kind, 0]));
  for (const part of report.peak.parts)
    sums.set(part.kind, sums.get(part.kind) + part.bytes);
  return [...sums].filter(([, bytes]) => bytes > 0);
}

function peakPart() {
  const {verdict} = report, kinds = peakKinds(), whole = Math.max(verdict.peak_bytes, verdict.limit_bytes || 0) || 1;
  const bar = make("div", {class: "bar", role: "img", "aria-label": "The peak by kind"},
    kinds.map(([kind, bytes]) => make("i", {style: `width: ${100 * bytes / whole}%; background: var(--${kindVariable(kind)})`, title: `${kind}: ${bytesText(bytes)}`})));
  const legend = make("ul", {class: "legend"}, kinds.map(([kind, bytes]) => make("li", {}, dot(kindVariable(kind)), `${kind} ${bytesText(bytes)}`)));
  const note = report.peak.entry ? `At instruction ${report.peak.instruction} of ${report.peak.entry.replaceAll("_", " ")}, the moment at which values take most. Parts sum to the planned peak of ${wholeText(verdict.peak_bytes)} bytes. Unused is what lies between values then, and padding.` : null;
  return section("peak", "What holds the peak", note, bar, legend, make("h3", {}, "By block and kind"), blockTable(kinds.map(([kind]) => kind)), savings());
}

/** The peak as a table. Rows are blocks, and kinds of values outside all blocks. Columns are the kinds within blocks. */
function blockTable(kinds) {
  const blocks = new Map(), others = new Map();
  for (const {block, kind, bytes} of report.peak.parts) {
    const row = block ? blocks.get(block) || blocks.set(block, new Map()).get(block) : others;
    row.set(kind, (row.get(kind) || 0) + bytes);
  }
  const shown = kinds.filter(kind => [...blocks.values()].some(row => row.has(kind)));
  const all = [...[...blocks].map(([name, row]) => [make("td", {}, name), row]), ...[...others].filter(([, bytes]) => bytes > 0).map(([kind, bytes]) => [make("td", {class: "kind"}, kind), new Map([[kind, bytes]])])];
  const sums = all.map(([, row]) => [...row.values()].reduce((a, b) => a + b, 0)), most = Math.max(1, ...sums);
  const rows = all.map(([name, row], at) => [name, barCell([...row].map(([kind, bytes]) => [kindVariable(kind), bytes / most])), bytesText(sums[at]),
                                             ...shown.map(kind => row.has(kind) ? bytesText(row.get(kind)) : "\u2013")]);
  return longTable([["block"], [""], ["together", true], ...shown.map(kind => [kindVariable(kind), true])], rows, 24, {id: "blocks"});
}

function savings() {
  const parts = [];
  if (report.planner && Array.isArray(report.planner.strategies))
    parts.push(make("h3", {}, "What the memory limit chose among"), strategyTable(report.planner));
  if (report.largest_batches)
    parts.push(make("h3", {}, `The largest micro-batches that fit into ${bytesText(report.largest_batches.memory_limit)}`), batchTable(report.largest_batches.batches));
  if (report.recomputable.length)
    parts.push(make("h3", {}, "What recomputing values would save at most, and cost at least"),
      make("p", {class: "soft"}, "Values of the forward that are kept over the peak, summed over blocks. The price is the predicted time of the instructions that write them; recomputing a value may need others that are freed by then."),
      longTable([["written by"], ["line"], ["values", true], ["saves at most", true], ["costs at least, a step", true], ["of the step", true]],
        report.recomputable.map(each => [wide(shortOp(each.what, 90)), each.place.slice(each.place.lastIndexOf("/") + 1), wholeText(each.count), bytesText(each.bytes), secondsText(each.seconds),
                                    report.verdict.step_seconds ? percentText(each.seconds / report.verdict.step_seconds) : ""]), 8, {id: "recomputable"}));
  if (report.offloadable)
    parts.push(make("h3", {}, `What keeping it ${report.offloadable.to === "disk" ? "on disk" : "in the host's memory"} would save, and copy`),
      make("p", {class: "soft"}, "All of its bytes at the rates of the machine of reference; of activations those that are kept over the peak. Copies that computation hides cost nothing."),
      longTable([["option"], ["saves at most", true], ["copies of a step take", true], ["of the step", true]],
        report.offloadable.kinds.map(each => [`--offload=${each.offload}`, bytesText(each.bytes), each.seconds === null ? "?" : secondsText(each.seconds),
                                        each.seconds !== null && report.verdict.step_seconds ? percentText(each.seconds / report.verdict.step_seconds) : ""]), 8, {id: "offloadable"}));
  return parts;
}

function batchTable(batches) {
  const shown = (number, text) => number === null ? "" : text(number);
  return table([["activation checkpointing"], ["samples", true], ["of those of none", true], ["a sample", true], ["more time", true]], batches.map(each =>
    [each.activation_checkpointing, wholeText(each.samples), shown(each.times, times => `${times.toFixed(2)} times`), shown(each.seconds_a_sample, secondsText), shown(each.extra_time, percentText)]),
    {id: "largest-batches"});
}

function strategyTable(planner) {
  const decided = each => Object.entries(each.settings || {}).map(([word, value]) => `${word} ${value}`).join(", ") || "the program as it is";
  return longTable([["strategy"], ["memory", true], ["step", true], ["verdict"]], planner.strategies.map(each =>
    [wide(decided(each)), Number.isFinite(each.needed_bytes) ? bytesText(each.needed_bytes) : "",
     Number.isFinite(each.predicted_step_seconds) ? secondsText(each.predicted_step_seconds) : "", each.verdict || ""]), 12, {id: "strategies"});
}

function timePart() {
  const step = report.verdict.step_seconds, streams = new Map();
  for (const each of report.step)
    for (const stream of each.streams) {
      const sum = streams.get(stream.name) || {busy: 0, exposed: 0};
      sum.busy += each.runs * stream.busy_seconds;
      sum.exposed += each.runs * stream.exposed_seconds;
      streams.set(stream.name, sum);
    }
  if (!step)
    return null;
  const costs = costsOfStep(), most = Math.max(...costs.map(each => each.seconds)) || 1;
  return section("time", "Where a step's time goes", `Predicted for the machine that the plan is made for. A step runs ${report.step.map(each => `${each.entry.replaceAll("_", " ")}${each.runs > 1 ? ` ${each.runs} times` : ""} (${secondsText(each.seconds)})`).join(", ")}.`,
    make("div", {class: "beside"},
      make("div", {}, make("h3", {}, "Streams"), table([["stream"], ["busy", true], ["of the step", true], ["exposed", true]], [...streams].filter(([, sum]) => sum.busy > 0).map(([name, sum]) =>
        [name.replace("_", " "), secondsText(sum.busy), percentText(sum.busy / step), name === "compute" ? "" : secondsText(sum.exposed)]), {id: "streams"})),
      report.collectives.length ? make("div", {}, make("h3", {}, "Collectives of a step"), table([["kind"], ["count", true], ["sent by each rank", true], ["seconds", true]],
        report.collectives.map(each => [each.kind, wholeText(each.count), bytesText(each.sent_bytes), secondsText(each.seconds)]), {id: "collectives"})) : null),
    make("h3", {}, "The costliest, all blocks together"),
    longTable([["op"], ["line"], [""], ["times", true], ["seconds", true], ["of the step", true]], costs.map(each =>
      [dotted(each.kind, shortOp(each.op, 90)), each.place, barCell([[each.kind, each.seconds / most]]), wholeText(each.count), secondsText(each.seconds), percentText(each.seconds / step)]), 12, {id: "costs"}));
}

function settingsPart() {
  const rows = report.settings;
  const fill = all => table([["setting"], ["value"], ["from"]], rows.filter(each => all || !each.is_default).map(({setting, value, source, bytes}) =>
    [setting, wide(bytes === null ? value : bytesText(bytes)), wide(source)]), {id: "settings-table"});
  const holder = make("div", {}, fill(false));
  return rows.length ? section("settings", "Settings", "What the plan was compiled with, and where each comes from.",
    make("div", {class: "tools"}, choice("show", [[false, "those that were given or decided"], [true, "all"]], false, all => holder.replaceChildren(fill(all)))), holder) : null;
}

function proofsPart() {
  return section("proofs", "What was proven of this plan", "The verifier has checked each of these before this report was made, and does so again before each run.",
    make("ul", {class: "proofs"}, report.proofs.map(each => make("li", {}, make("b", {}, `${wholeText(each.count)} ${each.subject} `), each.statement + "."))));
}
