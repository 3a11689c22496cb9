/** Built from sdk/platform/deno_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var i={invalidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8," +
  "failedPrecondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16}," +
  "a=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClass:n}),B={join_timeout:a(504,i.deadlineExceeded,257,\"TransportErr" +
  "or\"),auth_failed:a(401,i.unauthenticated,258,\"AuthError\"),auth_key_invalid:a(401,i.unauthenticated,259,\"AuthEr" +
  "ror\"),transport_error:a(502,i.unavailable,260,\"TransportError\"),connection_error:a(502,i.unavailable,261,\"Tran" +
  "sportError\"),listener_died:a(500,i.internal,262,\"TransportError\"),channel_error:a(400,i.invalidArgument,263,\"C" +
  "hannelError\"),quota_exceeded:a(429,i.resourceExhausted,264,\"QuotaExceededError\"),mls_error:a(409,i.failedPreco" +
  "ndition,265,\"MlsError\"),invalid_request:a(400,i.invalidArgument,272,\"TransportError\"),not_found:a(404,i.notFou" +
  "nd,273,\"ChannelError\"),method_not_allowed:a(405,i.unimplemented,274,\"TransportError\"),payload_too_large:a(413," +
  "i.outOfRange,275,\"ChannelError\"),unsupported_media_type:a(415,i.invalidArgument,276,\"TransportError\"),rate_lim" +
  "ited:a(429,i.resourceExhausted,277,\"TransportError\"),internal:a(500,i.internal,278,\"TransportError\"),overloade" +
  "d:a(503,i.unavailable,279,\"TransportError\"),email_taken:a(409,i.alreadyExists,288,\"AuthError\"),key_limit_reach" +
  "ed:a(409,i.resourceExhausted,289,\"AuthError\"),account_suspended:a(403,i.permissionDenied,290,\"AuthError\"),conf" +
  "lict:a(409,i.aborted,291,\"AuthError\"),code_invalid:a(400,i.invalidArgument,292,\"AuthError\"),csrf_failed:a(403," +
  "i.permissionDenied,293,\"AuthError\"),protocol_error:a(400,i.invalidArgument,304,\"TransportError\"),unsupported_v" +
  "ersion:a(400,i.failedPrecondition,305,\"TransportError\"),unknown_operation:a(404,i.unimplemented,306,\"Transport" +
  "Error\"),session_expired:a(401,i.unauthenticated,307,\"AuthError\"),session_replaced:a(409,i.aborted,308,\"Transpo" +
  "rtError\"),slow_reader:a(429,i.resourceExhausted,309,\"TransportError\"),relay_draining:a(503,i.unavailable,310,\"" +
  "TransportError\"),name_taken:a(409,i.alreadyExists,320,\"ChannelError\"),epoch_conflict:a(409,i.aborted,321,\"MlsE" +
  "rror\"),not_allowed:a(403,i.permissionDenied,322,\"ChannelError\"),member_limit_reached:a(409,i.resourceExhausted" +
  ",323,\"ChannelError\"),already_member:a(409,i.alreadyExists,324,\"ChannelError\"),queue_full:a(429,i.resourceExhau" +
  "sted,325,\"ChannelError\"),cursor_invalid:a(416,i.outOfRange,326,\"ChannelError\"),key_package_invalid:a(400,i.inv" +
  "alidArgument,327,\"MlsError\"),key_package_missing:a(404,i.failedPrecondition,328,\"MlsError\"),join_rejected:a(40" +
  "3,i.permissionDenied,329,\"ChannelError\"),membership_lapsed:a(410,i.failedPrecondition,330,\"ChannelError\"),stat" +
  "e_conflict:a(409,i.failedPrecondition,331,\"MlsError\"),store_locked:a(409,i.failedPrecondition,336,\"ChannelErro" +
  "r\"),store_corrupt:a(500,i.internal,337,\"MlsError\"),passphrase_wrong:a(401,i.unauthenticated,338,\"AuthError\")};" +
  "function E(t){return Object.hasOwn(B,t)}function R(t){return de.get(t)}var de=new Map(Object.entries(B).flatMa" +
  "p(([t,{close:e}])=>E(t)?[[e,t]]:[])),p=class extends Error{name=\"WireError\";code;requestId;constructor(e,r,n={" +
  "}){super(r,n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.requestId=n.requestId}};var f=Object.free" +
  "ze({cellBytes:4096,minCellBytes:1024,maxCellBytes:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackag" +
  "eBytes:16384,commitBytes:262144,welcomeBytes:2097152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeBytes" +
  ":2490368,handshakeEnvelopeBytes:16384,cborDepth:6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,k" +
  "eyPackagesPerUpload:100,channelsPerPage:500,answersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:64,owner" +
  "sChanges:64,featuresPerSession:64,identityBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,error" +
  "TextBytes:1024,errorCodeBytes:64,nameComponentBytes:63,channelNameBytes:191,emailBytes:254,contentFieldsBytes:" +
  "8192,contentTypeBytes:127,contentAddressees:64,conversationBytes:128,contentHeaders:32,contentHeaderNameBytes:" +
  "64,contentHeaderValueBytes:1024,contentErrorBytes:64,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowByt" +
  "es:16777216,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCov" +
  "erIntervalMs:10,maxCoverIntervalMs:36e5});var C=3,h=4,I={control:0,data:1};function U(t){if(!Number.isInteger(" +
  "t)||t<f.minCellBytes||t>f.maxCellBytes)throw new p(\"protocol_error\",`A cell has ${f.minCellBytes} to ${f.maxCe" +
  "llBytes} bytes, not ${t}`);return t}function S(t){if(t===0||t>f.envelopeBytes)throw new p(\"payload_too_large\"," +
  "`Cannot send an envelope of ${t} bytes; 1 to ${f.envelopeBytes} are allowed`)}var k=class{#r;#e=[];#t=[];#o=[0" +
  ",0];#n=0;constructor(e){this.#r=U(e)}set cellBytes(e){if(this.#n>0)throw new TypeError(\"Cannot change the cell" +
  " size while envelopes are waiting\");this.#r=U(e)}get cellBytes(){return this.#r}get pendingBytes(){return this" +
  ".#n}push(e,r){S(r.length),(e===\"control\"?this.#e:this.#t).push(r),this.#n+=r.length+h}next(e){let r=this.#e.le" +
  "ngth>0?I.control:I.data,n=r===I.control?this.#e:this.#t;if(n.length===0)return;let o=e?.length===this.#r?e:new" +
  " Uint8Array(this.#r);return this.#s(o,n,r),o}#s(e,r,n){let o=C,s=0,c=this.#o[n]??0;for(let l of r){if(c===0){i" +
  "f(e.length-o<=h)break;ce(e,o,l.length),o+=h,c=h}let d=c-h,y=l.subarray(d,d+e.length-o);if(e.set(y,o),o+=y.leng" +
  "th,c+=y.length,c-h<l.length)break;s++,c=0}let u=o-C;s===1?r.shift():r.splice(0,s),this.#o[n]=c,this.#n-=u,e[0]" +
  "=n,e[1]=u>>8,e[2]=u&255,e.fill(0,o)}};function ce(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var u" +
  "e=64*1024,z=.5,ye=2,_=class{#r;#e;#t=[];#o=0;#n=0;#s=new Uint8Array(0);#d=\"off\";#a=0;#c;#u=0;#i=!0;#h=!1;#p=!1" +
  ";#l=!1;#f=new Set;#y={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#r=e,this.#e=new k" +
  "(e.cellBytes)}get pendingBytes(){return this.#e.pendingBytes+this.#o+this.#n}get counts(){return{...this.#y}}p" +
  "ush(e,r){this.#l||(this.#t.length===0?this.#e.push(e,r):(S(r.length),this.#t.push({lane:e,envelope:r}),this.#o" +
  "+=r.length+h),this.#m())}setCellBytes(e){this.#t.push({cellBytes:U(e)}),this.#v()}configure(e,r){if(!this.#l){" +
  "if(e!==\"off\"&&!(r>0))throw new RangeError(`Cover needs an interval above 0, not ${r}`);this.#c?.(),this.#c=voi" +
  "d 0,this.#d=e,this.#a=r,this.#h=!1,this.#u=this.#r.nowMs(),e!==\"off\"&&this.#C(),this.#m()}}setCovering(e){this" +
  ".#i=e}flush(e){return this.#l?Promise.resolve(this.pendingBytes===0):!this.#p&&this.pendingBytes===0?Promise.r" +
  "esolve(!0):new Promise(r=>{let n=s=>{this.#f.delete(n),o(),r(s)},o=this.#r.after(e,()=>n(!1));this.#f.add(n)})" +
  "}stop(){this.#l=!0,this.#c?.(),this.#c=void 0,this.#s=new Uint8Array(0);for(let e of this.#f)e(!1)}#m(){this.#" +
  "p||this.#l||!this.#b()||(this.#p=!0,this.#A())}#b(){return this.#h||this.#d!==\"constant\"&&this.#e.pendingBytes" +
  ">0}async#A(){await void 0;try{for(;!this.#l&&this.#b();){let e=this.#d===\"constant\"?this.#E():this.#k();if(awa" +
  "it this.#r.write(e,this.#e.cellBytes),this.#n=0,this.#l)break;this.#v(),this.#r.onWritten?.()}}catch(e){this.#" +
  "n=0;let r=this.#l;this.stop(),r||this.#r.onFailed?.(e)}this.#p=!1,this.#B()}#B(){if(!(this.#l||this.pendingByt" +
  "es>0)){this.#s.length>ye*this.#e.cellBytes&&(this.#s=new Uint8Array(0));for(let e of this.#f)e(!0)}}#E(){this." +
  "#h=!1;let e=this.#g(1);return this.#w(e)?e:this.#x(e)}#k(){let{cellBytes:e,pendingBytes:r}=this.#e;if(r===0)re" +
  "turn this.#h=!1,this.#x(this.#g(1));let n=Math.ceil(r/(e-C))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(ue/e" +
  ")))),s=0;for(;s<o.length&&this.#w(o.subarray(s,s+e));)s+=e;return o.subarray(0,s)}#g(e){let r=e*this.#e.cellBy" +
  "tes;return this.#s.length<r&&(this.#s=new Uint8Array(r)),this.#s.subarray(0,r)}#w(e){let r=this.#e.pendingByte" +
  "s;if(this.#e.next(e)===void 0)return!1;let n=r-this.#e.pendingBytes;return this.#n+=n,this.#y.cells++,this.#y." +
  "paddingBytes+=e.length-C-n,!0}#x(e){return this.#y.cells++,this.#y.coverCells++,this.#y.coverBytes+=e.length,e" +
  ".fill(0)}#C(){let e=this.#r.nowMs();this.#c=this.#r.after(this.#d===\"poisson\"?this.#_():this.#U(e),()=>{this.#" +
  "h=this.#i||this.#d===\"constant\"&&this.#e.pendingBytes>0,this.#C(),this.#m()})}#_(){return-Math.log(1-this.#r.r" +
  "andom())*this.#a}#U(e){this.#u=he(this.#u,this.#a,e);let r=this.#r.random()*z*this.#a;return Math.max((1-z)*th" +
  "is.#a,this.#u-r-e)}#v(){for(;this.#e.pendingBytes===0&&this.#t.length>0;){let e=this.#t.findIndex((r,n)=>n>0&&" +
  "\"cellBytes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"in r?this.#e.cellBytes=r.cellB" +
  "ytes:(this.#o-=r.envelope.length+h,this.#e.push(r.lane,r.envelope))}}};function he(t,e,r){if(r<t-e)return r+e;" +
  "let n=Math.max(0,Math.floor((r-t)/e));return t+(n+1)*e}async function D({body:t},e){let r=t?.getReader();if(r=" +
  "==void 0)return\"\";let n=new TextDecoder,o=\"\";try{for(let s=await r.read();s.value!==void 0;s=await r.read())if" +
  "(o+=n.decode(s.value,{stream:!0}),o.length>e)return;return o}finally{await r.cancel()}}var b=class extends Err" +
  "or{name=\"StaticError\";code;retryAfterMs;epoch;constructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.c" +
  "ause}),this.code=e,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch}},W=class extends b{name=\"TransportErro" +
  "r\"},K=class extends b{name=\"AuthError\"},L=class extends b{name=\"ChannelError\"},H=class extends b{name=\"QuotaEx" +
  "ceededError\"},F=class extends b{name=\"MlsError\"},pe={TransportError:W,AuthError:K,ChannelError:L,QuotaExceeded" +
  "Error:H,MlsError:F};function q(t,e,r){return new pe[B[t].errorClass](t,e,r)}var J=2,v=5,fe=64*1024,me=10;funct" +
  "ion G(t){let e=new Uint8Array(v+t.length);return ge(e,1,t.length),e.set(t,v),e}function X(t){let{value:e,end:r" +
  "}=Q(t,0,me);if(r!==t.length)throw new p(\"protocol_error\",\"A cell's message holds more than a cell\");return e}f" +
  "unction Y(t,e,r){let[n,o]=[$(10,t.length),$(26,r.length)],s=new Uint8Array(9);return s[0]=17,new DataView(s.bu" +
  "ffer).setBigUint64(1,BigInt(e),!0),P([n,t,s,o,r])}function Z(t){return P([$(10,t.length),t])}function ee(t){le" +
  "t e=new TextDecoder,r=Q(t,0,10);return r.end===t.length?{code:e.decode(r.value),message:\"\"}:{code:e.decode(r.v" +
  "alue),message:e.decode(Q(t,r.end,18).value)}}var T=class{#r=new Uint8Array(v);#e=0;#t=new Uint8Array(0);#o=0;r" +
  "ead(e,r){let n=0;for(;n<e.length;){if(this.#e<v){let s=e.subarray(n,n+v-this.#e);if(this.#r.set(s,this.#e),thi" +
  "s.#e+=s.length,n+=s.length,this.#e<v)return;this.#n()}let o=e.subarray(n,n+this.#t.length-this.#o);n+=o.length" +
  ",o.length===this.#t.length?this.#s(o,r):(this.#t.set(o,this.#o),this.#o+=o.length,this.#o===this.#t.length&&th" +
  "is.#s(this.#t,r))}}#n(){let e=new DataView(this.#r.buffer).getUint32(1);if(e===0||e>fe)throw new p(\"protocol_e" +
  "rror\",`A message of ${e} bytes where cells are expected`);this.#t.length!==e&&(this.#t=new Uint8Array(e)),this" +
  ".#o=0}#s(e,r){this.#e=0,r(this.#r[0]??0,e)}};function P(t){let e=new Uint8Array(t.reduce((n,{length:o})=>n+o,0" +
  ")),r=0;for(let n of t)e.set(n,r),r+=n.length;return e}function $(t,e){let r=[t];for(let n=e;n>0||r.length===1;" +
  "n>>>=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}function Q(t,e,r){if(t[e]!==r)throw new p(\"protocol" +
  "_error\",\"A message without the field that it must have\");let[n,o]=[0,e+1];for(let s=1;s<=2**14;s*=128){let c=t" +
  "[o++]??0;if(n+=(c&127)*s,c<128){if(n>t.length-o)break;return{value:t.subarray(o,o+n),end:o+n}}}throw new p(\"pr" +
  "otocol_error\",\"A field goes beyond the end of its message\")}function ge(t,e,r){new DataView(t.buffer,t.byteOff" +
  "set).setUint32(e,r)}var be=\"static.relay.v1.ErrorDetail\";function j(t,e){let r=we(t),{message:n,details:o}=N(r" +
  ".error??r);for(let s of Array.isArray(o)?o:[]){let{type:c,value:u}=N(s);if(!(c!==be||typeof u!=\"string\"))try{l" +
  "et l=ee(Uint8Array.from(atob(u),d=>d.charCodeAt(0)));if(E(l.code))return{code:l.code,message:l.message}}catch{" +
  "}}return{message:typeof n==\"string\"?n.slice(0,1024):e}}function we(t){try{return N(JSON.parse(t))}catch{return" +
  "{}}}function N(t){return typeof t==\"object\"&&t!==null?t:{}}function w(t){let e=[];for(let r=t;r!==void 0&&e.le" +
  "ngth<3;r=r instanceof Error?r.cause:void 0){let n=r instanceof Error?r.message:String(r);n!==\"\"&&!e.some(o=>o." +
  "includes(n))&&e.push(n)}return e.join(\": \")}var xe=32,Ce=1e3,ve=64*1024,Ae={\"connect-protocol-version\":\"1\"};fu" +
  "nction re(t){let{openHttp:e,unusable:r,randomBytes:n}=t;return{transport:\"cells\",carrier:\"tcp\",unusable:r,conn" +
  "ect:(o,s)=>{let c=e(o.trust),u=new AbortController;u.signal.addEventListener(\"abort\",()=>c.close());let l=Be(c" +
  ",o,u.signal),d=n(xe),y=l(\"CellDown\",\"application/connect+proto\",G(Z(d))),m=(g,O)=>l(\"CellUp\",\"application/prot" +
  "o\",Y(d,g,O)),x=new V(y,m,u,t);return s.aborted&&x.close(),Promise.resolve(x)}}}function Be(t,{host:e,port:r},n" +
  "){let o=`${e.includes(\":\")?`[${e}]`:e}:${r}`;return async(s,c,u)=>{let l=await t.request(`https://${o}/static." +
  "relay.v1.Relay/${s}`,{method:\"POST\",headers:{...Ae,\"content-type\":c},body:u,signal:n,redirect:\"error\",credenti" +
  "als:\"omit\",cache:\"no-store\"});if(l.status===200)return l;let d=await D(l,ve)??\"\",{code:y,message:m}=j(d,`${s} " +
  "was answered ${l.status}`);throw q(y??\"transport_error\",m)}}var V=class{#r;#e;#t;#o;#n=new Set;#s=new T;#d=0;#" +
  "a=()=>{};closed;constructor(e,r,n,o){this.#r=e.then(s=>s.body?.getReader()),this.#r.catch(()=>{}),this.#e=r,th" +
  "is.#t=o,this.#o=n,this.closed=new Promise(s=>this.#a=s)}async read(){try{for(;;){let e=await(await this.#r)?.r" +
  "ead();if(e?.value===void 0)return this.#i({message:\"the connection was cut off\"});let{cells:r,end:n}=this.#u(e" +
  ".value);if(n!==void 0&&this.#i(n),r.length>0)return P(r);if(n!==void 0)return}}catch(e){return this.#i({messag" +
  "e:w(e)})}}async write(e,r){for(let n=0;n<e.length;n+=r){this.#o.signal.throwIfAborted();let o=this.#c(e.subarr" +
  "ay(n,n+r)).finally(()=>this.#n.delete(o));this.#n.add(o),this.#n.size>=this.#t.callsAtOnce&&await Promise.race" +
  "(this.#n)}this.#o.signal.throwIfAborted()}async#c(e){try{await(await this.#e(++this.#d,e)).arrayBuffer()}catch" +
  "(r){this.#i({message:w(r)})}}close(){let e={message:\"it was closed by this side\"};if(this.#n.size===0)return t" +
  "his.#i(e);this.#a(e);let r=this.#t.after(Ce,()=>this.#i(e));Promise.all(this.#n).then(()=>{r(),this.#i(e)})}#u" +
  "(e){let r=[],n;return this.#s.read(e,(o,s)=>{o===0?r.push(X(s).slice()):n=o===J?Ee(s):{message:\"compressed cel" +
  "ls were not asked for\"}}),{cells:r,end:n}}#i(e){this.#a(e),this.#o.abort(q(\"transport_error\",e.message))}};fun" +
  "ction Ee(t){return j(new TextDecoder().decode(t),\"the relay ended the stream\")}function te(){return Date.now()" +
  "}function A(t,e){let r=setTimeout(e,t);return()=>clearTimeout(r)}function M(t){return crypto.getRandomValues(n" +
  "ew Uint8Array(t))}var ke=2e4;function _e({caCerts:t}){let{Deno:e}=globalThis,r=e.createHttpClient({caCerts:t,h" +
  "ttp2:!1,poolIdleTimeout:ke}),n=!0;return{request:(o,s)=>{let c={...s,client:r};return fetch(o,c)},close:()=>{n" +
  "&&r.close(),n=!1}}}var Ue=4,ne=re({openHttp:_e,unusable:Se,randomBytes:M,callsAtOnce:Ue,after:A});function Se(" +
  "{certificateHashes:t}){return t.length>0?\"Deno can check tls.certificateHashes only over QUIC\":void 0}var Te=1" +
  "500,Pe=64*1024;function oe(t){let e=t.readable.getReader({mode:\"byob\"}),r=t.writable.getWriter();r.closed.catc" +
  "h(()=>{});let n=new ArrayBuffer(Pe),o=()=>{},s=new Promise(d=>o=d),c,u=d=>{c?.(),o(d)};t.closed.then(({closeCo" +
  "de:d=0})=>u(Me(d)),d=>u({message:w(d)}));let l=()=>{r.close().catch(()=>{}),c??=t.after(Te,()=>{t.close(0),o({" +
  "message:\"the relay ended the stream\"})})};return{read:async()=>{try{let{value:d}=await e.read(new Uint8Array(n" +
  "));if(d!==void 0&&d.length>0)return n=d.buffer,d}catch{}l()},write:async d=>{try{await r.write(d)}catch(y){thr" +
  "ow l(),y}},close:d=>{o({message:\"it was closed by this side\"}),d===0?l():t.close(d)},closed:s}}function Me(t){" +
  "let e=R(t);return e===void 0?{message:\"the relay closed the connection\"}:{code:e,message:`the relay closed the" +
  " connection with ${e}`}}var Oe=\"static-relay/1\",Re={maxIdleTimeout:1e4,keepAliveInterval:4e3},Ie=\"low-latency\"" +
  ",ie={transport:\"quic\",carrier:\"udp\",unusable:()=>se()===void 0?\"Deno offers QUIC only with --unstable-net\":voi" +
  "d 0,connect:async({host:t,port:e,trust:r},n)=>{let o=se();if(o===void 0)throw new Error(\"Deno offers QUIC only" +
  " with --unstable-net\");n.throwIfAborted();let s=r.certificateHashes.map(d=>({algorithm:\"sha-256\",value:d})),c=" +
  "De(o),u=d=>c.close({closeCode:d,reason:\"\"}),l=()=>u(0);n.addEventListener(\"abort\",l);try{let d=await o.connect" +
  "Quic({hostname:t,port:e,alpnProtocols:[Oe],caCerts:r.caCerts,...s.length>0&&{serverCertificateHashes:s},endpoi" +
  "nt:c,...Re,congestionControl:Ie}),{readable:y,writable:m}=await d.createBidirectionalStream(),x=d.closed.final" +
  "ly(()=>u(0));return oe({readable:y,writable:m,closed:x,close:u,after:A})}catch(d){throw u(0),n.aborted?n.reaso" +
  "n:d}finally{n.removeEventListener(\"abort\",l)}}};function De({QuicEndpoint:t}){try{return new t({hostname:\"::\"}" +
  ")}catch{return new t({hostname:\"0.0.0.0\"})}}function se(){let{Deno:t}=globalThis;return t?.connectQuic===void " +
  "0?void 0:t}var We=2e3;function ae(t,e){let r,n,o=0,s=l=>{t.post({kind:\"written\",takenBytes:o-l.pendingBytes,co" +
  "unts:l.counts})},c=async({transport:l,target:d})=>{let y=e.connectors.find(g=>g.transport===l);if(y===void 0)t" +
  "hrow new Error(`no way to connect by ${l} in a thread of its own`);let m=r=await y.connect(d,new AbortControll" +
  "er().signal),x=n=new _({cellBytes:f.cellBytes,write:(g,O)=>m.write(g,O),after:e.after,nowMs:e.nowMs,random:()=" +
  ">new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,onWritten:()=>s(x),onFailed:()=>t.post({kind:\"failed" +
  "\"})});m.closed.then(g=>t.post({kind:\"closed\",end:g})),t.post({kind:\"connected\"})},u=async()=>{let l=await r?.r" +
  "ead();t.post({kind:\"chunk\",bytes:l?.slice()})};t.listen(l=>{switch(l.kind){case\"connect\":return void c(l).catc" +
  "h(d=>t.post({kind:\"refused\",message:w(d)}));case\"push\":return o+=l.envelope.length+h,n?.push(l.lane,l.envelope" +
  ");case\"cellBytes\":return n?.setCellBytes(l.cellBytes);case\"configure\":return n?.configure(l.mode,l.intervalMs)" +
  ";case\"covering\":return n?.setCovering(l.covering);case\"flush\":return void n?.flush(l.timeoutMs).then(d=>{t.pos" +
  "t({kind:\"flushed\",id:l.id,flushed:d})});case\"read\":return void u();case\"stop\":return n?.stop();case\"close\":ret" +
  "urn r?.close(l.closeCode),void e.after(We,e.exit)}})}function le(t){let e=globalThis;ae({post:r=>e.postMessage" +
  "(r),listen:r=>{e.onmessage=({data:n})=>r(n)}},{connectors:t,nowMs:te,after:A,randomBytes:M,exit:()=>e.close()}" +
  ")}le([ie,ne]);\n";
