/**
 * Questions to the user: at a terminal they are asked, from a pipe the answers are read line by
 * line.
 */
import type { Context } from "./command.ts";
import { badInput, interrupted } from "./failure.ts";

const minPasswordLength = 8;

export async function ask(
  { platform }: Context,
  question: string,
  options: { hidden?: boolean } = {},
): Promise<string> {
  const { stdin, stderr } = platform;
  const prompt = (): Promise<void> => stderr.write(`${question}: `);
  const answer = await stdin.readLine({ ...options, ...(stdin.isTerminal && { prompt }) });
  // Hidden input does not echo the final line break, nor do Ctrl-C and Ctrl-D.
  if (stdin.isTerminal && (options.hidden === true || answer === undefined)) {
    await stderr.write("\n");
  }
  if (answer !== undefined) return answer;
  if (platform.interrupted.aborted) throw interrupted();
  const what = question.replace(/ \(.*\)$/, "");
  throw badInput(
    `${what} is missing: the input has ended`,
    "Run it at a terminal, or pipe the answer in",
  );
}

export async function askEmail(context: Context): Promise<string> {
  const email = (context.given.value("email") ?? await ask(context, "E-mail")).trim();
  checkEmail(email);
  return email;
}

export function checkEmail(text: string): void {
  if (!/^\S+@\S+$/.test(text)) throw badInput(`"${text}" is not an e-mail address`);
}

/** From the terminal, or the pipe. */
export async function askPassword(
  context: Context,
  { again, question = "Password" }: { readonly again: boolean; readonly question?: string },
): Promise<string> {
  const { platform } = context;
  const password = await ask(context, question, { hidden: true });
  if (password === "") throw badInput("The password is empty");
  // Before it is typed again; the API decides on everything else.
  if (again && [...password].length < minPasswordLength) {
    throw badInput(`The password must have at least ${minPasswordLength} characters`);
  }
  if (
    again && platform.stdin.isTerminal &&
    await ask(context, `${question} again`, { hidden: true }) !== password
  ) {
    throw badInput("The two passwords differ");
  }
  return password;
}

/** The one that was given or saved, else it is asked for. */
export async function askSavedEmail(context: Context, saved: string | undefined): Promise<string> {
  return context.given.value("email") === undefined && saved !== undefined
    ? saved
    : await askEmail(context);
}

/** Yes only when the user says so; without a terminal only `--yes` says so. */
export async function confirm(context: Context, question: string): Promise<void> {
  if (context.given.has("yes")) return;
  if (!context.platform.stdin.isTerminal) {
    throw badInput(`Not confirmed: ${question}`, "Add --yes to go ahead");
  }
  const answer = await ask(context, `${question} [y/N]`);
  if (!/^y(es)?$/i.test(answer.trim())) throw badInput("Cancelled: nothing was changed");
}
