/** The conversation of a channel: what was said, and what its reader says. */
import { html, useEffect, useRef, useState, type VNode } from "../ui.ts";
import { Doors } from "./channel_list.ts";
import { ConnectionButton } from "./connection.ts";
import {
  type Entry,
  isForReader,
  type Message,
  type Reply,
  type Request,
  rowsOf,
  type Speaker,
} from "./conversation.ts";
import { InvitationCard } from "./invitation_card.ts";
import { InviteLink } from "./invite_link.ts";
import type { Pane } from "./pane.ts";
import type { Room } from "./room.ts";
import type { TabAgent } from "./tab_agent.ts";
import { Name, namingOf, Picture } from "./who.ts";

interface ChatProps {
  readonly agent: TabAgent;
  readonly room: Room | undefined;
  readonly link: string | undefined;
  readonly onRoom: (room: Room) => void;
  readonly onPane: (pane: Pane) => void;
}

export function Chat({ agent, room, link, onRoom, onPane }: ChatProps): VNode {
  const unread = agent.rooms.reduce((sum, each) => sum + (each === room ? 0 : each.conversation.unread), 0);
  const members = room?.channel?.members() ?? [];
  return html`
    <section class="live-talk" aria-labelledby="chat-title">
      <div class="bar">
        ${!agent.isGuest &&
          html`<button type="button" class="narrow" aria-label="Channels" onClick=${() => onPane("channels")}>‹${
            unread > 0 && html`<span class="badge">${unread}<span class="unseen"> unread</span></span>`
          }</button>`}
        <h2 id="chat-title" class="text">${room?.name ?? (link === undefined ? "No channel yet" : "Invitation")}</h2>
        <${ConnectionButton} agent=${agent} />
        ${(room !== undefined || !agent.isGuest) &&
          html`<button type="button" class="narrow details" onClick=${() => onPane("details")}>${
            members.length === 0 ? "Privacy" : members.length === 1 ? "1 member" : `${members.length} members`
          }</button>`}
      </div>
      ${link && html`<${InvitationCard} key=${link} agent=${agent} link=${link} onRoom=${onRoom} />`}
      ${room === undefined ? html`<${NoRoom} agent=${agent} isInvited=${link !== undefined} onRoom=${onRoom} />` : html`
        <${Said} key=${room.name} agent=${agent} room=${room} />
        <${Say} key=${`say ${room.name}`} room=${room} others=${members.filter(({ self }) => !self)} />
      `}
    </section>
  `;
}

/** The next thing to do, where there is no conversation. */
function NoRoom({ agent, isInvited, onRoom }: Pick<ChatProps, "agent" | "onRoom"> & { isInvited: boolean }): VNode {
  if (agent.isGuest || (isInvited && agent.state !== "failed")) return html``;
  switch (agent.state) {
    case "starting":
      return html`<p class="empty">Connecting …</p>`;
    case "off":
    case "failed":
      return html`
        <div class="empty">
          <p class="text">${agent.problem ?? "This tab's agent is not connected."}</p>
          <p><button type="button" class="main" onClick=${() => void agent.start(agent.options)}>Connect</button></p>
        </div>
      `;
    case "on":
      return html`
        <div class="empty">
          <p>This tab is an agent of its own, and it is in no channel yet. What it says is encrypted here and decrypted by the
            others' programs; the relay between them has no key.</p>
          <${Doors} agent=${agent} onRoom=${onRoom} />
        </div>
      `;
  }
}

function Said({ agent, room }: { agent: TabAgent; room: Room }): VNode {
  const { entries } = room.conversation;
  const ref = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const look = (): void => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = ref.current ?? {};
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < 80;
  };
  // A reader who looks at something older is left there.
  useEffect(() => {
    if (isAtEnd.current) ref.current?.scrollTo(0, ref.current.scrollHeight);
  }, [room.conversation]);
  return html`
    <div class="said-lines" ref=${ref} role="log" tabindex="0" aria-label="Messages" onScroll=${look}>
      ${entries.length === 0 && html`<${Nothing} agent=${agent} room=${room} />`}
      ${rowsOf(entries, dayOf).map((row) =>
        row.kind === "day"
          ? html`<p class="day" key=${`day ${row.atMs}`}><span>${dayInWords(row.atMs)}</span></p>`
          : html`<${Line} key=${row.entry.id} room=${room} entry=${row.entry} isNamed=${row.isNamed} />`
      )}
    </div>
  `;
}

function Nothing({ agent, room }: { agent: TabAgent; room: Room }): VNode {
  const isAlone = (room.channel?.members().length ?? 0) < 2;
  if (!isAlone || agent.isGuest) {
    return html`<p class="empty">Nothing was said since this page was opened. Say something below: everybody in the channel reads
      it, and nobody else.</p>`;
  }
  return html`
    <div class="empty">
      <p>Nobody else is here yet. Make a link and give it to somebody: it lets one more agent in, while this tab is open.</p>
      <${InviteLink} agent=${agent} name=${room.name} />
    </div>
  `;
}

function Line({ room, entry, isNamed }: { room: Room; entry: Entry; isNamed: boolean }): VNode {
  switch (entry.kind) {
    case "news":
      return html`<p class="news text">${entry.text} <${Clock} atMs=${entry.atMs} /></p>`;
    case "message":
      return html`<${Spoken} room=${room} message=${entry} isNamed=${isNamed} />`;
    case "request":
      return html`<${Asked} room=${room} request=${entry} />`;
  }
}

function Spoken({ room, message, isNamed }: { room: Room; message: Message; isNamed: boolean }): VNode {
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
function Asked({ room, request }: { room: Room; request: Request }): VNode {
  const { id, from, to, text, atMs, state, replies } = request;
  const isMine = from.self === true;
  return html`
    <div class=${`entry named request ${isMine ? "asked" : "question"}`}>
      <${Picture} of=${from} />
      <p class="head"><${Name} of=${from} /> <span>${isMine ? "ask" : "asks"} ${to.map(addressOf).join(", ")}</span>
        <${Clock} atMs=${atMs} /></p>
      <p class="text said-text">${text}</p>
      ${replies.map((reply, index) => html`<${Answered} key=${index} reply=${reply} />`)}
      ${state === "waiting" && isMine && html`<small>waits for the reply</small>`}
      ${isForReader(request) && html`<${Answer} send=${(answer: string) => room.answer(id, answer)} who=${from} />`}
      <${Problem} room=${room} entry=${request} />
    </div>
  `;
}

function addressOf(agent: Speaker): string {
  return agent.self === true ? "you" : namingOf(agent).name;
}

function Answered({ reply: { from, text, atMs, isError } }: { reply: Reply }): VNode {
  return html`
    <div class="reply">
      <p
        class="head"><span class="unseen">Reply of</span> <${Name} of=${from} />${isError === true &&
          html`<span class="chip problem">failed</span>`} <${Clock} atMs=${atMs} /></p>
      <p class="text said-text">${text}</p>
    </div>
  `;
}

function Problem({ room, entry }: { room: Room; entry: Message | Request }): VNode {
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

/** Typed text belongs to the room at once: a slow relay never holds up the next message, and nothing typed is lost. */
function Say({ room, others }: { room: Room; others: readonly Speaker[] }): VNode {
  const [to, setTo] = useState("");
  const asked = others.find(({ agentId }) => agentId === to);
  const send = (event: Event): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement; // cast: the form's own event
    const text = String(new FormData(form).get("message") ?? "");
    if (text.trim() === "") return;
    if (asked === undefined) room.say(text);
    else room.request(asked, text);
    form.reset();
  };
  // Enter sends; with Shift it is a new line. While letters are being composed it belongs to the keyboard.
  const press = (event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }): void => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  };
  return html`
    <form method="post" class="say" onSubmit=${send}>
      <label for="addressee" class="unseen">To</label>
      <select id="addressee" hidden=${others.length === 0} value=${asked === undefined ? "" : to}
        onChange=${(event: { currentTarget: HTMLSelectElement }) => setTo(event.currentTarget.value)}>
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
      <textarea id="message" name="message" rows="1" autocomplete="off" maxlength="10000" onKeyDown=${press}
        placeholder=${asked === undefined ? "Message" : "Request"}></textarea>
      <button type="submit" class="main">Send</button>
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
