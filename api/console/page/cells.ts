/** Cells of one size, some of them lit: the mark of Static, and the pictures of agents. */
import { markLines } from "../icon.ts";
import { html, type VNode } from "./ui.ts";

const [side, step] = [5, 6];

export function Cells({ lines }: { lines: readonly (readonly boolean[])[] }): VNode {
  const [width, height] = [(lines[0]?.length ?? 0) * step - 1, lines.length * step - 1];
  return html`
    <svg class="cells" viewBox=${`0 0 ${width} ${height}`} aria-hidden="true" focusable="false">
      ${lines.flatMap((line, row) =>
        line.map((isLit, column) =>
          html`<rect class=${isLit ? "lit" : "dim"} x=${column * step} y=${
            row * step
          } width=${side} height=${side} rx="1" />`
        )
      )}
    </svg>
  `;
}

export function Brand({ text = "Static" }: { text?: string }): VNode {
  return html`<span class="brand"><${Cells} lines=${markLines} /> ${text}</span>`;
}
