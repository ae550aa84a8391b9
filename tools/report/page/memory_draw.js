// Draws memory over time, address by address, and the streams below it on the same axis.

const kPlot = {left: 170, right: 10, top: 26, map: 460, gap: 14, row: 24, ticks: 26};

/** "h.3" of "h.3.mlp": up to the first number. */
function blockOf(scope) {
  const parts = scope.split("."), at = parts.findIndex(part => /^\d+$/.test(part));
  return at < 0 ? scope : parts.slice(0, at + 1).join(".");
}

/** Whether the block of each value is odd, so that neighbouring blocks differ in shade. */
function shadesOf(entry) {
  if (!entry.shades) {
    const numbers = new Map();
    entry.shades = entry.values.begin.map(begin => {
      const block = blockOf(scopeOf(report.sources.op[entry.moments.source[begin]]));
      if (!numbers.has(block))
        numbers.set(block, numbers.size);
      return numbers.get(block) % 2;
    });
  }
  return entry.shades;
}

/** Positions of the marks of an axis with this many pixels: multiples of 1, 2 or 5 times a power of ten, or of a power of two for bytes. */
function ticksBetween(from, to, most, isBytes) {
  const raw = (to - from) / Math.max(1, most);
  let step = isBytes ? 2 ** Math.ceil(Math.log2(raw)) : 10 ** Math.floor(Math.log10(raw));
  if (!isBytes)
    step *= [1, 2, 5, 10].find(factor => factor * step >= raw);
  const ticks = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to + step / 1e6; tick += step)
    ticks.push(tick);
  return ticks;
}

/** The mapping from values to pixels: an entry, an arena, an axis and its visible range. */
class Plot {
  constructor(width, entry, arena, axis, view) {
    Object.assign(this, {width, entry, arena, axis, view});
    this.streams = entry.streams.map((_, stream) => stream).filter(stream => entry.moments.stream.includes(stream));
    this.mapBottom = kPlot.top + kPlot.map;
    this.rowsTop = this.mapBottom + kPlot.gap;
    this.height = this.rowsTop + this.streams.length * kPlot.row + kPlot.ticks;
    this.bytes = arena < 0 ? 0 : report.arenas[arena].bytes;
    this.scale = bytesOfHeight(arena);
  }

  get whole() { return axisLength(this.entry, this.axis); }
  x(at) { return kPlot.left + (at - this.view[0]) / (this.view[1] - this.view[0]) * (this.width - kPlot.left - kPlot.right); }
  at(x) { return this.view[0] + (x - kPlot.left) / (this.width - kPlot.left - kPlot.right) * (this.view[1] - this.view[0]); }
  y(address) { return this.mapBottom - address / this.scale * kPlot.map; }
  address(y) { return (this.mapBottom - y) / kPlot.map * this.scale; }

  /** The begin and end of a moment on the axis. */
  span(moment) {
    return this.axis === "order" ? [moment, moment + 1] : [this.entry.moments.begin[moment], momentEnd(this.entry, moment)];
  }

  /** The value at a point, or -1. */
  valueAt(x, y) {
    const at = this.at(x), address = this.address(y), {offset, bytes, buffer} = this.entry.values;
    for (let value = 0; value < offset.length; ++value)
      if (offset[value] <= address && address < offset[value] + bytes[value] && report.buffers.arena[buffer[value]] === this.arena) {
        const [from, to] = valueSpan(this.entry, value, this.axis);
        if (from <= at && at < to)
          return value;
      }
    return -1;
  }

  /** The persistent buffer at a point, or -1. */
  persistentAt(x, y) {
    const columns = persistentArenas(), column = Math.floor(x / (96 / columns.length));
    if (x >= 96 || column >= columns.length || y < kPlot.top || y > this.mapBottom)
      return -1;
    const address = this.address(y);
    return report.buffers.offset.findIndex((offset, at) =>
      report.buffers.arena[at] === columns[column] && offset <= address && address < offset + report.buffers.bytes[at]);
  }

  /** The moment at a point, of a stream's row or of the memory diagram; -1 if there is none. */
  momentAt(x, y) {
    const row = Math.floor((y - this.rowsTop) / kPlot.row), stream = this.streams[row], at = this.at(x);
    const {stream: streams} = this.entry.moments;
    for (let moment = 0; moment < streams.length; ++moment) {
      const [from, to] = this.span(moment);
      if (from <= at && at < to && (streams[moment] === stream || (stream === undefined && streams[moment] === 0)))
        return moment;
    }
    return -1;
  }

  draw(context) {
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    context.textBaseline = "middle";
    context.fillStyle = colour("card");
    context.fillRect(0, 0, this.width, this.height);
    this.drawPersistent(context);
    this.drawMap(context);
    drawStreams(this, context);
    this.drawTicks(context);
  }

  drawPersistent(context) {
    const columns = persistentArenas(), width = 96 / Math.max(1, columns.length);
    columns.forEach((arena, column) => {
      const left = column * width, {bytes, name} = report.arenas[arena];
      const limit = Math.max(this.y(bytes), kPlot.top); // arenas on a host or disk may be higher than the picture
      context.fillStyle = colour("plot");
      context.fillRect(left, limit, width - 2, this.mapBottom - limit);
      report.buffers.arena.forEach((each, buffer) => {
        const {offset, bytes} = report.buffers, bottom = this.y(offset[buffer]), top = Math.max(this.y(offset[buffer] + bytes[buffer]), kPlot.top);
        if (each !== arena || bottom <= kPlot.top)
          return;
        context.fillStyle = colour(kindVariable(report.kinds[report.buffers.kind[buffer]]));
        context.fillRect(left, top, width - 2, Math.max(bottom - top - (bottom - top > 3 ? 0.5 : 0), 0.3));
      });
      context.fillStyle = colour("soft");
      if (bytes > this.scale)
        for (let mark = left; mark + 3 < left + width - 2; mark += 6)
          context.fillRect(mark, kPlot.top - 3, 3, 2);
      context.textAlign = "left";
      context.fillText(clipped(context, name, width - 4), left, 12);
      if (context.measureText(bytesText(bytes)).width < width)
        context.fillText(bytesText(bytes), left, this.mapBottom + 13);
    });
  }

  drawMap(context) {
    const top = this.arena < 0 ? kPlot.top : this.y(this.bytes);
    context.fillStyle = colour("plot");
    context.fillRect(kPlot.left, top, this.width - kPlot.left - kPlot.right, this.mapBottom - top);
    if (this.arena < 0) {
      context.fillStyle = colour("soft");
      context.textAlign = "center";
      context.fillText("All that this entry writes lives on.", (kPlot.left + this.width) / 2, kPlot.top + kPlot.map / 2);
      return;
    }
    context.save();
    context.beginPath();
    context.rect(kPlot.left, kPlot.top, this.width - kPlot.left - kPlot.right, kPlot.map);
    context.clip();
    this.drawValues(context);
    context.restore();
    context.fillStyle = colour("soft");
    context.textAlign = "right";
    for (const tick of ticksBetween(0, this.scale, 7, true))
      context.fillText(tick ? bytesText(tick) : "0", kPlot.left - 8, this.y(tick));
    context.textAlign = "left";
    const title = `${report.arenas[this.arena].name}: ${bytesText(this.bytes)}`;
    context.fillText(title, kPlot.left, 12);
    this.drawPeak(context, kPlot.left + context.measureText(title).width + 12);
  }

  drawValues(context) {
    const {offset, bytes, buffer} = this.entry.values, shades = shadesOf(this.entry);
    const fills = report.kinds.map(kind => colour(kindVariable(kind))), edge = colour("plot");
    for (let value = 0; value < offset.length; ++value) {
      if (report.buffers.arena[buffer[value]] !== this.arena)
        continue;
      const [from, to] = valueSpan(this.entry, value, this.axis);
      if (to < this.view[0] || from > this.view[1])
        continue;
      const left = Math.max(this.x(from), kPlot.left - 2), right = Math.min(this.x(to), this.width);
      const top = this.y(offset[value] + bytes[value]), width = Math.max(right - left, 1), height = Math.max(this.y(offset[value]) - top, 0.6);
      context.globalAlpha = shades[value] ? 0.74 : 1;
      context.fillStyle = fills[report.buffers.kind[buffer[value]]];
      context.fillRect(left, top, width, height);
      context.globalAlpha = 1;
      if (width > 3 && height > 3) {
        context.strokeStyle = edge;
        context.lineWidth = 0.7;
        context.strokeRect(left, top, width, height);
      }
      if (width > 60 && height > 15)
        this.drawName(context, value, left, top, width, height);
    }
  }

  drawName(context, value, left, top, width, height) {
    const name = report.sources.op[this.entry.moments.source[this.entry.values.begin[value]]];
    context.fillStyle = colour("label");
    context.textAlign = "left";
    context.fillText(clipped(context, scopeOf(name) || name, width - 10), left + 5, top + height / 2);
  }

  drawPeak(context, free) {
    const peak = peakIn(this.entry, this.arena);
    if (!peak)
      return;
    const [from, to] = this.span(peak.moment), x = this.x((from + to) / 2);
    if (x < kPlot.left || x > this.width - kPlot.right)
      return;
    context.strokeStyle = context.fillStyle = colour("mark");
    context.lineWidth = 1.5;
    context.setLineDash([5, 3]);
    context.beginPath();
    context.moveTo(x, kPlot.top - 4);
    context.lineTo(x, this.mapBottom);
    context.stroke();
    context.setLineDash([]);
    const text = `peak: ${bytesText(peak.held_bytes)} held`, width = context.measureText(text).width;
    const left = Math.min(Math.max(x - width / 2, free), this.width - kPlot.right - width);
    if (left >= free)
      context.fillText(text, left, 12);
  }

  drawTicks(context) {
    context.fillStyle = colour("soft");
    context.textAlign = "center";
    const y = this.height - kPlot.ticks / 2 + 2, most = Math.floor((this.width - kPlot.left) / 90);
    for (const tick of ticksBetween(this.view[0], this.view[1], most, false)) {
      if (this.axis === "order" && !Number.isInteger(tick))
        continue;
      const text = this.axis === "order" ? momentName(this.entry, tick) : secondsText(tick), half = context.measureText(text).width / 2;
      const x = this.x(tick);
      context.fillRect(x, this.height - kPlot.ticks, 1, 4);
      if (x + half < this.width && x - half > kPlot.left - 8)
        context.fillText(text, x, y);
    }
    context.textAlign = "right";
    context.fillText(this.axis === "order" ? "instruction" : "predicted time", kPlot.left - 8, y);
  }
}

/** The bytes that the picture's height stands for: those of the largest arena that it shows of the memory of `shown`, so that all heights compare. */
function bytesOfHeight(shown) {
  const all = [...persistentArenas(), ...(shown < 0 ? [] : [shown])], space = shown < 0 ? null : report.arenas[shown].space;
  return Math.max(1, ...all.filter(arena => !space || report.arenas[arena].space === space).map(arena => report.arenas[arena].bytes));
}

const persistentArenas = () => report.arenas.map((arena, at) => arena.persistent && arena.bytes > 0 ? at : -1).filter(at => at >= 0);

/** Shortens a text to a width, with an ellipsis; empty if hardly any of it fits. */
function clipped(context, text, width) {
  if (context.measureText(text).width <= width)
    return text;
  let length = text.length;
  while (length > 2 && context.measureText(text.slice(0, length) + "\u2026").width > width)
    --length;
  return length > 2 ? text.slice(0, length) + "\u2026" : "";
}
