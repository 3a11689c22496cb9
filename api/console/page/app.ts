/**
 * The frame around all pages: navigation, announcements, and the session. A session that ends does
 * not take the page away: a dialog asks for the password above it, and everything goes on as it
 * was.
 */
import { AccountPage } from "./account.ts";
import { type ConsoleContext, ContextProvider, useConsole } from "./context.ts";
import { Brand } from "./cells.ts";
import { Action, Dialog } from "./elements.ts";
import { Entrance, LogIn } from "./entrance.ts";
import {
  follow,
  joinPath,
  skipTo,
  takeLink,
  useAnnouncement,
  useFocusThrough,
  usePath,
  useTitle,
} from "./frame.ts";
import { GuestHost } from "./guest_host.ts";
import { HomePage } from "./home.ts";
import { KeysPage } from "./keys.ts";
import { LiveHost } from "./live_host.ts";
import type { ConsoleService, SignIn } from "./service.ts";
import { html, useCallback, useEffect, useMemo, useState, type VNode } from "./ui.ts";

interface ConsolePage {
  readonly path: string;
  readonly name: string;
  /** Undefined for the chat of this tab's agent, which outlives its page. */
  readonly show?: () => VNode;
  /** Not in the navigation: a link leads there. */
  readonly isHidden?: boolean;
}

const base = "/console";
const pages: readonly ConsolePage[] = [
  { path: base, name: "Home", show: () => html`<${HomePage} />` },
  { path: `${base}/keys`, name: "Keys", show: () => html`<${KeysPage} />` },
  { path: `${base}/live`, name: "Live" },
  { path: joinPath, name: "Join", isHidden: true },
  { path: `${base}/account`, name: "Account", show: () => html`<${AccountPage} />` },
];
const noLink =
  "The invitation is no longer in this page: it is kept nowhere. Open the link again to join by it.";

/** `first` is the link by which the page was opened. */
export function App(
  { service, first }: { service: ConsoleService; first: string | undefined },
): VNode {
  const signIn = useSignIn(service);
  const [path, go] = usePath();
  const [said, say] = useAnnouncement();
  const link = useLink(first);
  const [firstKey, setFirstKey] = useState<string | undefined>(undefined);
  const keyKept = useCallback(() => setFirstKey(undefined), []);
  const context = useMemo<ConsoleContext>(
    () => ({ service, say, go, firstKey, keyKept }),
    [service, say, go, firstKey, keyKept],
  );
  useFocusThrough(signIn.state === "unknown" ? undefined : signIn.state);
  // The next person at this browser is somebody else.
  const isIn = signIn.state === "in" || signIn.state === "ended";
  useEffect(() => isIn ? keyKept : undefined, [isIn, keyKept]);
  const inside = (): VNode => {
    switch (signIn.state) {
      case "unknown":
        return html`
          <main class="alone" id="main" aria-busy="true">
            <h1>
              <${Brand} />
            </h1>
          </main>
        `;
      case "unreachable":
        return html`<${Unreachable} text=${signIn.error.message} />`;
      case "out":
        if (path === joinPath && link !== undefined) {
          return html`<${GuestHost} key=${link} link=${link} onKey=${setFirstKey} />`;
        }
        if (!pages.some((each) => each.path === path)) {
          return html`
            <main class="alone" id="main">
              <${Brand} />
              <${NotFound} />
            </main>
          `;
        }
        return html`<${Entrance} onKey=${setFirstKey} notice=${
          path === joinPath ? noLink : undefined
        } />`;
      case "in":
      case "ended":
        // The key makes sure that another account begins with an empty page.
        return html`
          <${Inside} key=${signIn.accountId} accountId=${signIn
            .accountId} path=${path} link=${path === joinPath ? link : undefined}
            ended=${signIn.state === "ended"}
            said=${said} />
        `;
    }
  };
  return html`<${ContextProvider} value=${context}>${inside()}<//>`;
}

function Inside(
  { path, accountId, link, ended, said }: {
    path: string;
    accountId: string;
    link: string | undefined;
    ended: boolean;
    said: string;
  },
): VNode {
  const page = pages.find((each) => each.path === path);
  const isLive = page !== undefined && page.show === undefined;
  useTitle(page?.name ?? "Not found");
  return html`
    <a class="skip" href=${skipTo}>To the content</a>
    <${Header} path=${path} />
    <div class="said" role="status">${said}</div>
    <main id="main" tabindex="-1" class=${isLive ? "full" : ""}>
      ${page === undefined && html`<${NotFound} />`}
      ${page?.show?.()}
      ${path === joinPath && link === undefined && html`<p role="alert">${noLink}</p>`}
      <${LiveHost} isShown=${isLive} accountId=${accountId} link=${link} />
    </main>
    ${ended && html`
      <${Dialog} title="Your session has ended" required>
        <p>Sign in again to go on. Nothing on this page is lost.</p>
        <${LogIn} />
        <//>
    `}
  `;
}

function NotFound(): VNode {
  return html`
    <h1>Not found</h1>
    <p>There is no page at this address. <a href=${base}>To the console</a></p>
  `;
}

function Header({ path }: { path: string }): VNode {
  const { service, go } = useConsole();
  return html`
    <header>
      <${Brand} />
      <nav aria-label="Pages">
        <ul>
        ${pages.filter(({ isHidden }) => isHidden !== true).map((page) =>
          html`<li key=${page.path}><a href=${page.path} aria-current=${
            page.path === path ? "page" : undefined
          }
            onClick=${(event: MouseEvent) =>
            follow(event, () => go(page.path))}>${page.name}</a></li>`
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
      <h1>
        <${Brand} />
      </h1>
      <p role="alert">${text}</p>
      <p>
        <${Action} work=${() => service.begin()}>Try again<//></p></main>
  `;
}

function useSignIn(service: ConsoleService): SignIn {
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
