/**
 * The graphs of the shipped dashboard as one picture (SVG), of what a Prometheus has recorded:
 * for a campaign whose hour somebody wants to look at.
 */
import type { Prometheus, TimeRange, TimeSeries } from "./prometheus.ts";

const dashboard = new URL("../../deploy/grafana/dashboard.json", import.meta.url);
const columns = 3;
const [panelWidth, plotHeight, headHeight, lineHeight, margin] = [360, 110, 22, 11, 10];
/** Series of a panel that are named below it; all are drawn. */
const mostNamed = 6;
const colours = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf"];
const panelHeight = headHeight + plotHeight + mostNamed * lineHeight + margin;

interface Target {
  readonly expr: string;
  readonly legendFormat?: string;
}

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly Target[];
}

interface Line {
  readonly name: string;
  /** Seconds and values. */
  readonly points: readonly (readonly [number, number])[];
}

/** Panels without any data are left out. */
export async function drawDashboard(prometheus: Prometheus, range: TimeRange): Promise<string> {
  const { panels }: { panels: readonly Panel[] } = JSON.parse(await Deno.readTextFile(dashboard));
  const drawn: string[] = [];
  for (const { type, title, targets = [] } of panels) {
    if (type !== "timeseries") continue;
    const series = await Promise.all(
      targets.map(async ({ expr, legendFormat = "" }) =>
        (await prometheus.queryRange(expr, range)).map((each) => lineOf(each, legendFormat))
      ),
    );
    const lines = series.flat().filter(({ points }) => points.length > 0);
    if (lines.length > 0) drawn.push(drawPanel(title, lines, range));
  }
  const rows = Math.ceil(drawn.length / columns);
  const [width, height] = [columns * panelWidth, rows * panelHeight];
  const placed = drawn.map((panel, index) => {
    const [x, y] = [(index % columns) * panelWidth, Math.floor(index / columns) * panelHeight];
    return `<g transform="translate(${x} ${y})">${panel}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
    `font-family="sans-serif" font-size="9">\n<rect width="100%" height="100%" fill="#fff"/>\n` +
    `${placed.join("\n")}\n</svg>\n`;
}

function lineOf({ metric, values }: TimeSeries, legend: string): Line {
  const name = legend.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => metric[label] ?? "");
  const points = values.map(([second, value]) => [second, Number(value)] as const)
    .filter(([, value]) => Number.isFinite(value));
  return { name, points };
}

function drawPanel(title: string, lines: readonly Line[], { from, to }: TimeRange): string {
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value));
  const [low, high] = [Math.min(0, ...values), Math.max(...values)];
  const height = high === low ? 1 : high - low;
  const plotWidth = panelWidth - 2 * margin;
  const place = ([second, value]: readonly [number, number]): string => {
    const x = margin + (second - from) / (to - from) * plotWidth;
    const y = headHeight + plotHeight - (value - low) / height * plotHeight;
    return `${Math.round(x)} ${Math.round(y)}`;
  };
  const paths = lines.map(({ points }, index) =>
    `<path d="M${corners(points).map(place).join("L")}" fill="none" ` +
    `stroke="${colours[index % colours.length]}"/>`
  );
  const names = lines.slice(0, mostNamed).map(({ name }, index) => {
    const y = headHeight + plotHeight + (index + 1) * lineHeight;
    const more = index === mostNamed - 1 ? lines.length - mostNamed : 0;
    const text = more > 0 ? `${name} and ${more} more` : name;
    return `<text x="${margin}" y="${y}" fill="${colours[index]}">${escaped(text)}</text>`;
  });
  const minutes = Math.round((to - from) / 60);
  const head = `${title}: ${shown(low)} to ${shown(high)}, ${minutes} minutes`;
  return `<rect x="${margin}" y="${headHeight}" width="${plotWidth}" height="${plotHeight}" ` +
    `fill="#f6f6f6"/><text x="${margin}" y="${headHeight - 6}" font-weight="bold">` +
    `${escaped(head)}</text>${paths.join("")}${names.join("")}`;
}

/** Without those between two others of the same value: most graphs are flat. */
function corners(points: Line["points"]): Line["points"] {
  return points.filter(([, value], index) =>
    points[index - 1]?.[1] !== value || points[index + 1]?.[1] !== value
  );
}

function shown(value: number): string {
  return new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 }).format(
    value,
  );
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
