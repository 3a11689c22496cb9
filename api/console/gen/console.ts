/** Built from api/console/page/console.ts by tools/generate_console.ts; do not edit. */
export const text =
  "/*! With preact (MIT, Jason Miller), htm (Apache-2.0, Google) and uPlot (MIT, Leon Sorokin). */\nimport{createC" +
  "ontext as be,useContext as ve}from\"./ui.js\";var z=be(void 0),Q=z.Provider;function l(){let e=ve(z);if(e===void" +
  " 0)throw new TypeError(\"There is no console around this element\");return e}var T=class extends Error{construct" +
  "or(n,o,s,r=[]){super(n);this.status=o;this.code=s;this.details=r}status;code;details;name=\"ServiceError\"},we=2" +
  "e4,M=class{#e;#n={state:\"unknown\"};#s=new Set;get signIn(){return this.#n}listen(t){return this.#s.add(t),()=>" +
  "{this.#s.delete(t)}}async begin(){try{this.#r(await this.#i())}catch(t){let n=C(t);this.#o(n.status===401?{sta" +
  "te:\"out\"}:{state:\"unreachable\",error:n})}}async logIn(t,n){this.#r(await this.#t(\"POST\",\"/v1/session\",{email:t" +
  ",password:n}))}async logOut(){try{await this.#t(\"DELETE\",\"/v1/session\")}catch(t){if(C(t).status!==401)throw t}" +
  "this.#d()}async checkSession(){try{this.#r(await this.#i())}catch(t){C(t).status===401&&this.#l()}}forget(){th" +
  "is.#d()}async get(t){return await this.#a(\"GET\",t)}async send(t,n,o){return await this.#a(t,n,o)}async open(t," +
  "n){return await this.#t(\"POST\",t,n)}async#a(t,n,o){try{return await this.#t(t,n,o)}catch(s){let{status:r,code:" +
  "i}=C(s);throw(r===401||i===\"csrf_failed\")&&await this.checkSession(),s}}async#t(t,n,o){let s=await fetch(n,{me" +
  "thod:t,headers:{...o!==void 0&&{\"content-type\":\"application/json\"},...this.#e!==void 0&&{\"x-static-csrf\":this." +
  "#e}},credentials:\"same-origin\",cache:\"no-store\",redirect:\"error\",referrerPolicy:\"no-referrer\",signal:AbortSign" +
  "al.timeout(we),...o!==void 0&&{body:JSON.stringify(o)}}).catch(()=>{throw new T(\"The service does not answer. " +
  "Check the connection, then try again\",0,\"unreachable\")});return await ke(s)}#i(){return this.#e=void 0,this.#t" +
  "(\"GET\",\"/v1/session\")}#r({account_id:t,csrf:n,expires_at:o}){this.#e=n,this.#o({state:\"in\",accountId:t,expires" +
  "At:o})}#l(){this.#e=void 0,this.#n.state===\"in\"&&this.#o({...this.#n,state:\"ended\"})}#d(){this.#e=void 0,this." +
  "#o({state:\"out\"})}#o(t){this.#n=t;for(let n of this.#s)n()}};async function ke(e){let t=await e.text().catch((" +
  ")=>\"\"),n=Se(t);if(e.ok)return n;let{error:o,code:s,details:r}=n??{};throw new T(typeof o==\"string\"?o:`The serv" +
  "ice failed (${e.status}). Try again`,e.status,typeof s==\"string\"?s:\"\",Array.isArray(r)?r:[])}function Se(e){tr" +
  "y{return e===\"\"?void 0:JSON.parse(e)}catch{return}}function C(e){return e instanceof T?e:new T(e instanceof Er" +
  "ror?e.message:String(e),0,\"fault\")}import{html as h,useCallback as Z,useEffect as X,useRef as ee,useState as _" +
  "}from\"./ui.js\";function u({label:e,name:t,id:n=`field-${t}`,type:o=\"text\",hint:s,error:r,...i}){let a=r?.detai" +
  "ls.find(({field:d})=>d===t)?.problem,m=[s===void 0?\"\":`${n}-hint`,a===void 0?\"\":`${n}-problem`].join(\" \").trim" +
  "();return h`\n    <p class=\"field\">\n      <label for=${n}>${e}</label>\n      <input id=${n} name=${t} type=${o}" +
  " aria-describedby=${m||void 0}\n        aria-invalid=${a===void 0?void 0:\"true\"} autocapitalize=\"off\" spellchec" +
  "k=\"false\" ...${i} />\n      ${s&&h`<small id=${`${n}-hint`}>${s}</small>`}\n      ${a&&h`<small id=${`${n}-probl" +
  "em`} class=\"problem\">${e} ${a}</small>`}\n    </p>\n  `}function f(e){let[t,n]=_(!1),[o,s]=_(void 0),r=Z(i=>{i.p" +
  "reventDefault();let a=i.currentTarget;if(a.dataset.busy===\"yes\")return;a.dataset.busy=\"yes\";let m=[...new Form" +
  "Data(a)].map(([d,c])=>[d,String(c)]);n(!0),s(void 0),e(Object.fromEntries(m)).then(()=>a.reset(),d=>s(C(d))).f" +
  "inally(()=>{delete a.dataset.busy,n(!1)})},[e]);return{busy:t,error:o,run:r}}function g({state:e,submit:t,chil" +
  "dren:n,danger:o}){let{busy:s,error:r,run:i}=e;return h`\n    <form method=\"post\" onSubmit=${i} aria-busy=${s} n" +
  "ovalidate>\n      ${n}\n      <${w} error=${r} />\n      <p><button type=\"submit\" class=${o?\"danger\":\"main\"} disa" +
  "bled=${s}>${s?\"One moment \\u2026\":t}</button></p>\n    </form>\n  `}function w({error:e}){return h`<div role=\"al" +
  "ert\">${e&&h`<p class=\"fault\">${e.message}</p>`}</div>`}function b({work:e,children:t,label:n,danger:o}){let[s," +
  "r]=_(!1),[i,a]=_(void 0);return h`\n    <span class=\"action\"><button type=\"button\" class=${o?\"danger\":\"\"} aria-" +
  "label=${n} disabled=${s}\n      onClick=${()=>{r(!0),a(void 0),e().catch(d=>a(C(d))).finally(()=>r(!1))}}>${t}<" +
  "/button><${w} error=${i} /></span>\n  `}function I({secret:e,what:t,onDone:n}){let[o,s]=_(\"\");return h`\n    <di" +
  "v class=\"secret\" role=\"group\" aria-label=${t}>\n      <p><strong>${t}.</strong> It is shown now and never again" +
  ". Keep it like a password.</p>\n      <p><code class=\"secret-text\" tabindex=\"0\">${e}</code></p>\n      <p><butto" +
  "n type=\"button\" onClick=${()=>{navigator.clipboard.writeText(e).then(()=>s(\"Copied.\"),()=>s(\"The browser did n" +
  "ot allow it. Select the text and copy it.\"))}}>Copy</button>\n        ${n&&h`<button type=\"button\" onClick=${n}" +
  ">I have kept it</button>`}\n        <span role=\"status\">${o}</span></p>\n    </div>\n  `}function D({title:e,onCl" +
  "ose:t,children:n,required:o}){let s=ee(null);return X(()=>{s.current?.open===!1&&s.current.showModal()},[]),h`" +
  "\n    <dialog ref=${s} aria-labelledby=\"dialog-title\" onCancel=${i=>{o&&i.preventDefault()}} onClose=${()=>t?.(" +
  ")}>\n      <h2 id=\"dialog-title\">${e}</h2>\n      ${n}\n    </dialog>\n  `}function q({title:e,text:t,yes:n,work:o" +
  ",onClose:s}){return h`\n    <${D} title=${e} onClose=${s}>\n      <p>${t}</p>\n      <p class=\"row\">\n        <${b" +
  "} danger work=${async()=>{await o(),s()}}>${n}<//><button type=\"button\" onClick=${s}>Keep it</button></p>\n    " +
  "<//>\n  `}function k({at:e}){return e==null?h`<span>never</span>`:h`<time datetime=${e}>${new Date(e).toLocaleS" +
  "tring(void 0,{dateStyle:\"medium\",timeStyle:\"short\"})}</time>`}function x(e){let[t,n]=_({}),o=ee(0),s=Z(async()" +
  "=>{let r=++o.current;try{let i=await e();r===o.current&&n({value:i})}catch(i){r===o.current&&n(a=>({...a,error" +
  ":C(i)}))}},[e]);return X(()=>(s(),()=>{o.current++}),[s]),{value:t.value,error:t.error,again:s}}import{html as" +
  " p,useCallback as E,useState as L}from\"./ui.js\";function te(){let{service:e}=l(),t=x(E(()=>e.get(\"/v1/account\"" +
  "),[e]));return p`\n    <h1>Account</h1>\n    <${w} error=${t.error} />\n    ${t.value&&p`<${Ce} account=${t.value" +
  "} again=${t.again} />`}\n    <${Ee} />\n    <${Pe} />\n    <${Ne} />\n    <${_e} />\n  `}function Ce({account:e,aga" +
  "in:t}){let{email:n,email_verified:o,pending_email:s,plan:r,created_at:i,notices:a}=e;return p`\n    <section cl" +
  "ass=\"card\" aria-labelledby=\"address-title\">\n      <h2 id=\"address-title\">E-mail</h2>\n      ${a.includes(\"addre" +
  "ss_claimed\")&&p`<p class=\"fault\">Somebody else has proved to own the address that this\n        account had. Gi" +
  "ve it another one.</p>`}\n      <p><strong class=\"text\">${n??\"No address\"}</strong> ${n!==null&&(o?p`<span clas" +
  "s=\"good\">verified</span>`:\"not verified\")}</p>\n      <p class=\"quiet\">Plan ${r}. Made <${k} at=${i} />. Accoun" +
  "t <code>${e.id}</code></p>\n      ${(s!==null||n!==null&&!o)&&p`\n        <${Te} pending=${s} again=${t} />\n    " +
  "  `}\n      <${xe} again=${t} />\n    </section>\n  `}function Te({pending:e,again:t}){let{service:n,say:o}=l(),s" +
  "=f(E(async i=>{await n.send(\"POST\",\"/v1/account/verification/confirm\",{code:i.code??\"\"}),o(\"The address is ver" +
  "ified.\"),e!==null&&await n.checkSession(),await t()},[n,o,t,e])),r=async()=>{await n.send(\"POST\",\"/v1/account/" +
  "verification\"),o(\"A new code is on its way.\")};return p`\n    <${g} state=${s} submit=\"Confirm\">\n      <${u} la" +
  "bel=${e===null?\"Code from the mail\":`Code from the mail to ${e}`} name=\"code\"\n        autocomplete=\"one-time-c" +
  "ode\" required error=${s.error} />\n    <//>\n    ${e===null&&p`\n      <p>\n        <${b} work=${r}>Send another c" +
  "ode<//></p>\n    `}\n  `}function xe({again:e}){let{service:t,say:n}=l(),o=f(E(async s=>{let{email:r=\"\",password" +
  ":i=\"\"}=s;await t.send(\"PATCH\",\"/v1/account\",{email:r,password:i}),n(`A code is on its way to ${r}.`),await e()" +
  "},[t,n,e]));return p`\n    <details>\n      <summary>Change the address</summary>\n      <${g} state=${o} submit=" +
  "\"Send a code to the new address\">\n        <${u} label=\"New e-mail\" name=\"email\" type=\"email\" autocomplete=\"ema" +
  "il\" required error=${o.error} />\n        <${u} label=\"Password\" name=\"password\" type=\"password\" autocomplete=\"" +
  "current-password\" required\n          error=${o.error} />\n        <//>\n        </details>\n  `}function Ee(){let" +
  "{service:e,say:t}=l(),n=f(E(async o=>{let{password:s=\"\",new_password:r=\"\"}=o,i=o.revoke_keys!==void 0,a=await " +
  "e.send(\"POST\",\"/v1/account/password\",{password:s,new_password:r,revoke_keys:i});t(`The password is changed and" +
  " all sessions have ended.${i?` Keys revoked: ${a.keys_revoked}.`:\"\"}`),await e.checkSession()},[e,t]));return " +
  "p`\n    <section class=\"card\" aria-labelledby=\"password-title\">\n      <h2 id=\"password-title\">Password</h2>\n   " +
  "   <${g} state=${n} submit=\"Change the password\">\n        <p class=\"quiet\">All sessions end, this one too.</p>" +
  "\n        <${u} label=\"Present password\" name=\"password\" type=\"password\" autocomplete=\"current-password\" requir" +
  "ed\n          id=\"present-password\" error=${n.error} />\n        <${u} label=\"New password\" name=\"new_password\" " +
  "type=\"password\" autocomplete=\"new-password\" required\n          error=${n.error} hint=\"At least 8 characters.\" " +
  "/>\n        <p><label class=\"check\"><input type=\"checkbox\" name=\"revoke_keys\" /> Revoke all keys too</label></p" +
  ">\n        <//>\n        </section>\n  `}function Pe(){let{service:e,say:t}=l(),{value:n,error:o,again:s}=x(E(()=" +
  ">e.get(\"/v1/account/sessions\"),[e])),[r,i]=L(!1),a=async d=>{await e.send(\"DELETE\",`/v1/account/sessions/${d}`" +
  "),t(\"The session has ended.\"),await s()},m=async()=>{await e.send(\"DELETE\",\"/v1/account/sessions\"),await e.che" +
  "ckSession()};return p`\n    <section class=\"card\" aria-labelledby=\"sessions-title\">\n      <h2 id=\"sessions-titl" +
  "e\">Sessions</h2>\n      <${w} error=${o} />\n      <ul class=\"items\">\n        ${n?.sessions.map(({id:d,created_a" +
  "t:c,expires_at:N,current:$})=>p`\n            <li\n              key=${d}><div class=\"grow\"><p>Begun <${k} at=${" +
  "c} />, ends <${k} at=${N} /> ${$?p`<span class=\"good\">this one</span>`:\"\"}</p></div>\n                      ${!" +
  "$&&p`<${b} label=${`End the session begun ${c}`} work=${()=>a(d)}>End<//>`}</li>\n          `)}\n      </ul>\n   " +
  "   <p><button type=\"button\" onClick=${()=>i(!0)}>End all sessions</button></p>\n      ${r&&p`\n        <${q} tit" +
  "le=\"End all sessions?\" text=\"Everybody who is signed in to this account is signed out, you too.\"\n          yes" +
  "=\"End all\" work=${m} onClose=${()=>i(!1)} />\n      `}\n    </section>\n  `}function Ne(){let{service:e}=l(),[t,n" +
  "]=L(void 0),o=x(E(()=>{let r=t===void 0?\"\":`?before=${encodeURIComponent(t)}`;return e.get(`/v1/account/events" +
  "${r}`)},[e,t])),s=o.value?.events??[];return p`\n    <section class=\"card\" aria-labelledby=\"events-title\">\n    " +
  "  <h2 id=\"events-title\">What happened</h2>\n      <${w} error=${o.error} />\n      <div class=\"scroll\" tabindex=" +
  "\"0\" role=\"region\" aria-labelledby=\"events-title\">\n        <table>\n          <thead>\n            <tr>\n         " +
  "     <th scope=\"col\">When</th>\n              <th scope=\"col\">What</th>\n              <th scope=\"col\">By</th>\n " +
  "             <th scope=\"col\">About</th>\n            </tr>\n          </thead>\n          <tbody>${s.map(({at:r,e" +
  "vent:i,actor:a,subject:m},d)=>p`\n              <tr key=${`${r}${d}`}>\n                <td>\n                  <" +
  "${k} at=${r} />\n                </td>\n                <td>${i}</td>\n                <td><code>${a}</code></td>" +
  "\n                <td><code>${m??\"\"}</code></td>\n              </tr>\n            `)}</tbody>\n        </table>\n " +
  "     </div>\n      <p class=\"row\"><button type=\"button\" disabled=${t===void 0} onClick=${()=>n(void 0)}>Newest<" +
  "/button>\n        <button type=\"button\" disabled=${s.length<100} onClick=${()=>n(s.at(-1)?.at)}>Older</button><" +
  "/p>\n    </section>\n  `}function _e(){let{service:e}=l(),[t,n]=L(!1),o=f(E(async s=>{await e.send(\"DELETE\",\"/v1" +
  "/account\",{password:s.password??\"\"}),e.forget()},[e]));return p`\n    <section class=\"card\" aria-labelledby=\"de" +
  "lete-title\">\n      <h2 id=\"delete-title\">Delete the account</h2>\n      <p>Keys and sessions end at once, and i" +
  "ts channels are closed. Nothing brings the account back.</p>\n      <p><button type=\"button\" class=\"danger\" onC" +
  "lick=${()=>n(!0)}>Delete the account …</button></p>\n      ${t&&p`\n        <${D} title=\"Delete the account?\" on" +
  "Close=${()=>n(!1)}>\n          <${g} state=${o} submit=\"Delete it for ever\" danger>\n            <${u} label=\"Yo" +
  "ur password\" name=\"password\" id=\"delete-password\" type=\"password\"\n              autocomplete=\"current-password" +
  "\" required error=${o.error} />\n            <//>\n            <p><button type=\"button\" onClick=${()=>n(!1)}>Keep" +
  " it</button></p>\n            <//>\n      `}\n    </section>\n  `}import{html as v,useCallback as A,useState as j}" +
  "from\"./ui.js\";function ne({onKey:e}){let[t,n]=j(\"in\"),[o,s]=j(\"\"),[r,i]=j(\"\"),a=(c,N)=>v`<button type=\"button\"" +
  " class=\"link\" onClick=${()=>{n(c),i(\"\")}}>${N}</button>`,m=A(c=>{s(c),n(\"code\")},[]),d=A(()=>{n(\"in\"),i(\"The p" +
  "assword is changed. Sign in with it.\")},[]);return v`\n    <main class=\"alone\" id=\"main\">\n      <h1>Static</h1>" +
  "\n      <p class=\"quiet\">End-to-end encrypted channels for software agents.</p>\n      <p role=\"status\">${r}</p>" +
  "\n      ${t===\"in\"&&v`\n        <${U} />\n        <p>${a(\"up\",\"Make an account\")} ${a(\"reset\",\"Forgot the passwor" +
  "d?\")}</p>\n      `}\n      ${t===\"up\"&&v`\n        <${Ie} onKey=${e} />\n        <p>${a(\"in\",\"I have an account\")}" +
  "</p>\n      `}\n      ${t===\"reset\"&&v`\n        <${Ae} onAsked=${m} />\n        <p>${a(\"in\",\"Back\")}</p>\n      `}" +
  "\n      ${t===\"code\"&&v`\n        <${Ke} email=${o} onDone=${d} />\n        <p>${a(\"in\",\"Back\")}</p>\n      `}\n   " +
  " </main>\n  `}function U({email:e}){let{service:t}=l(),n=f(A(o=>t.logIn(o.email??\"\",o.password??\"\"),[t]));retur" +
  "n v`\n    <${g} state=${n} submit=\"Sign in\">\n      <${u} label=\"E-mail\" name=\"email\" type=\"email\" autocomplete=" +
  "\"username\" required defaultValue=${e}\n        error=${n.error} />\n      <${u} label=\"Password\" name=\"password\"" +
  " type=\"password\" autocomplete=\"current-password\" required\n        error=${n.error} />\n      <//>\n  `}function " +
  "Ie({onKey:e}){let{service:t}=l(),n=f(A(async o=>{let{email:s=\"\",password:r=\"\"}=o,{api_key:i}=await t.open(\"/v1" +
  "/accounts\",{email:s,password:r});e(i),await t.logIn(s,r)},[t,e]));return v`\n    <${g} state=${n} submit=\"Make " +
  "the account\">\n      <${u} label=\"E-mail\" name=\"email\" type=\"email\" autocomplete=\"username\" required error=${n." +
  "error} />\n      <${u} label=\"Password\" name=\"password\" type=\"password\" autocomplete=\"new-password\" required\n  " +
  "      hint=\"At least 8 characters.\" error=${n.error} />\n      <//>\n  `}function Ae({onAsked:e}){let{service:t}" +
  "=l(),n=f(A(async o=>{let{email:s=\"\"}=o;await t.open(\"/v1/accounts/reset\",{email:s}),e(s)},[t,e]));return v`\n  " +
  "  <${g} state=${n} submit=\"Send a code\">\n      <p>A verified address gets a code by mail. With it you choose a" +
  " new password.</p>\n      <${u} label=\"E-mail\" name=\"email\" type=\"email\" autocomplete=\"username\" required error" +
  "=${n.error} />\n      <//>\n  `}function Ke({email:e,onDone:t}){let{service:n}=l(),o=f(A(async s=>{let{code:r=\"\"" +
  ",new_password:i=\"\"}=s;await n.open(\"/v1/accounts/reset/confirm\",{email:e,code:r,new_password:i}),t()},[n,e,t])" +
  ");return v`\n    <${g} state=${o} submit=\"Change the password\">\n      <p>If ${e} belongs to a verified account," +
  " a code is on its way. It is good for 30 minutes.</p>\n      <${u} label=\"Code\" name=\"code\" autocomplete=\"one-t" +
  "ime-code\" required error=${o.error} />\n      <${u} label=\"New password\" name=\"new_password\" type=\"password\" au" +
  "tocomplete=\"new-password\" required\n        hint=\"At least 8 characters.\" error=${o.error} />\n      <//>\n  `}fu" +
  "nction oe({secret:e,onDone:t}){return v`\n    <section class=\"card\">\n      <h2>Welcome</h2>\n      <${I} secret=" +
  "${e} what=\"This is your first API key\" onDone=${t} />\n    </section>\n  `}import{html as R,useState as se}from\"" +
  "./ui.js\";var De=\"export STATIC_API_KEY=\\u2026          # the key from above\",H=(e,t=\"\")=>`import { StaticClien" +
  "t } from \"static-sdk\";\n\nconst agent = await StaticClient.connect({\n  apiUrl: \"${e}\",${t}\n  dataDir: \"agents/fi" +
  "rst\",\n  identity: \"first\",\n});\nconst channel = await agent.openChannel(\"acme/ops/hello\");\nawait channel.send(\"" +
  "hello\");\nawait agent.close();`,re=(e,...t)=>[`export STATIC_API_URL=${e}`,De,...t].join(`\n`),ae=[{name:\"Deno\"," +
  "lines:e=>`${H(e)}\n\n// STATIC_API_KEY=\\u2026 deno run -A --unstable-net first.ts`,note:\"In the repository of St" +
  "atic, as first.ts. The key comes from STATIC_API_KEY.\"},{name:\"Node\",lines:e=>`${H(e)}\n\n// STATIC_API_KEY=\\u20" +
  "26 node first.mjs`,note:\"Node 20 or newer, with the package that deno task build:npm makes.\"},{name:\"Browser\"," +
  "lines:e=>H(e,`\n  apiKey: \"\\u2026\",                     // a publishable key: visitors can read it`),note:\"Make" +
  " a publishable key under Keys: everybody who sees the page can have it.\"},{name:\"Python\",lines:e=>`${re(e)}\npy" +
  "thon3 - <<'END'\nfrom static_sdk import StaticClient\n\nwith StaticClient(None, \"agents/first\", b\"first\") as agen" +
  "t:\n    agent.open_channel(\"acme/ops/hello\").send(b\"hello\")\nEND`,note:\"Python 3.10 or newer, with the package t" +
  "hat deno task build:python makes.\"},{name:\"MCP\",lines:e=>JSON.stringify({mcpServers:{static:{command:\"static\"," +
  "args:[\"mcp\",\"--agent\",\"first\"],env:{STATIC_API_URL:e,STATIC_API_KEY:\"\\u2026\"}}}},null,2),note:\"In the settings" +
  " of the program that holds the language model.\"},{name:\"CLI\",lines:e=>re(e,\"static channel create acme/ops/hel" +
  "lo\",\"static channel send acme/ops/hello hello\"),note:\"./static in the repository of Static.\"}];function ie(){l" +
  "et{service:e}=l(),[t,n]=se(\"Deno\"),[o,s]=se(void 0),r=ae.find(({name:a})=>a===t);return R`\n    <section class=" +
  "\"card\" aria-labelledby=\"connect-title\">\n      <h2 id=\"connect-title\">Connect your first agent</h2>\n      ${o==" +
  "=void 0?R`<p>It needs a key. <${b} work=${async()=>{let a=await e.send(\"POST\",\"/v1/keys\",{name:\"first agent\"})" +
  ";s(a.key)}}>Make one now<//></p>`:R`<${I} secret=${o} what=\"This is the agent's API key\" onDone=${()=>s(void 0" +
  ")} />`}\n      <fieldset class=\"segments\"><legend>Where does it run?</legend>\n        ${ae.map(({name:a})=>R`<l" +
  "abel key=${a}><input type=\"radio\" name=\"runtime\" value=${a} checked=${a===t}\n          onChange=${()=>n(a)} />" +
  "<span>${a}</span></label>`)}\n      </fieldset>\n      <p class=\"quiet\">${r?.note}</p>\n      <pre class=\"scroll\"" +
  " tabindex=\"0\" role=\"region\" aria-label=${`Lines for ${t}`}><code>${r?.lines(location.origin)}</code></pre>\n   " +
  " </section>\n  `}import{html as S,useCallback as Ve,useEffect as Me,useRef as qe}from\"./ui.js\";var de=24*3600*1" +
  "e3,F=30,V=new Intl.NumberFormat;function le(){let{service:e}=l(),{value:t,error:n}=x(Ve(()=>{let[o,s]=[W(Date." +
  "now()-(F-1)*de),W(Date.now())];return e.get(`/v1/usage?from=${o}&to=${s}`)},[e]));return S`\n    <h1>Home</h1>\n" +
  "    <${w} error=${n} />\n    <section class=\"card\" aria-labelledby=\"quota-title\">\n      <h2 id=\"quota-title\">Me" +
  "ssages this month</h2>\n      ${t===void 0?S`<p class=\"quiet\">Loading …</p>`:S`<${Re} usage=${t} />`}\n    </sec" +
  "tion>\n    <section class=\"card\" aria-labelledby=\"days-title\">\n      <h2 id=\"days-title\">The last ${F} days</h2" +
  ">\n      ${t===void 0?S`<p class=\"quiet\">Loading …</p>`:S`<${Fe} days=${Oe(t.days??[])} />`}\n    </section>\n   " +
  " <${ie} />\n  `}function Re({usage:{plan:e,period:t,messages:{used:n,limit:o}}}){let s=new Date(t.end).toLocale" +
  "DateString(void 0,{dateStyle:\"medium\",timeZone:\"UTC\"});if(o===null)return S`<p><strong>${V.format(n)}</strong>" +
  " of any number. Plan ${e}.</p>`;let r=o===0?1:n/o;return S`\n    <progress class=${r>=.8?\"near\":\"\"} max=${Math." +
  "max(1,o)} value=${Math.min(n,o)}\n      aria-labelledby=\"quota-title\" aria-describedby=\"quota-text\"></progress>" +
  "\n    <p\n      id=\"quota-text\"><strong>${V.format(n)}</strong> of ${V.format(o)} (${Math.round(r*100)} %). Plan" +
  " ${e}. It begins again on ${s} (UTC).</p>\n  `}function Fe({days:e}){let t=qe(null),n=e.reduce((o,{messages:s})" +
  "=>o+s,0);return Me(()=>{let o={over:!1};return import(\"./plot.js\").then(({drawPlot:s})=>{!o.over&&t.current!==" +
  "null&&(o.plot=s(t.current,e))},()=>{}),()=>{o.over=!0,o.plot?.remove()}},[e]),S`\n    <div class=\"plot\" ref=${t" +
  "} aria-hidden=\"true\"></div>\n    <details>\n      <summary>${V.format(n)} messages. Show as a table</summary>\n  " +
  "    <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"days-title\">\n        <table>\n          <th" +
  "ead>\n            <tr>\n              <th scope=\"col\">Day (UTC)</th>\n              <th scope=\"col\" class=\"number" +
  "\">Messages</th>\n            </tr>\n          </thead>\n          <tbody>\n        ${e.toReversed().map(({day:o,me" +
  "ssages:s})=>S`\n            <tr key=${o}>\n              <td>${o}</td>\n              <td class=\"number\">${V.form" +
  "at(s)}</td>\n            </tr>\n          `)}\n      </tbody>\n        </table>\n      </div>\n    </details>\n  `}fu" +
  "nction Oe(e,t=Date.now()){let n=new Map;for(let{day:o,messages:s}of e)n.set(o,(n.get(o)??0)+s);return Array.fr" +
  "om({length:F},(o,s)=>{let r=W(t-(F-1-s)*de);return{day:r,messages:n.get(r)??0}})}function W(e){return new Date" +
  "(e).toISOString().slice(0,10)}import{html as K,useCallback as Le,useState as je}from\"./ui.js\";var ce=[[\"tokens" +
  "\",\"connect agents\"],[\"keys:read\",\"see keys\"],[\"keys:write\",\"make and revoke keys\"],[\"usage:read\",\"see usage\"]," +
  "[\"account\",\"change the account\"]],Ue=24*3600*1e3;function ue({onMade:e}){let{service:t}=l(),[n,o]=je(\"plain\")," +
  "s=f(Le(async r=>{let i=await t.send(\"POST\",\"/v1/keys\",We(r));o(\"plain\"),await e(i)},[t,e]));return K`\n    <${g" +
  "} state=${s} submit=\"Make the key\">\n      <${u} label=\"Name\" name=\"name\" placeholder=\"default\" maxlength=\"64\" " +
  "error=${s.error} />\n      <p class=\"field\"><label for=\"field-kind\">What may it do?</label>\n        <select id=" +
  "\"field-kind\" name=\"kind\" value=${n}\n          onChange=${r=>o(pe(r.currentTarget.value))}>\n          <option v" +
  "alue=\"plain\">Everything</option>\n          <option value=\"scoped\">Only some things</option>\n          <option " +
  "value=\"publishable\">Only connect agents, and be public</option>\n        </select></p>\n      ${n===\"scoped\"&&K`" +
  "<${He} error=${s.error} />`}\n      ${n!==\"plain\"&&K`\n        <${u} label=\"Channels\" name=\"channels\" placeholde" +
  "r=\"acme/ops/*\"\n          required=${n===\"publishable\"} error=${s.error}\n          hint=${`Patterns, with space" +
  "s between them. Agents with this key may ${n===\"publishable\"?\"send and receive\":\"send, receive, create and inv" +
  "ite\"} there.`} />\n      `}\n      <div class=\"row\">\n        <${u} label=\"Expires after days\" name=\"days\" type=\"" +
  "number\" min=\"1\" max=\"3650\" placeholder=\"never\" error=${s.error} />\n        <${u} label=\"Messages a month\" name" +
  "=\"message_limit\" type=\"number\" min=\"1\" placeholder=\"the account's\" error=${s.error} />\n      </div>\n    <//>\n " +
  " `}function He({error:e}){let t=e?.details.find(({field:n})=>n===\"scopes\")?.problem;return K`\n    <fieldset><l" +
  "egend>It may</legend>\n      ${ce.map(([n,o])=>K`<label key=${n} class=\"check\"><input type=\"checkbox\" name=${`s" +
  "cope ${n}`}\n          defaultChecked=${n===\"tokens\"} /> ${o} <code>${n}</code></label>`)}\n      ${t&&K`<small " +
  "class=\"problem\">${t}</small>`}\n    </fieldset>\n  `}function pe(e){return e===\"scoped\"||e===\"publishable\"?e:\"pl" +
  "ain\"}function We(e,t=Date.now()){let n=pe(e.kind??\"\"),o=ce.map(([c])=>c).filter(c=>e[`scope ${c}`]!==void 0);i" +
  "f(n===\"scoped\"&&o.length===0){let c=[{field:\"scopes\",problem:\"Choose at least one.\"}];throw new T(\"A key that " +
  "may do nothing is of no use\",0,\"invalid_request\",c)}let s=(e.channels??\"\").split(/[\\s,]+/).filter(c=>c!==\"\"),r" +
  "=n===\"publishable\"?[\"send\",\"receive\"]:[\"send\",\"receive\",\"create\",\"invite\"],i=s.map(c=>({pattern:c,allow:r})),[" +
  "a,m]=[e.days??\"\",e.message_limit??\"\"],d=(e.name??\"\").trim();return{...d!==\"\"&&{name:d},...n===\"scoped\"&&{scope" +
  "s:o},...n===\"publishable\"&&{kind:n},...n!==\"plain\"&&i.length>0&&{channels:i},...a!==\"\"&&{expires_at:new Date(t" +
  "+Number(a)*Ue).toISOString()},...m!==\"\"&&{message_limit:Number(m)}}}import{html as P,useCallback as me,useStat" +
  "e as ye}from\"./ui.js\";var Be=24*3600;function $e(){let{service:e,say:t}=l(),{value:n,error:o,again:s}=x(me(()=" +
  ">e.get(\"/v1/keys\"),[e])),[r,i]=ye(void 0),[a,m]=ye(void 0),d=me(async $=>{i($),await s()},[s]),c=async $=>{awa" +
  "it d(await e.send(\"POST\",`/v1/keys/${$.id}/rotate`,{overlap_seconds:Be})),t(`${$.name} has a successor. The ol" +
  "d key works for one more day.`)},N=async $=>{await e.send(\"DELETE\",`/v1/keys/${$.id}`),t(`${$.name} is revoked" +
  ". Tokens that were made with it live out their hour.`),await s()};return P`\n    <h1>Keys</h1>\n    ${r&&P`\n    " +
  "  <section class=\"card\">\n        <${I} key=${r.id} secret=${r.key}\n          what=${`This is the key \"${r.name" +
  "}\"`} onDone=${()=>i(void 0)} />\n      </section>\n    `}\n    <section class=\"card\" aria-labelledby=\"new-title\">" +
  "\n      <h2 id=\"new-title\">New key</h2>\n      <${ue} onMade=${d} />\n    </section>\n    <section class=\"card\" ar" +
  "ia-labelledby=\"list-title\">\n      <h2 id=\"list-title\">Active keys</h2>\n      <${w} error=${o} />\n      ${n?.ke" +
  "ys.length===0&&P`<p class=\"quiet\">There is none.</p>`}\n      <ul class=\"items\">\n        ${n?.keys.map($=>P`<${" +
  "Ye} key=${$.id} of=${$} rotate=${c} onEnd=${m} />`)}\n      </ul>\n    </section>\n    ${a&&P`\n      <${q} title=" +
  "${`Revoke ${a.name}?`} yes=\"Revoke it\" onClose=${()=>m(void 0)}\n        text=${`${a.key_prefix}\\u2026 stops wo" +
  "rking at once, everywhere. Nothing brings it back.`}\n        work=${()=>N(a)} />\n    `}\n  `}function Ye({of:e," +
  "rotate:t,onEnd:n}){let o=[e.kind??\"secret\",...e.scopes===void 0?[]:[`may use ${e.scopes.join(\", \")}`],...(e.ch" +
  "annels??[]).map(({pattern:s,allow:r})=>`${s}: ${r.join(\", \")}`),...e.channel_id===void 0?[]:[`channel ${e.chan" +
  "nel_id}`],...e.message_limit===void 0?[]:[`${e.message_limit} messages a month`]];return P`\n    <li>\n      <di" +
  "v class=\"grow\">\n        <p><strong class=\"text\">${e.name}</strong> <code>${e.key_prefix}…</code></p>\n        <" +
  "p class=\"quiet\">${o.join(\" \\xB7 \")}</p>\n        <p class=\"quiet\">Made <${k} at=${e.created_at} />, used <${k} " +
  "at=${e.last_used_at} />${e.expires_at&&P`, expires <${k} at=${e.expires_at} />`}</p>\n      </div>\n      <div c" +
  "lass=\"row\">\n        <${b} label=${`Rotate ${e.name} ${e.key_prefix}`} work=${()=>t(e)}>Rotate<//>\n        <but" +
  "ton type=\"button\" class=\"danger\" aria-label=${`Revoke ${e.name} ${e.key_prefix}`}\n          onClick=${()=>n(e)" +
  "}>Revoke</button>\n      </div>\n    </li>\n  `}import{html as y,useCallback as Y,useEffect as G,useMemo as Ge,us" +
  "eRef as Je,useState as O}from\"./ui.js\";var B=\"/console\",he=[{path:B,name:\"Home\",show:()=>y`<${le} />`},{path:`" +
  "${B}/keys`,name:\"Keys\",show:()=>y`<${$e} />`},{path:`${B}/account`,name:\"Account\",show:()=>y`<${te} />`}],ze=8" +
  "e3;function fe({service:e}){let t=et(e),[n,o]=tt(),[s,r]=nt(),[i,a]=O(void 0),m=Ge(()=>({service:e,say:r,go:o}" +
  "),[e,r,o]),d=Y(()=>a(void 0),[]),c=i&&y`<${oe} secret=${i} onDone=${d} />`;return y`<${Q} value=${m}>${(()=>{s" +
  "witch(t.state){case\"unknown\":return y`\n          <main class=\"alone\" id=\"main\" aria-busy=\"true\">\n            <" +
  "h1>Static</h1>\n          </main>\n        `;case\"unreachable\":return y`<${Xe} text=${t.error.message} />`;case\"" +
  "out\":return y`${c}<${ne} onKey=${a} />`;case\"in\":case\"ended\":return y`<${Qe} key=${t.accountId} path=${n} ende" +
  "d=${t.state===\"ended\"} said=${s}>\n          ${c}\n        <//>`}})()}<//>`}function Qe({path:e,ended:t,said:n,c" +
  "hildren:o}){let s=he.find(r=>r.path===e);return ot(s?.name??\"Not found\"),y`\n    <a class=\"skip\" href=\"#main\">T" +
  "o the content</a>\n    <${Ze} path=${e} />\n    <div class=\"said\" role=\"status\">${n}</div>\n    <main id=\"main\" t" +
  "abindex=\"-1\">\n      ${o}\n      ${s===void 0?y`\n          <h1>Not found</h1>\n          <p>There is no such page" +
  ".</p>\n        `:s.show()}\n    </main>\n    ${t&&y`\n      <${D} title=\"Your session has ended\" required>\n       " +
  " <p>Sign in again to go on. Nothing on this page is lost.</p>\n        <${U} />\n        <//>\n    `}\n  `}functio" +
  "n Ze({path:e}){let{service:t,go:n}=l(),o=(s,r)=>{s.metaKey||s.ctrlKey||s.shiftKey||s.button!==0||(s.preventDef" +
  "ault(),n(r))};return y`\n    <header>\n      <span class=\"brand\">Static</span>\n      <nav aria-label=\"Pages\">\n  " +
  "      <ul>\n        ${he.map(s=>y`<li key=${s.path}><a href=${s.path} aria-current=${s.path===e?\"page\":void 0}\n" +
  "            onClick=${r=>o(r,s.path)}>${s.name}</a></li>`)}\n        <li><a href=\"/docs\">API</a></li>\n      </u" +
  "l>\n      </nav>\n      <${b} work=${()=>t.logOut()}>Sign out<//>\n    </header>\n  `}function Xe({text:e}){let{se" +
  "rvice:t}=l();return y`\n    <main class=\"alone\" id=\"main\">\n      <h1>Static</h1>\n      <p role=\"alert\">${e}</p>" +
  "\n      <p>\n        <${b} work=${()=>t.begin()}>Try again<//></p></main>\n  `}function et(e){let[t,n]=O(e.signIn" +
  ");return G(()=>(n(e.signIn),e.listen(()=>n(e.signIn))),[e]),t}function tt(){let[e,t]=O(location.pathname);G(()" +
  "=>{let o=()=>t(location.pathname);return addEventListener(\"popstate\",o),()=>removeEventListener(\"popstate\",o)}" +
  ",[]);let n=Y(o=>{history.pushState(null,\"\",o),t(o),document.getElementById(\"main\")?.focus(),scrollTo(0,0)},[])" +
  ";return[e.replace(/\\/$/,\"\"),n]}function nt(){let[e,t]=O(\"\"),n=Je(void 0),o=Y(s=>{clearTimeout(n.current),t(s)," +
  "n.current=setTimeout(()=>t(\"\"),ze)},[]);return[e,o]}function ot(e){G(()=>{document.title=`${e} \\xB7 Static`},[" +
  "e])}import{html as st,render as rt}from\"./ui.js\";var ge=new M,J=document.getElementById(\"app\");J!==null&&(J.re" +
  "placeChildren(),rt(st`<${fe} service=${ge} />`,J));ge.begin();\n";
