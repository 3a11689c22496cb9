/** The command line of `deno task start`. */

export interface StartArguments {
  readonly watch: boolean;
  /** Whether other machines may connect; only this one unless told. */
  readonly isPublic: boolean;
  /** The plan of accounts. */
  readonly plan: string | undefined;
  /** Undefined: one, with a file of its own. Else so many, on a log that NATS nodes keep. */
  readonly relays: number | undefined;
}

const plans = ["free", "dev", "team", "enterprise"];
const maxRelays = 8;

/** A text says what is wrong. */
export function parseArguments(given: readonly string[]): StartArguments | string {
  let [watch, isPublic] = [false, false];
  let [plan, relays]: [string | undefined, number | undefined] = [undefined, undefined];
  const rest = [...given];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    switch (argument) {
      case "--watch":
        watch = true;
        break;
      case "--public":
        isPublic = true;
        break;
      case "--plan":
        plan = rest.shift() ?? "";
        if (!plans.includes(plan)) return `"--plan" takes free, dev, team or enterprise`;
        break;
      case "--relays":
        relays = Number(/^\d$/.exec(rest.shift() ?? "")?.[0] ?? 0);
        if (relays < 1 || relays > maxRelays) {
          return `"--relays" takes a number from 1 to ${maxRelays}`;
        }
        break;
      default:
        return `"start" does not take "${argument}"`;
    }
  }
  return { watch, isPublic, plan, relays };
}
