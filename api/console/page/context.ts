/**
 * The context of every page: the service, and a function that shows a notice, also to a screen
 * reader.
 */
import type { ConsoleService } from "./service.ts";
import { createContext, useContext } from "./ui.ts";

export interface ConsoleContext {
  readonly service: ConsoleService;
  /** Shown for a while at the top, and read out. */
  say(text: string): void;
  go(path: string): void;
  /** The key that came with a new account, until its owner has kept it. */
  readonly firstKey: string | undefined;
  keyKept(): void;
}

const context = createContext<ConsoleContext | undefined>(undefined);

export const ContextProvider = context.Provider;

export function useConsole(): ConsoleContext {
  const found = useContext(context);
  if (found === undefined) throw new TypeError("There is no console around this element");
  return found;
}
