/**
 * One call of the API as a complete program in three languages; each takes address and key from the
 * environment.
 */

export interface SampleCall {
  /** In capitals. */
  readonly method: string;
  /** With ids in it, as in `/v1/keys/{id}`. */
  readonly path: string;
  readonly credential: "api_key" | "session" | undefined;
  readonly body: unknown;
  /** Whether the answer has a body. */
  readonly answers: boolean;
}

export interface CodeSample {
  readonly language: "curl" | "TypeScript" | "Python";
  readonly code: string;
}

export function samplesOf(call: SampleCall): CodeSample[] {
  return [
    { language: "curl", code: curl(call) },
    { language: "TypeScript", code: typescript(call) },
    { language: "Python", code: python(call) },
  ];
}

function curl({ method, path, credential, body }: SampleCall): string {
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}"$STATIC_API_URL${shellPath(path)}"`,
    ...(credential === "api_key" ? ['-H "authorization: Bearer $STATIC_API_KEY"'] : []),
    ...(credential === "session" ? ["-b cookies.txt"] : []),
    ...(credential === "session" && method !== "GET" ? ['-H "x-static-csrf: $CSRF"'] : []),
    ...(body === undefined
      ? []
      : ["-H 'content-type: application/json'", `-d '${JSON.stringify(body)}'`]),
  ].join(" \\\n  ");
}

function typescript({ method, path, credential, body, answers }: SampleCall): string {
  const headers = {
    ...(credential === "api_key" && { authorization: "`Bearer ${process.env.STATIC_API_KEY}`" }),
    ...(credential === "session" && method !== "GET" && { '"x-static-csrf"': "csrf" }),
    ...(body !== undefined && { '"content-type"': '"application/json"' }),
  };
  const listed = Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join(", ");
  return [
    'import process from "node:process";',
    "",
    `const response = await fetch(\`\${process.env.STATIC_API_URL}${
      path.replaceAll("{id}", "${process.env.ID}")
    }\`, {`,
    `  method: "${method}",`,
    ...(listed === "" ? [] : [`  headers: { ${listed} },`]),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${JSON.stringify(body)}),`]),
    "});",
    answers
      ? "console.log(response.status, await response.json());"
      : "console.log(response.status);",
  ].join("\n");
}

function python({ method, path, credential, body, answers }: SampleCall): string {
  const headers = [
    ...(credential === "api_key"
      ? ['"Authorization": "Bearer " + os.environ["STATIC_API_KEY"]']
      : []),
    ...(credential === "session" ? ['"Cookie": os.environ["COOKIE"]'] : []),
    ...(credential === "session" && method !== "GET"
      ? ['"X-Static-CSRF": os.environ["CSRF"]']
      : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ];
  const target = path.replaceAll("{id}", '" + os.environ["ID"] + "');
  return [
    `import json, os, urllib.request`,
    "",
    "request = urllib.request.Request(",
    `    os.environ["STATIC_API_URL"] + "${target}",`,
    `    method="${method}",`,
    ...(headers.length === 0 ? [] : [`    headers={${headers.join(", ")}},`]),
    ...(body === undefined ? [] : [`    data=json.dumps(${pythonValue(body)}).encode(),`]),
    ")",
    "with urllib.request.urlopen(request) as response:",
    answers ? "    print(response.status, json.load(response))" : "    print(response.status)",
  ].join("\n");
}

function shellPath(path: string): string {
  return path.replaceAll("{id}", "$ID");
}

function pythonValue(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${
    Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${pythonValue(one)}`).join(
      ", ",
    )
  }}`;
}
