import { assert, assertEquals } from "@std/assert";
import { email, keyName, newPassword, password } from "./fields.ts";
import { emailKeyOf } from "../domain/mail/emails.ts";

Deno.test("a text of a whole body is refused at once: normalising 32,000 marks would hold up everybody for seconds", () => {
  const marks = `a${"\u0301".repeat(16_000)}${"\u0323".repeat(16_000)}`;
  for (const [name, field] of Object.entries({ email, keyName, password })) {
    const started = performance.now();
    const { error } = field.safeParse(marks);
    const ms = performance.now() - started;
    assert(ms < 200, `${name} took ${ms} ms`);
    assert(error?.issues[0]?.message.startsWith("must have at most"), name);
  }
  assertEquals(password.safeParse(`12345678${"\u0301\u0323".repeat(100)}`).success, true);
});

Deno.test("names with invisible or turning characters are refused, those of any language and of pictures are not", () => {
  for (
    const name of [
      "a\u200Bb",
      "ci\u202Egnp",
      "\u2066x\u2069",
      "a\u00ADb",
      "\u3164",
      "\u2800",
      "x\uFEFFy",
      "a\u2028b",
    ]
  ) {
    assertEquals(keyName.safeParse(name).success, false, JSON.stringify(name));
  }
  for (const name of ["ci", "Größe 7", "日本語", "مفتاح", "नमस्ते", "👩‍💻 laptop", "❤️"]) {
    assertEquals(keyName.safeParse(name).success, true, name);
  }
});

Deno.test("a host in Unicode and its form in ASCII are one address; what is no host is no address", () => {
  const key = emailKeyOf("Ada@xn--mnchen-3ya.example");
  for (const text of ["ada@münchen.example", "ADA@MÜNCHEN.example", "ada@mu\u0308nchen.example"]) {
    assertEquals([email.safeParse(text).success, emailKeyOf(text)], [true, key], text);
  }
  for (
    const text of [
      "a@b.c/d.e",
      "a@b.c:25",
      "a@b.c?d.e",
      "a@b.c#d.e",
      "a@exa%6dple.com",
      "a\u200B@b.co",
      "a@b\u202E.co",
    ]
  ) {
    assertEquals(email.safeParse(text).success, false, text);
  }
});

Deno.test("a password that everybody guesses cannot be chosen, and one that was chosen before can be used", () => {
  for (
    const text of ["password", "PassWord", "12345678", "qwertyuiop", "iloveyou", "1Q2W3E4R"]
  ) {
    assertEquals([newPassword.safeParse(text).success, password.safeParse(text).success], [
      false,
      true,
    ], text);
  }
  for (const text of ["password for ada", "1234567 apples", "correct horse battery staple"]) {
    assertEquals(newPassword.safeParse(text).success, true, text);
  }
});
