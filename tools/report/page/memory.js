// The part of the page about memory and time: its diagram, mouse and keyboard input, and the table below.

class MemoryView {
  constructor() {
    this.entry = report.entries.find(entry => entry.name === report.peak.entry) || report.entries[0];
    this.base = make("canvas", {"aria-hidden": "true"});
    this.over = make("canvas", {class: "over", tabindex: "0", role: "img"});
    this.tip = make("div", {class: "tip", id: "tip", hidden: true, "aria-hidden": "true"});
    this.plotBox = make("div", {class: "plot"}, this.base, this.over, this.tip);
    this.legends = make("div", {});
    this.arenaChoice = make("div", {});
    this.now = make("div", {id: "now", "aria-live": "polite"});
    this.element = section("memory", "Memory and time",
      "Each rectangle is a value: as high as its bytes, from the instruction that writes it to the last one that needs it. On the left is what lives across entries, in the same scale. Below are the streams on the same axis. " +
      "Point at anything to see what it is; drag over a part to see it larger. With the keyboard: arrows go from instruction to instruction, plus and minus change the scale, 0 shows all, P goes to the peak.",
      this.tools(), this.plotBox, this.legends, this.now);
    this.listen();
    this.show(this.entry);
  }

  tools() {
    const entries = report.entries.map(entry => [entry, entry.name.replaceAll("_", " ")]);
    const zoom = [["\u2212", "smaller", () => this.zoom(2)], ["+", "larger", () => this.zoom(0.5)], ["all", "whole entry", () => this.zoom(Infinity)],
                  ["peak", "go to the peak", () => this.select(this.peakMoment())]];
    this.axisChoice = make("div", {});
    return make("div", {class: "tools"}, choice("entry", entries, this.entry, entry => this.show(entry)), this.axisChoice, this.arenaChoice,
      make("div", {class: "group", role: "group", "aria-label": "scale"}, zoom.map(([text, label, onclick]) => make("button", {type: "button", "aria-label": label, onclick}, text))));
  }

  show(entry) {
    this.entry = entry;
    const arenas = entry.peaks.map(peak => peak.arena);
    const most = entry.peaks.reduce((best, peak) => !best || peak.held_bytes > best.held_bytes ? peak : best, null);
    this.arena = most ? most.arena : -1;
    this.axis = entry.seconds > 0 ? "time" : "order";
    this.axisChoice.replaceChildren(entry.seconds > 0 ? choice("axis", [["time", "predicted time"], ["order", "order"]], this.axis, axis => {
      this.axis = axis;
      this.zoom(Infinity);
    }) : "");
    this.arenaChoice.replaceChildren(arenas.length > 1 ? choice("arena", arenas.map(arena => [arena, report.arenas[arena].name]), this.arena, arena => {
      this.arena = arena;
      this.draw();
    }) : "");
    this.legends.replaceChildren(kindLegend(), streamLegend(entry));
    this.zoom(Infinity);
    this.select(this.peakMoment());
  }

  peakMoment() {
    const peak = peakIn(this.entry, this.arena);
    return peak ? peak.moment : 0;
  }

  /** Shows `factor` times as much of the axis, around the selected moment. */
  zoom(factor) {
    const whole = axisLength(this.entry, this.axis);
    const [from, to] = factor === Infinity ? [0, whole] : this.view, length = Math.min((to - from) * factor, whole);
    const middle = factor === Infinity ? whole / 2 : this.plot.span(this.selected).reduce((a, b) => a + b) / 2;
    const begin = Math.min(Math.max(middle - (factor === Infinity ? whole : length) / 2, 0), Math.max(whole - length, 0));
    this.view = factor === Infinity ? [0, whole || 1] : [begin, begin + length];
    this.draw();
  }

  draw() {
    const width = this.plotBox.clientWidth || 1000;
    this.plot = new Plot(width, this.entry, this.arena, this.axis, this.view);
    for (const canvas of [this.base, this.over]) {
      canvas.width = width * devicePixelRatio;
      canvas.height = this.plot.height * devicePixelRatio;
      canvas.style.height = `${this.plot.height}px`;
    }
    const context = this.base.getContext("2d");
    context.scale(devicePixelRatio, devicePixelRatio);
    this.plot.draw(context);
    this.drawOver();
  }

  /** Draws the selected moment and the highlight of the item under the pointer. */
  drawOver(value = -1) {
    const context = this.over.getContext("2d"), plot = this.plot;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, plot.width, plot.height);
    context.strokeStyle = context.fillStyle = colour("text");
    if (this.selected !== undefined && this.selected < this.entry.moments.index.length) {
      const [from, to] = plot.span(this.selected), left = plot.x(from), right = plot.x(to);
      if (right >= kPlot.left && left <= plot.width - kPlot.right) {
        const from = Math.max(left, kPlot.left), to = Math.max(Math.min(right, plot.width - kPlot.right), from + 2), height = plot.height - kPlot.top - kPlot.ticks;
        context.globalAlpha = 0.09;
        context.fillRect(from, kPlot.top, to - from, height);
        context.globalAlpha = 0.6;
        for (const edge of [from, to - 1])
          context.fillRect(edge, kPlot.top, 1, height);
        context.globalAlpha = 1;
      }
    }
    if (value >= 0) {
      const {offset, bytes} = this.entry.values, [from, to] = valueSpan(this.entry, value, this.axis), top = plot.y(offset[value] + bytes[value]);
      context.lineWidth = 2;
      context.strokeRect(Math.max(plot.x(from), kPlot.left), top, Math.max(plot.x(to) - Math.max(plot.x(from), kPlot.left), 2), Math.max(plot.y(offset[value]) - top, 2));
    }
    if (this.drag) {
      context.globalAlpha = 0.15;
      context.fillRect(Math.min(...this.drag), kPlot.top, Math.abs(this.drag[1] - this.drag[0]), plot.height - kPlot.top);
      context.globalAlpha = 1;
    }
  }

  select(moment) {
    const count = this.entry.moments.index.length;
    if (count === 0) {
      this.now.replaceChildren(make("p", {class: "soft"}, "This entry has no instructions."));
      return;
    }
    this.selected = Math.min(Math.max(moment, 0), count - 1);
    const [from, to] = this.plot.span(this.selected), [begin, end] = this.view;
    if (to < begin || from > end) {
      const shift = (from + to) / 2 - (begin + end) / 2;
      this.view = [begin + shift, end + shift];
      this.draw();
    }
    this.drawOver();
    this.showNow();
  }

  showNow() {
    const [title, lines] = momentLines(this.entry, this.selected), values = valuesAt(this.entry, this.selected).filter(value =>
      report.buffers.arena[this.entry.values.buffer[value]] === this.arena);
    const held = values.reduce((sum, value) => sum + this.entry.values.bytes[value], 0), isPeak = this.selected === this.peakMoment() && values.length > 0;
    this.over.setAttribute("aria-label", `Memory over time of ${this.entry.name}; at instruction ${momentName(this.entry, this.selected)}: ${title}; ${bytesText(held)} held`);
    const rows = values.map(value => () => {
      const {buffer, bytes, begin, last} = this.entry.values, kind = kindOf(this.entry, value);
      return [dotted(kindVariable(kind), report.buffers.name[buffer[value]]), kind, bytesText(bytes[value]),
              wide(shortOp(momentText(this.entry, begin[value]))), wide(shortOp(momentText(this.entry, last[value])))];
    });
    this.now.replaceChildren(
      make("h3", {}, `${isPeak ? "The peak, at instruction" : "Instruction"} ${momentName(this.entry, this.selected)}: `, shortOp(title, 120)),
      make("p", {class: "soft"}, [...lines, this.arena < 0 ? "nothing held" : `${wholeText(held)} bytes held by ${values.length} values of ${wholeText(report.arenas[this.arena].bytes)} in ${report.arenas[this.arena].name}`].join(" \u00b7 ")),
      rows.length ? longTable([["value"], ["kind"], ["bytes", true], ["written by"], ["needed until"]], rows, 8, {id: "held"}) : "");
  }

  showTip(x, y) {
    const plot = this.plot, inMap = x >= kPlot.left && y >= kPlot.top && y <= plot.mapBottom;
    const value = inMap && this.arena >= 0 ? plot.valueAt(x, y) : -1, buffer = inMap ? -1 : plot.persistentAt(x, y);
    const moment = value < 0 && y >= plot.rowsTop && x >= kPlot.left ? plot.momentAt(x, y) : -1;
    this.drawOver(value);
    const text = value >= 0 ? valueText(this.entry, value) : buffer >= 0 ? bufferText(buffer) : moment >= 0 ? momentLines(this.entry, moment) : null;
    this.tip.hidden = !text;
    if (!text)
      return;
    this.tip.replaceChildren(make("b", {}, text[0]), ...text[1].map(line => make("span", {}, line)));
    this.tip.style.left = `${Math.min(x + 14, Math.max(plot.width - this.tip.offsetWidth - 4, 0))}px`;
    this.tip.style.top = `${y + 18 + this.tip.offsetHeight > plot.height && y > this.tip.offsetHeight + 12 ? y - this.tip.offsetHeight - 12 : y + 18}px`;
  }

  listen() {
    const place = event => {
      const box = this.over.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.over.addEventListener("pointerdown", event => { this.drag = [place(event)[0], place(event)[0]]; });
    this.over.addEventListener("pointermove", event => {
      const [x, y] = place(event);
      if (this.drag)
        this.drag[1] = x;
      this.showTip(x, y);
    });
    this.over.addEventListener("pointerleave", () => {
      this.drag = null;
      this.tip.hidden = true;
      this.drawOver();
    });
    this.over.addEventListener("pointerup", event => this.release(...place(event)));
    this.over.addEventListener("dblclick", () => this.zoom(Infinity));
    this.over.addEventListener("keydown", event => this.key(event));
    new ResizeObserver(() => this.plotBox.clientWidth !== this.plot.width && this.draw()).observe(this.plotBox);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Ends a drag: enlarges the range that was dragged over, or selects a moment if the pointer did not move. */
  release(x, y) {
    const drag = this.drag;
    this.drag = null;
    if (drag && Math.abs(drag[1] - drag[0]) > 6) {
      const [a, b] = [Math.min(...drag), Math.max(...drag)].map(each => Math.min(Math.max(this.plot.at(Math.max(each, kPlot.left)), 0), this.plot.whole));
      if (b > a)
        this.view = [a, b];
      this.draw();
    } else if (x >= kPlot.left) {
      const moment = this.plot.momentAt(x, y);
      if (moment >= 0)
        this.select(moment);
    }
  }

  key(event) {
    const acts = {ArrowRight: () => this.select(this.selected + 1), ArrowLeft: () => this.select(this.selected - 1), "+": () => this.zoom(0.5), "=": () => this.zoom(0.5),
                  "-": () => this.zoom(2), "0": () => this.zoom(Infinity), p: () => this.select(this.peakMoment()), Home: () => this.select(0), End: () => this.select(Infinity)};
    if (event.ctrlKey || event.metaKey || event.altKey || !acts[event.key])
      return;
    event.preventDefault();
    acts[event.key]();
  }
}

function bufferText(buffer) {
  const arena = report.arenas[report.buffers.arena[buffer]];
  return [report.buffers.name[buffer], [`${bytesText(report.buffers.bytes[buffer])} of ${report.kinds[report.buffers.kind[buffer]]}, ${report.buffers.dtype[buffer]}`,
                                        `at ${wholeText(report.buffers.offset[buffer])} in ${arena.name}`, "lives across entries"]];
}

/** The kinds of memory that the plan uses. */
function kindLegend() {
  const has = new Set(report.buffers.kind);
  return make("ul", {class: "legend", "aria-label": "Colours of memory"}, report.kinds.map((kind, at) => has.has(at) ? make("li", {}, dot(kindVariable(kind)), kind) : null));
}
