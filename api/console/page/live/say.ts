/** The field for what the reader says: to everybody, or as a request to one member. */
import { html, useState, type VNode } from "../ui.ts";
import type { Speaker } from "./conversation.ts";
import { namingOf } from "./display_name.ts";
import type { ChatRoom } from "./room.ts";

/**
 * Typed text belongs to the room at once: a slow relay never holds up the next message, and nothing
 * typed is lost.
 */
export function Say({ room, others }: { room: ChatRoom; others: readonly Speaker[] }): VNode {
  const [to, setTo] = useState("");
  const asked = others.find(({ agentId }) => agentId === to);
  const send = (event: Event): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement; // cast: the form's own event
    // cast: it stands below
    const field = form.elements.namedItem("message") as HTMLTextAreaElement;
    const text = field.value;
    if (text.trim() === "") return;
    if (asked === undefined) room.say(text);
    else room.request(asked, text);
    field.value = "";
  };
  // Enter sends; with Shift it is a new line. While letters are being composed it belongs to the
  // keyboard.
  const press = (event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }): void => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  };
  return html`
    <form method="post" class="say" onSubmit=${send}>
      <label for="addressee" class="unseen">To</label>
      <select id="addressee" hidden=${others.length === 0} value=${asked === undefined ? "" : to}
        onChange=${(event: { currentTarget: HTMLSelectElement }) =>
          setTo(event.currentTarget.value)}>
        <option value="">To everybody</option>
        ${others.map((other) =>
          html`<option key=${other.agentId} value=${other.agentId}>Ask ${
            namingOf(other).name
          } ${other.agentId}</option>`
        )}
      </select>
      <label for="message" class="unseen">${asked === undefined
        ? "Message"
        : `Request to ${namingOf(asked).name}`}</label>
      <textarea id="message" name="message" rows="1" autocomplete="off" maxlength="10000"
        onKeyDown=${press}
        placeholder=${asked === undefined ? "Message" : "Request"}></textarea>
      <button type="submit" class="main">Send</button>
    </form>
  `;
}
