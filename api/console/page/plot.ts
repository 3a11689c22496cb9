/**
 * The plot of messages by day, a file of its own: nothing else needs it. Colours follow the page's,
 * light or dark.
 */
import UPlot from "uplot";

export interface Plot {
  remove(): void;
}

const dayMs = 24 * 3600 * 1000;
/** In the page's unit of length: large screens have larger letters. */
const [heightRem, fontRem, labelsRem, numbersRem] = [13.75, 0.75, 2.5, 3.75];

export function drawPlot(
  element: HTMLElement,
  days: readonly { readonly day: string; readonly messages: number }[],
): Plot {
  const xs = days.map(({ day }) => Date.parse(day) / 1000);
  const ys = days.map(({ messages }) => messages);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const drawn: { plot?: UPlot; unit?: number } = {};
  const draw = (): void => {
    drawn.plot?.destroy();
    drawn.unit = unit();
    drawn.plot = new UPlot(optionsOf(element), [xs, ys], element);
  };
  draw();
  dark.addEventListener("change", draw);
  const observer = new ResizeObserver(() => {
    if (unit() === drawn.unit) drawn.plot?.setSize(sizeOf(element));
    else draw();
  });
  observer.observe(element);
  return {
    remove: () => {
      dark.removeEventListener("change", draw);
      observer.disconnect();
      drawn.plot?.destroy();
    },
  };
}

/** Pixels of one rem. */
function unit(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}

function sizeOf(element: HTMLElement): { width: number; height: number } {
  return { width: Math.max(200, element.clientWidth), height: Math.round(heightRem * unit()) };
}

function optionsOf(element: HTMLElement): UPlot.Options {
  const color = (name: string): string => getComputedStyle(element).getPropertyValue(name);
  const axis = {
    font: `${Math.round(fontRem * unit())}px system-ui, sans-serif`,
    stroke: color("--quiet"),
    grid: { stroke: color("--line"), width: 1 },
    ticks: { stroke: color("--line"), width: 1 },
  };
  const bars = UPlot.paths.bars?.({ size: [0.7, 40] });
  return {
    ...sizeOf(element),
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: (_, low, high) => [low - dayMs / 2000, high + dayMs / 2000] },
      y: { range: (_, _low, high) => [0, Math.max(4, high * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: Math.round(labelsRem * unit()),
        space: 4 * unit(),
        values: (_, splits) => splits.map((at) => new Date(at * 1000).toISOString().slice(5, 10)),
      },
      {
        ...axis,
        size: Math.round(numbersRem * unit()),
        space: 2 * unit(),
        incrs: [
          1,
          2,
          5,
          10,
          20,
          50,
          100,
          200,
          500,
          1e3,
          2e3,
          5e3,
          1e4,
          2e4,
          5e4,
          1e5,
          1e6,
          1e7,
          1e8,
        ],
      },
    ],
    series: [
      {},
      {
        stroke: color("--accent"),
        fill: color("--accent"),
        width: 0,
        ...(bars && { paths: bars }),
        points: { show: false },
      },
    ],
  };
}
