/**
 * Certificates between their two forms: PEM, as files and the API have them, and DER, as they are
 * hashed and put into links.
 */
import { decodeBase64url } from "./base64url.ts";

const lineLength = 64;
const form = /-----BEGIN CERTIFICATE-----([\w+/=\s]+)-----END CERTIFICATE-----/g;

/** The one certificate in it; undefined when there is none, or more than one. */
export function certificateOfPem(pem: string): Uint8Array<ArrayBuffer> | undefined {
  const [der, ...others] = certificatesOfPem(pem);
  return others.length === 0 ? der : undefined;
}

/** All certificates in it, in their order. Undefined stands for one that cannot be read. */
export function certificatesOfPem(pem: string): (Uint8Array<ArrayBuffer> | undefined)[] {
  return Array.from(
    pem.matchAll(form),
    ([, text = ""]) =>
      decodeBase64url(text.replaceAll(/[\s=]/g, "").replaceAll("+", "-").replaceAll("/", "_")),
  );
}

export function pemOfCertificate(der: Uint8Array): string {
  const lines = btoa(String.fromCharCode(...der)).match(new RegExp(`.{1,${lineLength}}`, "g")) ??
    [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
