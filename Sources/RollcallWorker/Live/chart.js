// A chart of the last minutes that scrolls with time. The pointer or the arrow keys select a value.

import { announce, make, makeSVG } from "./dom.js";
import { SPAN } from "./history.js";
import { DASH, figure, spoken, withUnit } from "./words.js";

const HEIGHT = 132;
const INSET = { left: 44, right: 10, top: 8, bottom: 20 };
/** A line is interrupted if no value arrives for this long, in milliseconds. */
const GAP = 3500;
const STEP = 1000;

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

export class Chart {
  #points = [];
  #now = 0;
  #reading = null;
  #width = 0;

  /** @param lines the figures to plot, at most two, with their names. */
  constructor(parent, { title, unit = "", lines }) {
    Object.assign(this, { title, unit, lines });
    this.#build(parent);
    new ResizeObserver(([entry]) => {
      this.#width = entry.contentRect.width;
      this.#render();
    }).observe(this.picture);
    this.picture.addEventListener("pointermove", (event) => this.#readAt(event.offsetX));
    this.picture.addEventListener("pointerleave", () => this.#read(null));
    this.picture.addEventListener("blur", () => this.#read(null));
    this.picture.addEventListener("keydown", (event) => this.#pressed(event));
  }

  draw(points, now) {
    [this.#points, this.#now] = [points, now];
    if (!points.includes(this.#reading)) this.#reading = null;
    this.#render();
    this.#tell();
    this.#moveOn();
  }

  #build(parent) {
    this.values = this.lines.map((line, index) =>
      make("span.value", { classes: `line-${index}` }, make("b", {}, DASH), " ", make("span.quiet", {}, line.name)));
    this.picture = makeSVG("svg", { tabindex: "0", role: "img" });
    this.reading = make("p.reading");
    const caption = make("figcaption", {}, make("h2", {}, this.title), make("p.values", {}, ...this.values));
    parent.append(make("figure.card.chart", {}, caption, this.picture, this.reading));
  }

  #render() {
    if (!this.#width) return;
    const scale = this.#scale();
    this.picture.replaceChildren(...this.#axes(scale), this.#plot(scale), ...this.#mark(scale));
    const last = this.#points.at(-1) ?? {};
    this.lines.forEach((line, index) => {
      const text = withUnit(last[line.of], this.unit);
      const value = this.values[index].firstElementChild;
      if (value.textContent !== text) value.textContent = text;
    });
    // A screen reader would announce the focused chart every second.
    if (document.activeElement !== this.picture) this.picture.setAttribute("aria-label", this.#summary(last));
  }

  #scale() {
    const start = this.#now - SPAN;
    const shown = this.#points.filter((point) => point.at >= start - 2 * STEP);
    const values = shown.flatMap((point) => this.lines.map((line) => point[line.of] ?? 0));
    const step = niceStep(Math.max(...values, this.unit === "ms" ? 0.1 : 1));
    const top = step * Math.max(1, Math.ceil(Math.max(...values, 0) / step));
    const [left, right] = [INSET.left, Math.max(INSET.left + 1, this.#width - INSET.right)];
    const [low, high] = [HEIGHT - INSET.bottom, INSET.top];
    return {
      shown, step, top, left, right, low, high,
      x: (at) => left + ((at - start) / SPAN) * (right - left),
      y: (value) => low - (value / top) * (low - high),
    };
  }

  #axes({ step, top, left, right, low, x, y }) {
    const parts = [];
    for (let value = 0; value <= top * 1.001; value += step) {
      parts.push(makeSVG("line", { class: value ? "grid" : "axis", x1: left, x2: right, y1: y(value), y2: y(value) }));
      parts.push(label(figure(Math.round(value * 1000) / 1000), left - 6, y(value) + 3.5, "end"));
    }
    for (let minutes = 0; minutes <= SPAN / 60_000; minutes += 1) {
      const at = x(this.#now - minutes * 60_000);
      const anchor = minutes === 0 ? "end" : minutes * 60_000 === SPAN ? "start" : "middle";
      const text = anchor === "start" ? `−${minutes} min` : `−${minutes}`;
      parts.push(label(minutes === 0 ? "now" : text, at, low + 14, anchor));
    }
    return parts;
  }

  /** A nested frame clips the moving lines at the axes. */
  #plot({ shown, left, right, low, high, x, y }) {
    const frame = makeSVG("svg", {
      x: left, y: high - 4, width: right - left, height: low - high + 8, viewBox: `${left} ${high - 4} ${right - left} ${low - high + 8}`,
    });
    this.moving = makeSVG("g");
    this.lines.forEach((line, index) => {
      for (const run of runs(shown, line.of)) {
        const path = run.map((point) => `${x(point.at).toFixed(1)},${y(point[line.of]).toFixed(1)}`).join(" L");
        const [from, to] = [x(run[0].at), x(run.at(-1).at)];
        if (index === 0) this.moving.append(makeSVG("path", { class: "area", d: `M${from},${low} L${path} L${to},${low} Z` }));
        this.moving.append(makeSVG("path", { class: `stroke line-${index}`, d: `M${path}${run.length === 1 ? " h.1" : ""}` }));
      }
    });
    frame.append(this.moving);
    return frame;
  }

  #mark({ low, high, x, y }) {
    const point = this.#reading;
    if (!point) return [];
    const at = x(point.at);
    const dots = this.lines
      .map((line, index) => ({ value: point[line.of], index }))
      .filter(({ value }) => value !== undefined)
      .map(({ value, index }) => makeSVG("circle", { class: `dot line-${index}`, cx: at, cy: y(value), r: 3.5 }));
    return [makeSVG("line", { class: "cursor", x1: at, x2: at, y1: high, y2: low }), ...dots];
  }

  /** Slides in the values of the last second. */
  #moveOn() {
    if (reduced.matches || !this.moving || document.hidden) return;
    const width = ((this.#width - INSET.left - INSET.right) * STEP) / SPAN;
    this.moving.animate(
      [{ transform: `translateX(${width}px)` }, { transform: "none" }], { duration: STEP, easing: "linear" });
  }

  #readAt(offset) {
    const { shown, x } = this.#scale();
    this.#read(nearest(shown, (point) => Math.abs(x(point.at) - offset)));
  }

  #pressed(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -30, PageDown: 30, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Escape") this.#read(null);
    if (steps === undefined) return;
    event.preventDefault();
    const place = this.#reading ? this.#points.indexOf(this.#reading) + steps : this.#points.length - 1;
    this.#read(this.#points.at(Math.min(Math.max(place, 0), this.#points.length - 1)));
    announce(this.reading.textContent);
  }

  #read(point) {
    this.#reading = point ?? null;
    this.#render();
    this.#tell();
  }

  /** Updates the age of the selected value while it is shown. */
  #tell() {
    const text = this.#reading ? this.#words(this.#reading) : "";
    if (this.reading.textContent !== text) this.reading.textContent = text;
  }

  #words(point) {
    const values = this.lines.map((line) => `${withUnit(point[line.of], this.unit)} ${line.name}`);
    return `${spoken(this.#now - point.at)} ago: ${values.join(", ")}`;
  }

  #summary(last) {
    const values = this.lines.map((line) => `${line.name} ${withUnit(last[line.of], this.unit)}`);
    return `${this.title}, the last five minutes. Now ${values.join(", ")}. Arrow keys read earlier values.`;
  }
}

function label(text, x, y, anchor) {
  const element = makeSVG("text", { x, y, "text-anchor": anchor });
  element.textContent = text;
  return element;
}

/** The points with this figure, split where values are missing. */
function runs(points, of) {
  const pieces = [];
  let last;
  for (const point of points) {
    if (point[of] === undefined) last = undefined;
    else if (last && point.at - last.at <= GAP) pieces.at(-1).push((last = point));
    else pieces.push([(last = point)]);
  }
  return pieces;
}

function nearest(points, distance) {
  return points.reduce((best, point) => (!best || distance(point) < distance(best) ? point : best), null);
}

/** A step of 1, 2 or 5 times a power of ten, so that two or three steps reach the maximum. */
function niceStep(most) {
  const rough = most / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
}
