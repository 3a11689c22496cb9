/**
 * Addresses, titles and announcements, for the frames of the console and of the operator's page.
 */
import { keepFocus } from "./elements.ts";
import { useCallback, useEffect, useRef, useState } from "./ui.ts";

const saidMs = 8_000;

/** Addresses hold a page's name and nothing else. */
export function usePath(): [string, (path: string) => void] {
  const [path, setPath] = useState(location.pathname);
  useEffect(() => {
    const change = (): void => setPath(location.pathname);
    addEventListener("popstate", change);
    return () => removeEventListener("popstate", change);
  }, []);
  const go = useCallback((to: string) => {
    history.pushState(null, "", to);
    setPath(to);
    document.getElementById("main")?.focus();
    scrollTo(0, 0);
  }, []);
  return [path.replace(/\/$/, ""), go];
}

/** A plain click stays in this page; with a key held down it does what the browser does. */
export function follow(event: MouseEvent, go: () => void): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  go();
}

export function useAnnouncement(): [string, (text: string) => void] {
  const [said, setSaid] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const say = useCallback((text: string) => {
    clearTimeout(timer.current);
    setSaid(text);
    timer.current = setTimeout(() => setSaid(""), saidMs);
  }, []);
  return [said, say];
}

export function useTitle(name: string): void {
  useEffect(() => {
    document.title = `${name} · Static`;
  }, [name]);
}

/**
 * The button that led in or out is gone then: the focus goes on at the content. `state` is
 * undefined until it is known; a page that is just opened leaves the focus where it is.
 */
export function useFocusThrough(state: string | undefined): void {
  const before = useRef(state);
  useEffect(() => {
    if (before.current !== undefined && before.current !== state) keepFocus();
    before.current = state;
  }, [state]);
}

/** Where the link for keyboards leads that skips the navigation. */
export const skipTo = "#main";

/** The page that a link as an https address leads to. */
export const joinPath = "/console/join";

/**
 * The link that this page was opened by. It leaves the address at once, and with it the tab's
 * history, so that neither a glance nor a bookmark has it.
 */
export function takeLink(): string | undefined {
  const { origin, pathname, hash } = location;
  if (pathname !== joinPath || hash.length < 2 || hash === skipTo) return undefined;
  history.replaceState(null, "", pathname);
  return `${origin}${pathname}${hash}`;
}
