/** `/openapi.json`, generated from the schemas that validate, and `/docs`, the same as a page to read. */
import { z } from "@hono/zod-openapi";
import { apiKeyPattern } from "../../proto/mod.ts";
import { sessionCookie } from "./authorization.ts";
import { renderDocumentation } from "./documentation_page.ts";
import type { Router } from "./operation.ts";

const description = "Accounts, API keys, tokens and usage of Static, the service for end-to-end encrypted channels " +
  "between software agents. Every error response has the fields of `Error`. Programs should check `code`, not the text.";

export function addDocumentationRoutes(router: Router): void {
  const { openAPIRegistry } = router.hono;
  openAPIRegistry.registerComponent("securitySchemes", "api_key", {
    type: "http",
    scheme: "bearer",
    description: `An API key, of the form \`${apiKeyPattern}\`.`,
  });
  openAPIRegistry.registerComponent("securitySchemes", "session", {
    type: "apiKey",
    in: "cookie",
    name: sessionCookie,
    description: "A session of the console. Requests that are not a GET send its `csrf` as `x-static-csrf`.",
  });

  // Made at the first request, when every route has been added; it does not change afterwards.
  const made: { document?: ReturnType<typeof router.hono.getOpenAPI31Document>; page?: string } = {};
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
      schema: z.looseObject({ openapi: z.string() }),
      example: { openapi: "3.1.0" },
    },
    handle: (c) => c.json(document()),
  });

  router.add<undefined>({
    method: "get",
    path: "/docs",
    tag: "Documentation",
    summary: "This API as a page to read",
    credential: "none",
    success: { status: 200, text: "HTML." },
    handle: (c) => {
      c.header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'");
      return c.html(made.page ??= renderDocumentation(document()));
    },
  });
}
