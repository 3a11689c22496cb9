/** Built from sdk/platform/browser_worker.ts by .ci/generate_workers.ts; do not edit. */
export const source =
  "var a={invalidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8," +
  "failedPrecondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16}," +
  "l=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClass:n}),C={join_timeout:l(504,a.deadlineExceeded,257,\"TransportErr" +
  "or\"),auth_failed:l(401,a.unauthenticated,258,\"AuthError\"),auth_key_invalid:l(401,a.unauthenticated,259,\"AuthEr" +
  "ror\"),transport_error:l(502,a.unavailable,260,\"TransportError\"),connection_error:l(502,a.unavailable,261,\"Tran" +
  "sportError\"),listener_died:l(500,a.internal,262,\"TransportError\"),channel_error:l(400,a.invalidArgument,263,\"C" +
  "hannelError\"),quota_exceeded:l(429,a.resourceExhausted,264,\"QuotaExceededError\"),mls_error:l(409,a.failedPreco" +
  "ndition,265,\"MlsError\"),invalid_request:l(400,a.invalidArgument,272,\"TransportError\"),not_found:l(404,a.notFou" +
  "nd,273,\"ChannelError\"),method_not_allowed:l(405,a.unimplemented,274,\"TransportError\"),payload_too_large:l(413," +
  "a.outOfRange,275,\"ChannelError\"),unsupported_media_type:l(415,a.invalidArgument,276,\"TransportError\"),rate_lim" +
  "ited:l(429,a.resourceExhausted,277,\"TransportError\"),internal:l(500,a.internal,278,\"TransportError\"),overloade" +
  "d:l(503,a.unavailable,279,\"TransportError\"),email_taken:l(409,a.alreadyExists,288,\"AuthError\"),key_limit_reach" +
  "ed:l(409,a.resourceExhausted,289,\"AuthError\"),protocol_error:l(400,a.invalidArgument,304,\"TransportError\"),uns" +
  "upported_version:l(400,a.failedPrecondition,305,\"TransportError\"),unknown_operation:l(404,a.unimplemented,306," +
  "\"TransportError\"),session_expired:l(401,a.unauthenticated,307,\"AuthError\"),session_replaced:l(409,a.aborted,30" +
  "8,\"TransportError\"),slow_reader:l(429,a.resourceExhausted,309,\"TransportError\"),relay_draining:l(503,a.unavail" +
  "able,310,\"TransportError\"),name_taken:l(409,a.alreadyExists,320,\"ChannelError\"),epoch_conflict:l(409,a.aborted" +
  ",321,\"MlsError\"),not_allowed:l(403,a.permissionDenied,322,\"ChannelError\"),member_limit_reached:l(409,a.resourc" +
  "eExhausted,323,\"ChannelError\"),already_member:l(409,a.alreadyExists,324,\"ChannelError\"),queue_full:l(429,a.res" +
  "ourceExhausted,325,\"ChannelError\"),cursor_invalid:l(416,a.outOfRange,326,\"ChannelError\"),key_package_invalid:l" +
  "(400,a.invalidArgument,327,\"MlsError\"),key_package_missing:l(404,a.failedPrecondition,328,\"MlsError\"),join_rej" +
  "ected:l(403,a.permissionDenied,329,\"ChannelError\"),membership_lapsed:l(410,a.failedPrecondition,330,\"ChannelEr" +
  "ror\"),store_locked:l(409,a.failedPrecondition,336,\"ChannelError\"),store_corrupt:l(500,a.internal,337,\"MlsError" +
  "\"),passphrase_wrong:l(401,a.unauthenticated,338,\"AuthError\")};function A(t){return Object.hasOwn(C,t)}function" +
  " W(t){return de.get(t)}var de=new Map(Object.entries(C).flatMap(([t,{close:e}])=>A(t)?[[e,t]]:[])),p=class ext" +
  "ends Error{name=\"WireError\";code;requestId;constructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.caus" +
  "e}),this.code=e,this.requestId=n.requestId}};var f=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellByte" +
  "s:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:209" +
  "7152,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborDepth:6,cborItems:32768,m" +
  "embersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500,answersPerCommit:1e3,pr" +
  "oofsPerCommit:100,featuresPerSession:64,identityBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64" +
  ",errorTextBytes:1024,errorCodeBytes:64,nameComponentBytes:63,channelNameBytes:191,emailBytes:254,queueBytesPer" +
  "Channel:67108864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clock" +
  "SkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5});var w=3,y=4,R={control:0" +
  ",data:1};function U(t){if(!Number.isInteger(t)||t<f.minCellBytes||t>f.maxCellBytes)throw new p(\"protocol_error" +
  "\",`A cell has ${f.minCellBytes} to ${f.maxCellBytes} bytes, not ${t}`);return t}function k(t){if(t===0||t>f.en" +
  "velopeBytes)throw new p(\"payload_too_large\",`Cannot send an envelope of ${t} bytes; 1 to ${f.envelopeBytes} ar" +
  "e allowed`)}var B=class{#r;#e=[];#t=[];#n=[0,0];#s=0;constructor(e){this.#r=U(e)}set cellBytes(e){if(this.#s>0" +
  ")throw new TypeError(\"Cannot change the cell size while envelopes are waiting\");this.#r=U(e)}get cellBytes(){r" +
  "eturn this.#r}get pendingBytes(){return this.#s}push(e,r){k(r.length),(e===\"control\"?this.#e:this.#t).push(r)," +
  "this.#s+=r.length+y}next(e){let r=this.#e.length>0?R.control:R.data,n=r===R.control?this.#e:this.#t;if(n.lengt" +
  "h===0)return;let o=e?.length===this.#r?e:new Uint8Array(this.#r);return this.#o(o,n,r),o}#o(e,r,n){let o=w,s=0" +
  ",c=this.#n[n]??0;for(let i of r){if(c===0){if(e.length-o<=y)break;ce(e,o,i.length),o+=y,c=y}let d=c-y,h=i.suba" +
  "rray(d,d+e.length-o);if(e.set(h,o),o+=h.length,c+=h.length,c-y<i.length)break;s++,c=0}let u=o-w;s===1?r.shift(" +
  "):r.splice(0,s),this.#n[n]=c,this.#s-=u,e[0]=n,e[1]=u>>8,e[2]=u&255,e.fill(0,o)}};function ce(t,e,r){t[e]=r>>>" +
  "24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var ue=64*1024,V=.5,he=2,E=class{#r;#e;#t=[];#n=0;#s=0;#o=new Uint8Arra" +
  "y(0);#l=\"off\";#d=0;#i;#h=0;#g=!0;#u=!1;#y=!1;#a=!1;#p=new Set;#c={cells:0,coverCells:0,coverBytes:0,paddingByt" +
  "es:0};constructor(e){this.#r=e,this.#e=new B(e.cellBytes)}get pendingBytes(){return this.#e.pendingBytes+this." +
  "#n+this.#s}get counts(){return{...this.#c}}push(e,r){this.#a||(this.#t.length===0?this.#e.push(e,r):(k(r.lengt" +
  "h),this.#t.push({lane:e,envelope:r}),this.#n+=r.length+y),this.#f())}setCellBytes(e){this.#t.push({cellBytes:U" +
  "(e)}),this.#C()}configure(e,r){if(!this.#a){if(e!==\"off\"&&!(r>0))throw new RangeError(`Cover needs an interval" +
  " above 0, not ${r}`);this.#i?.(),this.#i=void 0,this.#l=e,this.#d=r,this.#u=!1,this.#h=this.#r.nowMs(),e!==\"of" +
  "f\"&&this.#x(),this.#f()}}setCovering(e){this.#g=e}flush(e){return this.#a?Promise.resolve(this.pendingBytes===" +
  "0):!this.#y&&this.pendingBytes===0?Promise.resolve(!0):new Promise(r=>{let n=s=>{this.#p.delete(n),o(),r(s)},o" +
  "=this.#r.after(e,()=>n(!1));this.#p.add(n)})}stop(){this.#a=!0,this.#i?.(),this.#i=void 0,this.#o=new Uint8Arr" +
  "ay(0);for(let e of this.#p)e(!1)}#f(){this.#y||this.#a||!this.#b()||(this.#y=!0,this.#A())}#b(){return this.#u" +
  "||this.#l!==\"constant\"&&this.#e.pendingBytes>0}async#A(){await void 0;try{for(;!this.#a&&this.#b();){let e=thi" +
  "s.#l===\"constant\"?this.#E():this.#U();if(await this.#r.write(e,this.#e.cellBytes),this.#s=0,this.#a)break;this" +
  ".#C(),this.#r.onWritten?.()}}catch(e){this.#s=0;let r=this.#a;this.stop(),r||this.#r.onFailed?.(e)}this.#y=!1," +
  "this.#B()}#B(){if(!(this.#a||this.pendingBytes>0)){this.#o.length>he*this.#e.cellBytes&&(this.#o=new Uint8Arra" +
  "y(0));for(let e of this.#p)e(!0)}}#E(){this.#u=!1;let e=this.#m(1);return this.#v(e)?e:this.#w(e)}#U(){let{cel" +
  "lBytes:e,pendingBytes:r}=this.#e;if(r===0)return this.#u=!1,this.#w(this.#m(1));let n=Math.ceil(r/(e-w))+1,o=t" +
  "his.#m(Math.min(n,Math.max(1,Math.floor(ue/e)))),s=0;for(;s<o.length&&this.#v(o.subarray(s,s+e));)s+=e;return " +
  "o.subarray(0,s)}#m(e){let r=e*this.#e.cellBytes;return this.#o.length<r&&(this.#o=new Uint8Array(r)),this.#o.s" +
  "ubarray(0,r)}#v(e){let r=this.#e.pendingBytes;if(this.#e.next(e)===void 0)return!1;let n=r-this.#e.pendingByte" +
  "s;return this.#s+=n,this.#c.cells++,this.#c.paddingBytes+=e.length-w-n,!0}#w(e){return this.#c.cells++,this.#c" +
  ".coverCells++,this.#c.coverBytes+=e.length,e.fill(0)}#x(){let e=this.#r.nowMs();this.#i=this.#r.after(this.#l=" +
  "==\"poisson\"?this.#k():this.#S(e),()=>{this.#u=this.#g||this.#l===\"constant\"&&this.#e.pendingBytes>0,this.#x()," +
  "this.#f()})}#k(){return-Math.log(1-this.#r.random())*this.#d}#S(e){this.#h=ye(this.#h,this.#d,e);let r=this.#r" +
  ".random()*V*this.#d;return Math.max((1-V)*this.#d,this.#h-r-e)}#C(){for(;this.#e.pendingBytes===0&&this.#t.len" +
  "gth>0;){let e=this.#t.findIndex((r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:" +
  "e))\"cellBytes\"in r?this.#e.cellBytes=r.cellBytes:(this.#n-=r.envelope.length+y,this.#e.push(r.lane,r.envelope)" +
  ")}}};function ye(t,e,r){if(r<t-e)return r+e;let n=Math.max(0,Math.floor((r-t)/e));return t+(n+1)*e}var b=class" +
  " extends Error{name=\"StaticError\";code;retryAfterMs;epoch;constructor(e,r,n={}){super(r,n.cause===void 0?void " +
  "0:{cause:n.cause}),this.code=e,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch}},O=class extends b{name=\"T" +
  "ransportError\"},I=class extends b{name=\"AuthError\"},D=class extends b{name=\"ChannelError\"},F=class extends b{n" +
  "ame=\"QuotaExceededError\"},K=class extends b{name=\"MlsError\"},pe={TransportError:O,AuthError:I,ChannelError:D,Q" +
  "uotaExceededError:F,MlsError:K};function $(t,e,r){return new pe[C[t].errorClass](t,e,r)}async function z(t,e){" +
  "let r=t.body?.getReader();if(r===void 0)return\"\";let n=new TextDecoder,o=\"\";try{for(let s=await r.read();s.val" +
  "ue!==void 0;s=await r.read())if(o+=n.decode(s.value,{stream:!0}),o.length>e)return;return o}finally{await r.ca" +
  "ncel()}}var J=2,x=5,fe=64*1024,me=10;function Q(t){let e=new Uint8Array(x+t.length);return ge(e,1,t.length),e." +
  "set(t,x),e}function G(t){let{value:e,end:r}=H(t,0,me);if(r!==t.length)throw new p(\"protocol_error\",\"A cell's m" +
  "essage holds more than a cell\");return e}function X(t,e,r){let[n,o]=[L(10,t.length),L(26,r.length)],s=new Uint" +
  "8Array(9);return s[0]=17,new DataView(s.buffer).setBigUint64(1,BigInt(e),!0),M([n,t,s,o,r])}function Y(t){retu" +
  "rn M([L(10,t.length),t])}function Z(t){let e=new TextDecoder,r=H(t,0,10);return r.end===t.length?{code:e.decod" +
  "e(r.value),message:\"\"}:{code:e.decode(r.value),message:e.decode(H(t,r.end,18).value)}}var S=class{#r=new Uint8" +
  "Array(x);#e=0;#t=new Uint8Array(0);#n=0;read(e,r){let n=0;for(;n<e.length;){if(this.#e<x){let s=e.subarray(n,n" +
  "+x-this.#e);if(this.#r.set(s,this.#e),this.#e+=s.length,n+=s.length,this.#e<x)return;this.#s()}let o=e.subarra" +
  "y(n,n+this.#t.length-this.#n);n+=o.length,o.length===this.#t.length?this.#o(o,r):(this.#t.set(o,this.#n),this." +
  "#n+=o.length,this.#n===this.#t.length&&this.#o(this.#t,r))}}#s(){let e=new DataView(this.#r.buffer).getUint32(" +
  "1);if(e===0||e>fe)throw new p(\"protocol_error\",`A message of ${e} bytes where cells are expected`);this.#t.len" +
  "gth!==e&&(this.#t=new Uint8Array(e)),this.#n=0}#o(e,r){this.#e=0,r(this.#r[0]??0,e)}};function M(t){let e=new " +
  "Uint8Array(t.reduce((n,{length:o})=>n+o,0)),r=0;for(let n of t)e.set(n,r),r+=n.length;return e}function L(t,e)" +
  "{let r=[t];for(let n=e;n>0||r.length===1;n>>>=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}function H" +
  "(t,e,r){if(t[e]!==r)throw new p(\"protocol_error\",\"A message without the field that it must have\");let[n,o]=[0," +
  "e+1];for(let s=1;s<=2**14;s*=128){let c=t[o++]??0;if(n+=(c&127)*s,c<128){if(n>t.length-o)break;return{value:t." +
  "subarray(o,o+n),end:o+n}}}throw new p(\"protocol_error\",\"A field goes beyond the end of its message\")}function " +
  "ge(t,e,r){new DataView(t.buffer,t.byteOffset).setUint32(e,r)}var be=\"static.relay.v1.ErrorDetail\";function N(t" +
  ",e){let r=ve(t),{message:n,details:o}=q(r.error??r);for(let s of Array.isArray(o)?o:[]){let{type:c,value:u}=q(" +
  "s);if(!(c!==be||typeof u!=\"string\"))try{let i=Z(Uint8Array.from(atob(u),d=>d.charCodeAt(0)));if(A(i.code))retu" +
  "rn{code:i.code,message:i.message}}catch{}}return{message:typeof n==\"string\"?n.slice(0,1024):e}}function ve(t){" +
  "try{return q(JSON.parse(t))}catch{return{}}}function q(t){return typeof t==\"object\"&&t!==null?t:{}}function v(" +
  "t){let e=[];for(let r=t;r!==void 0&&e.length<3;r=r instanceof Error?r.cause:void 0){let n=r instanceof Error?r" +
  ".message:String(r);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e.join(\": \")}var we=32,xe=64*1024,Ce=16" +
  ",Ae={\"connect-protocol-version\":\"1\"};function ee({openHttp:t,unusable:e,randomBytes:r}){return{transport:\"cell" +
  "s\",carrier:\"tcp\",unusable:e,connect:(n,o)=>{let s=t(n.trust),c=new AbortController;c.signal.addEventListener(\"" +
  "abort\",()=>s.close());let u=Be(s,n,c.signal),i=r(we),d=u(\"CellDown\",\"application/connect+proto\",Q(Y(i))),h=(P," +
  "g)=>u(\"CellUp\",\"application/proto\",X(i,P,g)),m=new j(d,h,c);return o.aborted&&m.close(),Promise.resolve(m)}}}f" +
  "unction Be(t,{host:e,port:r},n){let o=`${e.includes(\":\")?`[${e}]`:e}:${r}`;return async(s,c,u)=>{let i=await t" +
  ".request(`https://${o}/static.relay.v1.Relay/${s}`,{method:\"POST\",headers:{...Ae,\"content-type\":c},body:u,sign" +
  "al:n,redirect:\"error\",credentials:\"omit\",cache:\"no-store\"});if(i.status===200)return i;let d=await z(i,xe)??\"\"" +
  ",{code:h,message:m}=N(d,`${s} was answered ${i.status}`);throw $(h??\"transport_error\",m)}}var j=class{#r;#e;#t" +
  ";#n=new S;#s=0;#o=()=>{};closed;constructor(e,r,n){this.#r=e.then(o=>o.body?.getReader()),this.#r.catch(()=>{}" +
  "),this.#e=r,this.#t=n,this.closed=new Promise(o=>this.#o=o)}async read(){try{for(;;){let e=await(await this.#r" +
  ")?.read();if(e?.value===void 0)return this.#i({message:\"the connection was cut off\"});let{cells:r,end:n}=this." +
  "#d(e.value);if(n!==void 0&&this.#i(n),r.length>0)return M(r);if(n!==void 0)return}}catch(e){return this.#i({me" +
  "ssage:v(e)})}}async write(e,r){let n=Array.from({length:e.length/r},(o,s)=>s*r);try{for(;n.length>0;)await Pro" +
  "mise.all(n.splice(0,Ce).map(o=>this.#l(e.subarray(o,o+r))))}catch(o){throw this.#i({message:v(o)}),o}}async#l(" +
  "e){await(await this.#e(++this.#s,e)).arrayBuffer()}close(){this.#i({message:\"it was closed by this side\"})}#d(" +
  "e){let r=[],n;return this.#n.read(e,(o,s)=>{o===0?r.push(G(s).slice()):n=o===J?Ee(s):{message:\"compressed cell" +
  "s were not asked for\"}}),{cells:r,end:n}}#i(e){this.#o(e),this.#t.abort($(\"transport_error\",e.message))}};func" +
  "tion Ee(t){return N(new TextDecoder().decode(t),\"the relay ended the stream\")}function re(){return Date.now()}" +
  "function T(t,e){let r=setTimeout(e,t);return()=>clearTimeout(r)}function _(t){return crypto.getRandomValues(ne" +
  "w Uint8Array(t))}function Ue(){return{request:(t,e)=>fetch(t,e),close:()=>{}}}var te=ee({openHttp:Ue,unusable:" +
  "ke,randomBytes:_});function ke({caCerts:t,certificateHashes:e}){return t.length>0||e.length>0?\"a browser's fet" +
  "ch trusts only what the browser trusts; tls options do not apply\":void 0}var Se=1500,Me=64*1024;function ne(t)" +
  "{let e=t.readable.getReader({mode:\"byob\"}),r=t.writable.getWriter();r.closed.catch(()=>{});let n=new ArrayBuff" +
  "er(Me),o=()=>{},s=new Promise(d=>o=d),c,u=d=>{c?.(),o(d)};t.closed.then(({closeCode:d=0})=>u(Te(d)),d=>u({mess" +
  "age:v(d)}));let i=()=>{r.close().catch(()=>{}),c??=t.after(Se,()=>{t.close(0),o({message:\"the relay ended the " +
  "stream\"})})};return{read:async()=>{try{let{value:d}=await e.read(new Uint8Array(n));if(d!==void 0&&d.length>0)" +
  "return n=d.buffer,d}catch{}i()},write:async d=>{try{await r.write(d)}catch(h){throw i(),h}},close:d=>{o({messa" +
  "ge:\"it was closed by this side\"}),d===0?i():t.close(d)},closed:s}}function Te(t){let e=W(t);return e===void 0?" +
  "{message:\"the relay closed the connection\"}:{code:e,message:`the relay closed the connection with ${e}`}}var s" +
  "e={transport:\"webtransport\",carrier:\"udp\",unusable:({caCerts:t})=>oe()===void 0?\"this browser has no WebTransp" +
  "ort\":t.length>0?\"a browser takes no certificates; give tls.certificateHashes\":void 0,connect:async({host:t,por" +
  "t:e,trust:r},n)=>{let o=oe();if(o===void 0)throw new Error(\"this browser has no WebTransport\");n.throwIfAborte" +
  "d();let s=r.certificateHashes.map(h=>({algorithm:\"sha-256\",value:h})),c=`${t.includes(\":\")?`[${t}]`:t}:${e}`,u" +
  "=new o(`https://${c}/`,{...s.length>0&&{serverCertificateHashes:s}});u.closed.catch(()=>{});let i=h=>u.close({" +
  "closeCode:h}),d=()=>i(0);n.addEventListener(\"abort\",d);try{await u.ready;let{readable:h,writable:m}=await u.cr" +
  "eateBidirectionalStream();return ne({readable:h,writable:m,closed:u.closed,close:i,after:T})}catch(h){throw n." +
  "aborted?n.reason:h}finally{n.removeEventListener(\"abort\",d)}}};function oe(){return globalThis.WebTransport}va" +
  "r _e=2e3;function ie(t,e){let r,n,o=0,s=i=>{t.post({kind:\"written\",takenBytes:o-i.pendingBytes,counts:i.counts" +
  "})},c=async({transport:i,target:d})=>{let h=e.connectors.find(g=>g.transport===i);if(h===void 0)throw new Erro" +
  "r(`no way to connect by ${i} in a thread of its own`);let m=r=await h.connect(d,new AbortController().signal)," +
  "P=n=new E({cellBytes:f.cellBytes,write:(g,le)=>m.write(g,le),after:e.after,nowMs:e.nowMs,random:()=>new DataVi" +
  "ew(e.randomBytes(4).buffer).getUint32(0)/2**32,onWritten:()=>s(P),onFailed:()=>t.post({kind:\"failed\"})});m.clo" +
  "sed.then(g=>t.post({kind:\"closed\",end:g})),t.post({kind:\"connected\"})},u=async()=>{let i=await r?.read();t.pos" +
  "t({kind:\"chunk\",bytes:i?.slice()})};t.listen(i=>{switch(i.kind){case\"connect\":return void c(i).catch(d=>t.post" +
  "({kind:\"refused\",message:v(d)}));case\"push\":return o+=i.envelope.length+y,n?.push(i.lane,i.envelope);case\"cell" +
  "Bytes\":return n?.setCellBytes(i.cellBytes);case\"configure\":return n?.configure(i.mode,i.intervalMs);case\"cover" +
  "ing\":return n?.setCovering(i.covering);case\"flush\":return void n?.flush(i.timeoutMs).then(d=>{t.post({kind:\"fl" +
  "ushed\",id:i.id,flushed:d})});case\"read\":return void u();case\"stop\":return n?.stop();case\"close\":return r?.clos" +
  "e(i.closeCode),void e.after(_e,e.exit)}})}function ae(t){let e=globalThis;ie({post:r=>e.postMessage(r),listen:" +
  "r=>{e.onmessage=({data:n})=>r(n)}},{connectors:t,nowMs:re,after:T,randomBytes:_,exit:()=>e.close()})}ae([se,te" +
  "]);\n";
