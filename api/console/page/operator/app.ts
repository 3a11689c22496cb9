/** The frame of the operator's pages, and the door before them. */
import { Brand } from "../cells.ts";
import { Field, Form, useForm } from "../elements.ts";
import { follow, skipTo, useAnnouncement, useFocusThrough, usePath, useTitle } from "../frame.ts";
import { html, useCallback, useEffect, useMemo, useState, type VNode } from "../ui.ts";
import { AccountsPage } from "./accounts.ts";
import type { AdminService } from "./admin_service.ts";
import { AuditPage } from "./audit.ts";
import { type OperatorContext, OperatorProvider } from "./context.ts";
import { HealthPage } from "./health.ts";
import { LimitsPage } from "./limits.ts";

const base = "/admin";
const pages: readonly {
  readonly path: string;
  readonly name: string;
  readonly show: () => VNode;
}[] = [
  { path: base, name: "Accounts", show: () => html`<${AccountsPage} />` },
  { path: `${base}/limits`, name: "Limits", show: () => html`<${LimitsPage} />` },
  { path: `${base}/health`, name: "Health", show: () => html`<${HealthPage} />` },
  { path: `${base}/audit`, name: "Audit", show: () => html`<${AuditPage} />` },
];

export function App({ service }: { service: AdminService }): VNode {
  const [isOpen, setOpen] = useState(service.isOpen);
  const [path, go] = usePath();
  const [said, say] = useAnnouncement();
  useEffect(() => service.listen(() => setOpen(service.isOpen)), [service]);
  const context = useMemo<OperatorContext>(() => ({ service, say }), [service, say]);
  const page = pages.find((each) => each.path === path);
  useFocusThrough(isOpen ? "open" : "locked");
  useTitle(isOpen ? page?.name ?? "Not found" : "Operator");
  if (!isOpen) return html`<${Door} service=${service} />`;
  return html`
    <${OperatorProvider} value=${context}>
      <a class="skip" href=${skipTo}>To the content</a>
      <header>
        <${Brand} text="Static operator" />
        <nav aria-label="Pages">
          <ul>
            ${pages.map((each) =>
              html`<li key=${each.path}><a href=${each.path} aria-current=${
                each === page ? "page" : undefined
              }
                onClick=${(event: MouseEvent) =>
                follow(event, () => go(each.path))}>${each.name}</a></li>`
            )}
          </ul>
        </nav>
        <button type="button" onClick=${() => service.lock()}>Lock</button>
      </header>
      <div class="said" role="status">${said}</div>
      <main id="main" tabindex="-1" class="wide" key=${path}>${page?.show() ?? html`
        <h1>Not found</h1>
        <p>There is no page at this address. <a href=${base}>To the accounts</a></p>
      `}</main>
      <//>
  `;
}

function Door({ service }: { service: AdminService }): VNode {
  const form = useForm(
    useCallback((fields) => service.enter((fields["secret"] ?? "").trim()), [service]),
  );
  return html`
    <main class="alone" id="main" tabindex="-1">
      <h1>
        <${Brand} text="Static operator" />
      </h1>
      <${Form} state=${form} submit="Open">
        <${Field} label="Operator's secret" name="secret" type="password" autocomplete="off" required
          error=${form
            .error}
          hint="STATIC_ADMIN_SECRET, or the file admin_secret in the data directory. It stays in this page's memory: a reload forgets it." />
        <//>
        </main>
  `;
}
