/**
 * The frame around all pages: navigation, announcements, and the session. A session that ends does not take the page away: a
 * dialog asks for the password above it, and everything goes on as it was.
 */
import { AccountPage } from "./account.ts";
import { type ConsoleContext, ContextProvider, useConsole } from "./context.ts";
import { Action, Dialog } from "./elements.ts";
import { Entrance, FirstKey, LogIn } from "./entrance.ts";
import { follow, useAnnouncement, usePath, useTitle } from "./frame.ts";
import { HomePage } from "./home.ts";
import { KeysPage } from "./keys.ts";
import { LiveHost, type LivePageName } from "./live_host.ts";
import type { Service, SignIn } from "./service.ts";
import { html, useCallback, useEffect, useMemo, useState, type VNode } from "./ui.ts";

interface Page {
  readonly path: string;
  readonly name: string;
  /** Undefined where this tab's agent is needed. */
  readonly show?: () => VNode;
  readonly live?: LivePageName;
}

const base = "/console";
const pages: readonly Page[] = [
  { path: base, name: "Home", show: () => html`<${HomePage} />` },
  { path: `${base}/keys`, name: "Keys", show: () => html`<${KeysPage} />` },
  { path: `${base}/channels`, name: "Channels", live: "channels" },
  { path: `${base}/live`, name: "Live", live: "live" },
  { path: `${base}/account`, name: "Account", show: () => html`<${AccountPage} />` },
];

export function App({ service }: { service: Service }): VNode {
  const signIn = useSignIn(service);
  const [path, go] = usePath();
  const [said, say] = useAnnouncement();
  const [firstKey, setFirstKey] = useState<string | undefined>(undefined);
  const context = useMemo<ConsoleContext>(() => ({ service, say, go }), [service, say, go]);
  const keyKept = useCallback(() => setFirstKey(undefined), []);
  const key = firstKey && html`<${FirstKey} secret=${firstKey} onDone=${keyKept} />`;
  const inside = (): VNode => {
    switch (signIn.state) {
      case "unknown":
        return html`
          <main class="alone" id="main" aria-busy="true">
            <h1>Static</h1>
          </main>
        `;
      case "unreachable":
        return html`<${Unreachable} text=${signIn.error.message} />`;
      case "out":
        return html`${key}<${Entrance} onKey=${setFirstKey} />`;
      case "in":
      case "ended":
        // The key makes sure that another account begins with an empty page.
        return html`<${Inside} key=${signIn.accountId} accountId=${signIn.accountId} path=${path} ended=${
          signIn.state === "ended"
        } said=${said}>
          ${key}
        <//>`;
    }
  };
  return html`<${ContextProvider} value=${context}>${inside()}<//>`;
}

function Inside(
  { path, accountId, ended, said, children }: {
    path: string;
    accountId: string;
    ended: boolean;
    said: string;
    children?: VNode;
  },
): VNode {
  const page = pages.find((each) => each.path === path);
  useTitle(page?.name ?? "Not found");
  return html`
    <a class="skip" href="#main">To the content</a>
    <${Header} path=${path} />
    <div class="said" role="status">${said}</div>
    <main id="main" tabindex="-1" class=${page?.live === "live" ? "wide" : ""}>
      ${children}
      ${page === undefined && html`
        <h1>Not found</h1>
        <p>There is no such page.</p>
      `}
      ${page?.show?.()}
      <${LiveHost} page=${page?.live} accountId=${accountId} />
    </main>
    ${ended && html`
      <${Dialog} title="Your session has ended" required>
        <p>Sign in again to go on. Nothing on this page is lost.</p>
        <${LogIn} />
        <//>
    `}
  `;
}

function Header({ path }: { path: string }): VNode {
  const { service, go } = useConsole();
  return html`
    <header>
      <span class="brand">Static</span>
      <nav aria-label="Pages">
        <ul>
        ${pages.map((page) =>
          html`<li key=${page.path}><a href=${page.path} aria-current=${page.path === path ? "page" : undefined}
            onClick=${(event: MouseEvent) => follow(event, () => go(page.path))}>${page.name}</a></li>`
        )}
        <li><a href="/docs">API</a></li>
      </ul>
      </nav>
      <${Action} work=${() => service.logOut()}>Sign out<//>
    </header>
  `;
}

function Unreachable({ text }: { text: string }): VNode {
  const { service } = useConsole();
  return html`
    <main class="alone" id="main">
      <h1>Static</h1>
      <p role="alert">${text}</p>
      <p>
        <${Action} work=${() => service.begin()}>Try again<//></p></main>
  `;
}

function useSignIn(service: Service): SignIn {
  const [signIn, setSignIn] = useState(service.signIn);
  useEffect(() => {
    setSignIn(service.signIn);
    return service.listen(() => setSignIn(service.signIn));
  }, [service]);
  return signIn;
}
