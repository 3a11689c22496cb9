/**
 * `/openapi.json`, generated from the schemas that validate, and `/docs`, the same as a page to
 * read and to try.
 */
import { z } from "@hono/zod-openapi";
import { apiKeyPattern } from "../../../proto/mod.ts";
import { icon } from "../../console/mod.ts";
import { type ConsoleDeps, consolePath } from "../console.ts";
import { nameOverTls } from "../cookies.ts";
import { docsScript, docsStyle } from "./docs_assets.ts";
import { renderDocumentation } from "./documentation_page.ts";
import type { Router } from "../operation.ts";

const description =
  "Accounts, API keys, tokens and usage of Static, the service for end-to-end encrypted channels " +
  "between software agents. Every error response has the fields of `Error`. Programs should check `code`, not the text.";

/** Nothing inline and nothing from elsewhere; calls go to this service only. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

/** Where there is a console, the page leads there. */
export function addDocumentationRoutes(
  router: Router,
  { consoleFiles }: Pick<ConsoleDeps, "consoleFiles">,
): void {
  const { openAPIRegistry } = router.hono;
  openAPIRegistry.registerComponent("securitySchemes", "api_key", {
    type: "http",
    scheme: "bearer",
    description: `An API key, of the form \`${apiKeyPattern}\`.`,
  });
  openAPIRegistry.registerComponent("securitySchemes", "session", {
    type: "apiKey",
    in: "cookie",
    name: nameOverTls("static_session"),
    description:
      "A session of the console. Requests that are not a GET send its `csrf` as `x-static-csrf`.",
  });

  // Made at the first request, when every route has been added; it does not change afterwards.
  const made: { document?: ReturnType<typeof router.hono.getOpenAPI31Document>; page?: string } =
    {};
  const document = (): ReturnType<typeof router.hono.getOpenAPI31Document> =>
    made.document ??= router.hono.getOpenAPI31Document({
      openapi: "3.1.0",
      info: { title: "Static HTTP API", version: "1", description },
      servers: [{ url: "/" }],
    });

  router.add<undefined>({
    method: "get",
    path: "/openapi.json",
    tag: "Documentation",
    summary: "This API as an OpenAPI 3.1 document",
    credential: "none",
    success: {
      status: 200,
      text: "The document.",
      schema: z.looseObject({ openapi: z.string().describe("The version of OpenAPI.") }),
      example: { openapi: "3.1.0" },
    },
    handle: (c) => c.json(document()),
  });

  router.add<undefined>({
    method: "get",
    path: "/docs",
    tag: "Documentation",
    summary: "This API as a page to read and to try",
    credential: "none",
    success: { status: 200, text: "HTML." },
    handle: (c) => {
      c.header("content-security-policy", policy);
      c.header("referrer-policy", "no-referrer");
      return c.html(made.page ??= renderDocumentation(document(), consoleFiles && consolePath));
    },
  });
  addAssets(router);
}

/** Parts of the page, which the document does not list. */
function addAssets({ hono }: Router): void {
  const assets = {
    "/docs/page.css": ["text/css", docsStyle],
    "/docs/page.js": ["text/javascript", docsScript],
    "/docs/icon.svg": ["image/svg+xml", icon],
  } as const;
  for (const [path, [type, text]] of Object.entries(assets)) {
    hono.get(path, (c) => {
      c.set("route", path);
      c.header("content-security-policy", "default-src 'none'");
      c.header("content-type", `${type}; charset=utf-8`);
      return c.body(text);
    });
  }
}
