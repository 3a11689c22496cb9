/**
 * The frame around all pages: navigation, announcements, and the session. A session that ends does not take the page away: a
 * dialog asks for the password above it, and everything goes on as it was.
 */
import { AccountPage } from "./account.ts";
import { type ConsoleContext, ContextProvider, useConsole } from "./context.ts";
import { Action, Dialog } from "./elements.ts";
import { Entrance, FirstKey, LogIn } from "./entrance.ts";
import { follow, joinPath, skipTo, takeLink, useAnnouncement, usePath, useTitle } from "./frame.ts";
import { GuestHost } from "./guest_host.ts";
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
  /** Not in the navigation: a link leads there. */
  readonly isHidden?: boolean;
}

const base = "/console";
const pages: readonly Page[] = [
  { path: base, name: "Home", show: () => html`<${HomePage} />` },
  { path: `${base}/keys`, name: "Keys", show: () => html`<${KeysPage} />` },
  { path: `${base}/channels`, name: "Channels", live: "channels" },
  { path: `${base}/live`, name: "Live", live: "live" },
  { path: joinPath, name: "Join", live: "live", isHidden: true },
  { path: `${base}/account`, name: "Account", show: () => html`<${AccountPage} />` },
];
const noLink = "The invitation is no longer in this page: it is kept nowhere. Open the link again to join by it.";

/** `first` is the link by which the page was opened. */
export function App({ service, first }: { service: Service; first: string | undefined }): VNode {
  const signIn = useSignIn(service);
  const [path, go] = usePath();
  const [said, say] = useAnnouncement();
  const link = useLink(first);
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
        if (path === joinPath && link !== undefined) {
          return html`${key}<${GuestHost} key=${link} link=${link} onKey=${setFirstKey} />`;
        }
        return html`${key}<${Entrance} onKey=${setFirstKey} notice=${path === joinPath ? noLink : undefined} />`;
      case "in":
      case "ended":
        // The key makes sure that another account begins with an empty page.
        return html`<${Inside} key=${signIn.accountId} accountId=${signIn.accountId} path=${path} link=${
          path === joinPath ? link : undefined
        } ended=${signIn.state === "ended"} said=${said}>
          ${key}
        <//>`;
    }
  };
  return html`<${ContextProvider} value=${context}>${inside()}<//>`;
}

function Inside(
  { path, accountId, link, ended, said, children }: {
    path: string;
    accountId: string;
    link: string | undefined;
    ended: boolean;
    said: string;
    children?: VNode;
  },
): VNode {
  const page = pages.find((each) => each.path === path);
  useTitle(page?.name ?? "Not found");
  return html`
    <a class="skip" href=${skipTo}>To the content</a>
    <${Header} path=${path} />
    <div class=${page?.live === "live" ? "said wide" : "said"} role="status">${said}</div>
    <main id="main" tabindex="-1" class=${page?.live === "live" ? "wide" : ""}>
      ${children}
      ${page === undefined && html`
        <h1>Not found</h1>
        <p>There is no such page.</p>
      `}
      ${page?.show?.()}
      ${path === joinPath && link === undefined && html`<p role="alert">${noLink}</p>`}
      <${LiveHost} page=${page?.live} accountId=${accountId} link=${link} />
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
        ${pages.filter(({ isHidden }) => isHidden !== true).map((page) =>
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

/** Another link may be pasted into the address of a page that is open. */
function useLink(first: string | undefined): string | undefined {
  const [link, setLink] = useState(first);
  useEffect(() => {
    const take = (): void => setLink((before) => takeLink() ?? before);
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  return link;
}
