/** The files of `deploy/`, as machines and containers read them. */
export const repository: string = new URL("../../", import.meta.url).pathname;
export const parts = ["api", "relay", "proxy"] as const;

export function read(path: string): string {
  return Deno.readTextFileSync(`${repository}${path}`);
}

export interface Described {
  /** Of Deno. */
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

export function unitOf(part: string): Described {
  const command =
    /^ExecStart=\/usr\/local\/bin\/deno (.+)$/m.exec(read(`deploy/static-${part}.service`))?.[1] ??
      "";
  return { args: command.split(" "), variables: variablesIn(read(`deploy/${part}.env`)) };
}

export interface Image extends Described {
  readonly from: string;
  readonly copies: readonly string[];
  /** The arguments of each Deno call while the image is built. */
  readonly preparations: readonly (readonly string[])[];
  /** Those of the calls in the whole repository, before that. */
  readonly builds: readonly (readonly string[])[];
  readonly healthCheck: readonly string[];
}

export function imageOf(part: string): Image {
  const stages = read(`deploy/Dockerfile.${part}`).split(/^(?=FROM )/m).slice(1);
  const text = stages.at(-1) ?? "";
  const [, ...args] = JSON.parse(/^CMD (.+)$/m.exec(text)?.[1] ?? "[]");
  const set = Array.from(
    text.matchAll(/^ENV (.+)$/gm),
    ([, line = ""]) => line.replaceAll(" ", "\n"),
  ).join("\n");
  const copies = Array.from(
    text.matchAll(/^COPY (?:--from=build \/app\/)?(.+) \S+$/gm),
    ([, paths = ""]) => paths.split(" "),
  ).flat();
  const callsIn = (stage: string): string[][] =>
    Array.from(stage.matchAll(/^RUN deno (.+)$/gm), ([, words = ""]) => words.split(" "));
  return {
    args,
    variables: variablesIn(set),
    from: /^FROM (\S+)$/m.exec(text)?.[1] ?? "",
    copies,
    preparations: callsIn(text),
    builds: stages.slice(0, -1).flatMap(callsIn),
    healthCheck: JSON.parse(/^HEALTHCHECK .* CMD (\[.+)$/m.exec(text)?.[1] ?? "[]"),
  };
}

/**
 * The variables that the compose file gives to a part, filled in from `compose.env`. The proxy is
 * not in it.
 */
export function composedFor(part: string): Record<string, string> {
  const [, service = ""] =
    new RegExp(`\\n {2}${part}:\\n([^]*?)\\n(?! {4}|\\n)`).exec(read("deploy/compose.yaml")) ??
      [];
  const given = variablesIn(read("deploy/compose.env"));
  const fill = (text: string): string =>
    text.replaceAll(/\$\{(\w+)[^}]*\}/g, (_, name) => given[name] ?? "");
  const lines = service.matchAll(/^ {6}([A-Z_]+): "?([^"\n]*)"?$/gm);
  return Object.fromEntries(Array.from(lines, ([, name = "", value = ""]) => [name, fill(value)]));
}

export function variablesIn(text: string): Record<string, string> {
  return Object.fromEntries(
    Array.from(text.matchAll(/^(\w+)=(.*)$/gm), ([, name = "", value = ""]) => [name, value]),
  );
}
