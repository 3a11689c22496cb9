/** Agents as the chat shows them: picture, name, how far the name can be believed, id. */
import { Cells } from "../cells.ts";
import { html, type VNode } from "../ui.ts";
import type { Speaker } from "./conversation.ts";
import { isKnown, namingOf } from "./display_name.ts";

/** Cells along one side of a picture. */
const side = 5;
const hues = 6;

/** Cells that follow from the agent id: two agents that claim one name look different. */
export function Picture({ of: { agentId } }: { of: Pick<Speaker, "agentId"> }): VNode {
  const bits = hashOf(agentId);
  const lines = Array.from({ length: side }, (_, row) => {
    const [outer, inner, middle] = [0, 1, 2].map((cell) => (bits >>> (3 * row + cell)) % 2 === 1);
    return [outer, inner, middle, inner, outer].map((isLit) => isLit === true);
  });
  return html`<span class=${`picture hue-${
    (bits >>> (3 * side)) % hues
  }`} aria-hidden="true"><${Cells} lines=${lines} /></span>`;
}

/** FNV-1a, in 32 bits: for looks alone. */
function hashOf(text: string): number {
  const hash = [...text].reduce(
    (sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 0x01000193),
    0x811c9dc5,
  );
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Name, what to think of it, and the id. */
export function Name({ of: agent }: { of: Speaker }): VNode {
  const { name, standing } = namingOf(agent);
  const mark = isKnown(agent) ? "good" : agent.keyUnchanged ? "quiet" : "problem";
  return html`
    <strong class="text">${name}</strong>${standing &&
      html`<span class=${`chip ${mark}`}>${standing}</span><code class="quiet">${agent.agentId}</code>`}
  `;
}
