/** One channel: its messages, its members, and the number to compare. */
import type { ChannelMember } from "static-sdk";
import { html, useEffect, useRef, useState, type VNode } from "../ui.ts";
import { agentInWords, ownersInWords } from "../../../../proto/mod.ts";
import { InviteLink } from "./invite_link.ts";
import { type Line, type Room, type Seen, whoIs } from "./room.ts";
import type { TabAgent } from "./tab_agent.ts";

export function Chat({ agent, room }: { agent: TabAgent; room: Room }): VNode {
  const { channel } = room;
  const members = channel?.members() ?? [];
  return html`
    <section class="card" aria-labelledby="chat-title">
      <h2 id="chat-title" class="text">${room.name}</h2>
      <${Said} lines=${room.lines} />
      <${Say} room=${room} others=${members.filter(({ self }) => !self)} />
      <${InviteLink} agent=${agent} name=${room.name} />
      ${channel && html`<${Members} channel=${channel} />`}
    </section>
  `;
}

function Members({ channel }: { channel: NonNullable<Room["channel"]> }): VNode {
  const members = channel.members();
  return html`
    <details>
      <summary>${members.length} ${members.length === 1 ? "member" : "members"}, and the number to compare</summary>
      <p>${channel.name} — anyone can choose this name. Owners: ${ownersInWords(members)}</p>
      <ul class="items">
        ${members.map((member) =>
          html`<li key=${member.agentId}><code>${member.agentId}</code> <span class="text grow">${
            agentInWords(member)
          }${marksOf(member)}</span></li>`
        )}
      </ul>
      <p>All members of the channel see the same number. Compare it over another way, such as a call: then nobody stands between you.</p>
      <p><code class="fingerprint">${channel.fingerprint()}</code></p>
    </details>
  `;
}

function marksOf(
  { owner, absent, resembles }: Pick<ChannelMember, "owner" | "absent" | "resembles">,
): string {
  return `${owner ? ", owner" : ""}${absent ? ", not back yet" : ""}${
    resembles.length === 0 ? "" : `, looks like ${resembles.join(" and ")}`
  }`;
}

function Said({ lines }: { lines: readonly Line[] }): VNode {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    ref.current?.scrollTo(0, ref.current.scrollHeight);
  }, [lines.length]);
  return html`
    <div class="said-lines" ref=${ref} role="log" tabindex="0" aria-label="Messages">
      ${lines.length === 0 && html`<p class="quiet">Nothing was said since this page was opened.</p>`}
      ${lines.map((line) => html`<${Spoken} key=${line.id} line=${line} />`)}
    </div>
  `;
}

function Spoken({ line }: { line: Line }): VNode {
  const { kind, who, text, state, problem, again, answer } = line;
  return html`
    <div class=${`line ${kind}`}>
      <p class="quiet"><strong class="text">${who}</strong>${kind === "question"
        ? " asks"
        : kind === "reply"
        ? " replies"
        : ""} ${state === "sending"
        ? "· sending …"
        : state === "waiting" && kind === "asked"
        ? "· waits for the reply"
        : ""}</p>
      <p class="text said-text">${text}</p>
      ${problem &&
        html`<p class="problem">${problem} ${
          again && html`<button type="button" onClick=${again}>Send it again</button>`
        }</p>`}
      ${answer && state === "waiting" && html`<${Answer} answer=${answer} who=${who} />`}
    </div>
  `;
}

function Answer({ answer, who }: { answer: (text: string) => void; who: string }): VNode {
  const send = (event: Event): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement; // cast: the form's own event
    answer(String(new FormData(form).get("answer") ?? ""));
  };
  return html`
    <form method="post" class="row" onSubmit=${send}>
      <input class="grow" name="answer" aria-label=${`Answer to ${who}`} autocomplete="off" />
      <button type="submit">Answer</button>
    </form>
  `;
}

/** Typed text belongs to the room at once: a slow relay never holds up the next message, and nothing typed is lost. */
function Say(
  { room, others }: { room: Room; others: readonly Seen[] },
): VNode {
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
  return html`
    <form method="post" onSubmit=${send}>
      <p class="field"><label for="addressee">To</label>
        <select id="addressee" value=${to}
          onChange=${(event: { currentTarget: HTMLSelectElement }) => setTo(event.currentTarget.value)}>
          <option value="">everybody: a message</option>
          ${others.map((other) =>
            html`<option key=${other.agentId} value=${other.agentId}>${whoIs(other)}: a request</option>`
          )}
        </select></p>
      <div class="row ends">
        <p class="field"><label for="message">${asked === undefined ? "Message" : `Request to ${whoIs(asked)}`}</label>
          <input id="message" name="message" autocomplete="off" maxlength="10000" /></p>
        <p><button type="submit" class="main">Send</button></p>
      </div>
    </form>
  `;
}
