/**
 * The building blocks of all pages: forms that say what is wrong, secrets that are shown once,
 * questions before an end.
 */
import { asServiceError, type ServiceError } from "./service.ts";
import {
  type ComponentChildren,
  html,
  useCallback,
  useEffect,
  useRef,
  useState,
  type VNode,
} from "./ui.ts";

export interface FieldProps {
  readonly label: string;
  readonly name: string;
  /** Where two fields of one name are on a page. */
  readonly id?: string;
  readonly type?: string;
  readonly hint?: string;
  readonly error?: ServiceError | undefined;
  readonly [attribute: string]: unknown;
}

/** A labelled input; what the service says about this field stands below it. */
export function Field(
  { label, name, id = `field-${name}`, type = "text", hint, error, ...more }: FieldProps,
): VNode {
  const problem = error?.details.find(({ field }) => field === name)?.problem;
  // A problem says what the hint said, and more.
  const note = problem === undefined ? hint : `${label} ${problem}`;
  return html`
    <p class="field">
      <label for=${id}>${label}</label>
      <input id=${id} name=${name} type=${type} aria-describedby=${note && `${id}-note`}
        aria-invalid=${problem === undefined
          ? undefined
          : "true"} autocapitalize="off" spellcheck="false" ...${more} />
      ${note &&
        html`<small id=${`${id}-note`} class=${
          problem === undefined ? "" : "problem"
        }>${note}</small>`}
    </p>
  `;
}

export interface FormState {
  readonly busy: boolean;
  readonly error: ServiceError | undefined;
  /** Every problem stands below its field. */
  readonly isToldByFields: boolean;
  readonly run: (event: Event) => void;
}

/** One sending at a time. `work` gets the fields as texts; they are emptied when it succeeded. */
export function useForm(
  work: (fields: Readonly<Record<string, string>>) => Promise<void>,
): FormState {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ServiceError | undefined>(undefined);
  const [isToldByFields, setToldByFields] = useState(false);
  const ref = useRef<HTMLFormElement | undefined>(undefined);
  // A field that was refused is where its person goes on.
  useEffect(() => {
    if (error !== undefined) {
      ref.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
    }
  }, [error]);
  const run = useCallback((event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement; // cast: it is the form's own event
    ref.current = form;
    if (form.dataset["busy"] === "yes") return;
    form.dataset["busy"] = "yes";
    const entries = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
    setBusy(true);
    setError(undefined);
    work(Object.fromEntries(entries))
      .then(() => form.reset(), (fault) => {
        const { details } = asServiceError(fault);
        setToldByFields(
          details.length > 0 &&
            details.every(({ field }) => form.elements.namedItem(field) !== null),
        );
        setError(asServiceError(fault));
      })
      .finally(() => {
        delete form.dataset["busy"];
        setBusy(false);
      });
  }, [work]);
  return { busy, error, isToldByFields, run };
}

/** `method=post`: were a script ever to fail, no field may end up in an address. */
export function Form(
  { state, submit, children, danger }: {
    state: FormState;
    submit: string;
    children?: ComponentChildren;
    danger?: boolean;
  },
): VNode {
  const { busy, error, isToldByFields, run } = state;
  const ref = useHeldFocus(busy);
  return html`
    <form method="post" onSubmit=${run} aria-busy=${busy} novalidate>
      ${children}
      <${Fault} error=${isToldByFields ? undefined : error} />
      <p><button type="submit" ref=${ref} class=${danger
        ? "danger"
        : "main"} disabled=${busy}>${busy ? "One moment …" : submit}</button></p>
    </form>
  `;
}

export function Fault({ error }: { error: ServiceError | undefined }): VNode {
  return html`<div role="alert">${error && html`<p class="fault">${error.message}</p>`}</div>`;
}

/** A button for one action; its fault stands beside it. */
export function Action(
  { work, children, label, danger, main }: {
    work: () => Promise<void>;
    children?: ComponentChildren;
    label?: string;
    danger?: boolean;
    main?: boolean;
  },
): VNode {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ServiceError | undefined>(undefined);
  const ref = useHeldFocus(busy);
  const run = (): void => {
    setBusy(true);
    setError(undefined);
    work().catch((fault) => setError(asServiceError(fault))).finally(() => setBusy(false));
  };
  return html`
    <span
      class="action"><button type="button" ref=${ref} class=${danger
        ? "danger"
        : main
        ? "main"
        : ""} aria-label=${label} disabled=${busy}
      onClick=${run}>${children}</button><${Fault} error=${error} /></span>
  `;
}

/** A button that copies a text, and says whether it did. */
export function Copy({ text, label }: { text: string; label?: string }): VNode {
  const [said, setSaid] = useState("");
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setSaid("Copied."),
      () => setSaid("The browser did not allow it. Select the text and copy it."),
    );
  };
  // Another text is not copied yet.
  useEffect(() => setSaid(""), [text]);
  return html`
    <button type="button" aria-label=${label} onClick=${copy}>Copy</button> <span
      role="status">${said}</span>
  `;
}

/** A secret that the service shows once: nothing but this element has it. */
export function SecretOnce(
  { secret, what, onDone }: { secret: string; what: string; onDone?: () => void },
): VNode {
  const ref = useRef<HTMLDivElement>(null);
  // The element often stands where the button was that made it.
  useEffect(() => {
    if (isFocusLost()) ref.current?.focus();
  }, []);
  const done = (): void => {
    onDone?.();
    document.getElementById("main")?.focus({ preventScroll: true });
  };
  return html`
    <div class="secret" role="group" aria-label=${what} tabindex="-1" ref=${ref}>
      <p><strong>${what}.</strong> It is shown now and never again. Keep it like a password.</p>
      <p><code class="secret-text" tabindex="0">${secret}</code></p>
      <p class="row"><${Copy} text=${secret} />${onDone &&
        html`<button type="button" onClick=${done}>I have kept it</button>`}</p>
    </div>
  `;
}

/** Where the focused element has gone, the page goes on at its content, not at its top. */
export function keepFocus(): void {
  if (isFocusLost()) document.getElementById("main")?.focus({ preventScroll: true });
}

/**
 * A button that cannot be pressed has no focus. It gets it back afterwards; if it is gone then, the
 * content does.
 */
function useHeldFocus(busy: boolean): { current: HTMLButtonElement | null } {
  const ref = useRef<HTMLButtonElement>(null);
  const wasBusy = useRef(false);
  useEffect(() => {
    if (wasBusy.current && !busy && isFocusLost()) ref.current?.focus({ preventScroll: true });
    wasBusy.current = busy;
  }, [busy]);
  useEffect(() => () => {
    if (wasBusy.current) requestAnimationFrame(keepFocus);
  }, []);
  return ref;
}

function isFocusLost(): boolean {
  const { activeElement, body } = document;
  return activeElement === null || activeElement === body;
}

/**
 * The browser's own dialog: it keeps the focus inside, and Escape closes it. Its end gives the
 * focus back.
 */
export function Dialog(
  { title, onClose, children, required }: {
    title: string;
    onClose?: () => void;
    children?: ComponentChildren;
    required?: boolean;
  },
): VNode {
  const ref = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  useEffect(() => {
    const dialog = ref.current;
    const { activeElement: before } = document;
    if (dialog?.open === false) dialog.showModal();
    return () => {
      isGone.current = true;
      // Only an end by `close` gives the focus back, and only while the dialog stands in the page,
      // which it may not any more.
      dialog?.close();
      if (isFocusLost() && before instanceof HTMLElement) before.focus();
      keepFocus();
    };
  }, []);
  const cancel = (event: Event): void => {
    if (required) event.preventDefault();
  };
  const closed = (): void => {
    if (!isGone.current) onClose?.();
  };
  return html`
    <dialog ref=${ref} aria-labelledby="dialog-title" onCancel=${cancel} onClose=${closed}>
      <h2 id="dialog-title">${title}</h2>
      ${children}
    </dialog>
  `;
}

/** Asks before something ends. */
export function Ask(
  { title, text, yes, work, onClose }: {
    title: string;
    text: string;
    yes: string;
    work: () => Promise<void>;
    onClose: () => void;
  },
): VNode {
  const act = async (): Promise<void> => {
    await work();
    onClose();
  };
  return html`
    <${Dialog} title=${title} onClose=${onClose}>
      <p>${text}</p>
      <p class="row">
        <${Action} danger
          work=${act}>${yes}<//><button type="button" onClick=${onClose}>Keep it</button></p>
    <//>
  `;
}

export function Time({ at }: { at: string | null | undefined }): VNode {
  if (at === null || at === undefined) return html`<span>never</span>`;
  return html`<time datetime=${at}>${
    new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })
  }</time>`;
}

/** Data read from the service: undefined until it is there. `again` reads it once more. */
export interface LoadedValue<T> {
  readonly value: T | undefined;
  readonly error: ServiceError | undefined;
  readonly again: () => Promise<void>;
}

export function useReading<T>(read: () => Promise<T>): LoadedValue<T> {
  const [state, setState] = useState<{ value?: T; error?: ServiceError }>({});
  const newest = useRef(0);
  const again = useCallback(async () => {
    const mine = ++newest.current;
    try {
      const value = await read();
      if (mine === newest.current) setState({ value });
    } catch (error) {
      // Data that was read before stays: an old list is better than none.
      if (mine === newest.current) {
        setState((before) => ({ ...before, error: asServiceError(error) }));
      }
    }
  }, [read]);
  useEffect(() => {
    void again();
    return () => void newest.current++;
  }, [again]);
  return { value: state.value, error: state.error, again };
}
