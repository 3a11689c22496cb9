/** The lines of a conversation. A request and its replies are one. */
import { html, useEffect, useRef, type VNode } from "../ui.ts";
import {
  type ConversationEntry,
  type ConversationMessage,
  type ConversationReply,
  type ConversationRequest,
  isForReader,
  rowsOf,
  type Speaker,
} from "./conversation.ts";
import { InviteLink } from "./invite_link.ts";
import { namingOf } from "./display_name.ts";
import type { ChatRoom } from "./room.ts";
import type { TabAgent } from "./tab_agent.ts";
import { Name, Picture } from "./agent_view.ts";

/** A reader who has not scrolled further up than this reads the newest. */
const endPixels = 80;

export function Said({ agent, room }: { agent: TabAgent; room: ChatRoom }): VNode {
  const { entries } = room.conversation;
  const ref = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const look = (): void => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = ref.current ?? {};
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < endPixels;
  };
  // A reader who looks at something older is left there. Each time, because it may have been hidden
  // meanwhile.
  useEffect(() => {
    if (isAtEnd.current) ref.current?.scrollTo(0, ref.current.scrollHeight);
  });
  return html`
    <div class="said-lines" ref=${ref} role="log" tabindex="0" aria-label="Messages"
      onScroll=${look}>
      ${entries.length === 0 && html`<${Nothing} agent=${agent} room=${room} />`}
      ${rowsOf(entries, dayOf).map((row) =>
        row.kind === "day"
          ? html`<p class="day" key=${`day ${row.atMs}`}><span>${dayInWords(row.atMs)}</span></p>`
          : html`<${Line} key=${row.entry.id} room=${room} entry=${row.entry} isNamed=${row.isNamed} />`
      )}
    </div>
  `;
}

function Nothing({ agent, room }: { agent: TabAgent; room: ChatRoom }): VNode {
  const isAlone = (room.channel?.members().length ?? 0) < 2;
  if (!isAlone || agent.isGuest) {
    return html`
      <p
        class="empty">Nothing was said since this page was opened. Say something below: everybody in the channel reads
            it, and nobody else.</p>
    `;
  }
  return html`
    <div class="empty">
      <p>Nobody else is here yet. Make a link and give it to somebody: it lets one more agent in, while this tab is open.</p>
      <${InviteLink} agent=${agent} name=${room.name} />
    </div>
  `;
}

function Line(
  { room, entry, isNamed }: { room: ChatRoom; entry: ConversationEntry; isNamed: boolean },
): VNode {
  switch (entry.kind) {
    case "news":
      return html`<p class="news text">${entry.text} <${Clock} atMs=${entry.atMs} /></p>`;
    case "message":
      return html`<${Spoken} room=${room} message=${entry} isNamed=${isNamed} />`;
    case "request":
      return html`<${Asked} room=${room} request=${entry} />`;
  }
}

function Spoken(
  { room, message, isNamed }: { room: ChatRoom; message: ConversationMessage; isNamed: boolean },
): VNode {
  const { from, text, atMs, state } = message;
  return html`
    <div class=${`entry ${from.self === true ? "mine" : "theirs"} ${isNamed ? "named" : ""}`}>
      ${isNamed && html`
        <${Picture} of=${from} />
        <p class="head">
          <${Name} of=${from} />
          <${Clock} atMs=${atMs} />
        </p>
      `}
      <p class="text said-text">${text}</p>
      ${state === "sending" && html`<small>sending …</small>`}
      <${Problem} room=${room} entry=${message} />
    </div>
  `;
}

/** A request and what was answered, as one. */
function Asked({ room, request }: { room: ChatRoom; request: ConversationRequest }): VNode {
  const { id, from, to, text, atMs, state, replies } = request;
  const isMine = from.self === true;
  return html`
    <div class=${`entry named request ${isMine ? "asked" : "question"}`}>
      <${Picture} of=${from} />
      <p class="head"><${Name} of=${from} /> <span>${isMine ? "ask" : "asks"} ${to.map(addressOf)
        .join(", ")}</span>
        <${Clock} atMs=${atMs} /></p>
      <p class="text said-text">${text}</p>
      ${replies.map((reply, index) => html`<${Answered} key=${index} reply=${reply} />`)}
      ${state === "waiting" && isMine && html`<small>waits for the reply</small>`}
      ${isForReader(request) &&
        html`<${Answer} send=${(answer: string) => room.answer(id, answer)} who=${from} />`}
      <${Problem} room=${room} entry=${request} />
    </div>
  `;
}

function addressOf(agent: Speaker): string {
  return agent.self === true ? "you" : namingOf(agent).name;
}

function Answered({ reply: { from, text, atMs, isError } }: { reply: ConversationReply }): VNode {
  return html`
    <div class="reply">
      <p
        class="head"><span class="unseen">Reply of</span> <${Name} of=${from} />${isError ===
            true &&
          html`<span class="chip problem">failed</span>`} <${Clock} atMs=${atMs} /></p>
      <p class="text said-text">${text}</p>
    </div>
  `;
}

function Problem(
  { room, entry }: { room: ChatRoom; entry: ConversationMessage | ConversationRequest },
): VNode {
  if (entry.problem === undefined) return html``;
  return html`<p class="problem text">${entry.problem} ${
    entry.from.self === true &&
    html`<button type="button" onClick=${() => room.again(entry.id)}>Send it again</button>`
  }</p>`;
}

function Answer({ send, who }: { send: (text: string) => void; who: Speaker }): VNode {
  const submit = (event: Event): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement; // cast: the form's own event
    send(String(new FormData(form).get("answer") ?? ""));
    document.getElementById("message")?.focus();
  };
  return html`
    <form method="post" class="answer" onSubmit=${submit}>
      <input name="answer" aria-label=${`Answer to ${namingOf(who).name}`} autocomplete="off" />
      <button type="submit">Answer</button>
    </form>
  `;
}

function Clock({ atMs }: { atMs: number }): VNode {
  const at = new Date(atMs);
  return html`<time class="quiet" datetime=${at.toISOString()}>${
    at.toLocaleTimeString(undefined, { hour: "numeric", minute: "2-digit" })
  }</time>`;
}

function dayOf(atMs: number): string {
  return new Date(atMs).toDateString();
}

function dayInWords(atMs: number): string {
  const yesterday = new Date();
  yesterday.setDate(yesterday.getDate() - 1);
  if (dayOf(atMs) === dayOf(Date.now())) return "Today";
  if (dayOf(atMs) === yesterday.toDateString()) return "Yesterday";
  return new Date(atMs).toLocaleDateString(undefined, { dateStyle: "full" });
}
