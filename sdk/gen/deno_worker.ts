/** Built from sdk/platform/deno_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var l={invalidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8," +
  "failedPrecondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16}," +
  "d=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClass:n}),B={join_timeout:d(504,l.deadlineExceeded,257,\"TransportErr" +
  "or\"),auth_failed:d(401,l.unauthenticated,258,\"AuthError\"),auth_key_invalid:d(401,l.unauthenticated,259,\"AuthEr" +
  "ror\"),transport_error:d(502,l.unavailable,260,\"TransportError\"),connection_error:d(502,l.unavailable,261,\"Tran" +
  "sportError\"),listener_died:d(500,l.internal,262,\"TransportError\"),channel_error:d(400,l.invalidArgument,263,\"C" +
  "hannelError\"),quota_exceeded:d(429,l.resourceExhausted,264,\"QuotaExceededError\"),mls_error:d(409,l.failedPreco" +
  "ndition,265,\"MlsError\"),invalid_request:d(400,l.invalidArgument,272,\"TransportError\"),not_found:d(404,l.notFou" +
  "nd,273,\"ChannelError\"),method_not_allowed:d(405,l.unimplemented,274,\"TransportError\"),payload_too_large:d(413," +
  "l.outOfRange,275,\"ChannelError\"),unsupported_media_type:d(415,l.invalidArgument,276,\"TransportError\"),rate_lim" +
  "ited:d(429,l.resourceExhausted,277,\"TransportError\"),internal:d(500,l.internal,278,\"TransportError\"),overloade" +
  "d:d(503,l.unavailable,279,\"TransportError\"),email_taken:d(409,l.alreadyExists,288,\"AuthError\"),key_limit_reach" +
  "ed:d(409,l.resourceExhausted,289,\"AuthError\"),protocol_error:d(400,l.invalidArgument,304,\"TransportError\"),uns" +
  "upported_version:d(400,l.failedPrecondition,305,\"TransportError\"),unknown_operation:d(404,l.unimplemented,306," +
  "\"TransportError\"),session_expired:d(401,l.unauthenticated,307,\"AuthError\"),session_replaced:d(409,l.aborted,30" +
  "8,\"TransportError\"),slow_reader:d(429,l.resourceExhausted,309,\"TransportError\"),relay_draining:d(503,l.unavail" +
  "able,310,\"TransportError\"),name_taken:d(409,l.alreadyExists,320,\"ChannelError\"),epoch_conflict:d(409,l.aborted" +
  ",321,\"MlsError\"),not_allowed:d(403,l.permissionDenied,322,\"ChannelError\"),member_limit_reached:d(409,l.resourc" +
  "eExhausted,323,\"ChannelError\"),already_member:d(409,l.alreadyExists,324,\"ChannelError\"),queue_full:d(429,l.res" +
  "ourceExhausted,325,\"ChannelError\"),cursor_invalid:d(416,l.outOfRange,326,\"ChannelError\"),key_package_invalid:d" +
  "(400,l.invalidArgument,327,\"MlsError\"),key_package_missing:d(404,l.failedPrecondition,328,\"MlsError\"),join_rej" +
  "ected:d(403,l.permissionDenied,329,\"ChannelError\"),membership_lapsed:d(410,l.failedPrecondition,330,\"ChannelEr" +
  "ror\"),store_locked:d(409,l.failedPrecondition,336,\"ChannelError\"),store_corrupt:d(500,l.internal,337,\"MlsError" +
  "\"),passphrase_wrong:d(401,l.unauthenticated,338,\"AuthError\")};function E(t){return Object.hasOwn(B,t)}function" +
  " I(t){return de.get(t)}var de=new Map(Object.entries(B).flatMap(([t,{close:e}])=>E(t)?[[e,t]]:[])),p=class ext" +
  "ends Error{name=\"WireError\";code;requestId;constructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.caus" +
  "e}),this.code=e,this.requestId=n.requestId}};var f=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellByte" +
  "s:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:209" +
  "7152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborDepth:" +
  "6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500,answ" +
  "ersPerCommit:1e3,proofsPerCommit:128,featuresPerSession:64,identityBytes:256,tokenBytes:8192,originBytes:300,s" +
  "essionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64,nameComponentBytes:63,channelNameBytes:191,emailByte" +
  "s:254,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs:6e5,i" +
  "nviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5});var C" +
  "=3,h=4,O={control:0,data:1};function U(t){if(!Number.isInteger(t)||t<f.minCellBytes||t>f.maxCellBytes)throw ne" +
  "w p(\"protocol_error\",`A cell has ${f.minCellBytes} to ${f.maxCellBytes} bytes, not ${t}`);return t}function S(" +
  "t){if(t===0||t>f.envelopeBytes)throw new p(\"payload_too_large\",`Cannot send an envelope of ${t} bytes; 1 to ${" +
  "f.envelopeBytes} are allowed`)}var k=class{#r;#e=[];#t=[];#o=[0,0];#n=0;constructor(e){this.#r=U(e)}set cellBy" +
  "tes(e){if(this.#n>0)throw new TypeError(\"Cannot change the cell size while envelopes are waiting\");this.#r=U(e" +
  ")}get cellBytes(){return this.#r}get pendingBytes(){return this.#n}push(e,r){S(r.length),(e===\"control\"?this.#" +
  "e:this.#t).push(r),this.#n+=r.length+h}next(e){let r=this.#e.length>0?O.control:O.data,n=r===O.control?this.#e" +
  ":this.#t;if(n.length===0)return;let o=e?.length===this.#r?e:new Uint8Array(this.#r);return this.#s(o,n,r),o}#s" +
  "(e,r,n){let o=C,s=0,c=this.#o[n]??0;for(let i of r){if(c===0){if(e.length-o<=h)break;ce(e,o,i.length),o+=h,c=h" +
  "}let a=c-h,y=i.subarray(a,a+e.length-o);if(e.set(y,o),o+=y.length,c+=y.length,c-h<i.length)break;s++,c=0}let u" +
  "=o-C;s===1?r.shift():r.splice(0,s),this.#o[n]=c,this.#n-=u,e[0]=n,e[1]=u>>8,e[2]=u&255,e.fill(0,o)}};function " +
  "ce(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var ue=64*1024,z=.5,ye=2,_=class{#r;#e;#t=[];#o=0;#n" +
  "=0;#s=new Uint8Array(0);#d=\"off\";#a=0;#c;#u=0;#i=!0;#h=!1;#p=!1;#l=!1;#f=new Set;#y={cells:0,coverCells:0,cove" +
  "rBytes:0,paddingBytes:0};constructor(e){this.#r=e,this.#e=new k(e.cellBytes)}get pendingBytes(){return this.#e" +
  ".pendingBytes+this.#o+this.#n}get counts(){return{...this.#y}}push(e,r){this.#l||(this.#t.length===0?this.#e.p" +
  "ush(e,r):(S(r.length),this.#t.push({lane:e,envelope:r}),this.#o+=r.length+h),this.#m())}setCellBytes(e){this.#" +
  "t.push({cellBytes:U(e)}),this.#v()}configure(e,r){if(!this.#l){if(e!==\"off\"&&!(r>0))throw new RangeError(`Cove" +
  "r needs an interval above 0, not ${r}`);this.#c?.(),this.#c=void 0,this.#d=e,this.#a=r,this.#h=!1,this.#u=this" +
  ".#r.nowMs(),e!==\"off\"&&this.#C(),this.#m()}}setCovering(e){this.#i=e}flush(e){return this.#l?Promise.resolve(t" +
  "his.pendingBytes===0):!this.#p&&this.pendingBytes===0?Promise.resolve(!0):new Promise(r=>{let n=s=>{this.#f.de" +
  "lete(n),o(),r(s)},o=this.#r.after(e,()=>n(!1));this.#f.add(n)})}stop(){this.#l=!0,this.#c?.(),this.#c=void 0,t" +
  "his.#s=new Uint8Array(0);for(let e of this.#f)e(!1)}#m(){this.#p||this.#l||!this.#b()||(this.#p=!0,this.#A())}" +
  "#b(){return this.#h||this.#d!==\"constant\"&&this.#e.pendingBytes>0}async#A(){await void 0;try{for(;!this.#l&&th" +
  "is.#b();){let e=this.#d===\"constant\"?this.#E():this.#k();if(await this.#r.write(e,this.#e.cellBytes),this.#n=0" +
  ",this.#l)break;this.#v(),this.#r.onWritten?.()}}catch(e){this.#n=0;let r=this.#l;this.stop(),r||this.#r.onFail" +
  "ed?.(e)}this.#p=!1,this.#B()}#B(){if(!(this.#l||this.pendingBytes>0)){this.#s.length>ye*this.#e.cellBytes&&(th" +
  "is.#s=new Uint8Array(0));for(let e of this.#f)e(!0)}}#E(){this.#h=!1;let e=this.#g(1);return this.#x(e)?e:this" +
  ".#w(e)}#k(){let{cellBytes:e,pendingBytes:r}=this.#e;if(r===0)return this.#h=!1,this.#w(this.#g(1));let n=Math." +
  "ceil(r/(e-C))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(ue/e)))),s=0;for(;s<o.length&&this.#x(o.subarray(s," +
  "s+e));)s+=e;return o.subarray(0,s)}#g(e){let r=e*this.#e.cellBytes;return this.#s.length<r&&(this.#s=new Uint8" +
  "Array(r)),this.#s.subarray(0,r)}#x(e){let r=this.#e.pendingBytes;if(this.#e.next(e)===void 0)return!1;let n=r-" +
  "this.#e.pendingBytes;return this.#n+=n,this.#y.cells++,this.#y.paddingBytes+=e.length-C-n,!0}#w(e){return this" +
  ".#y.cells++,this.#y.coverCells++,this.#y.coverBytes+=e.length,e.fill(0)}#C(){let e=this.#r.nowMs();this.#c=thi" +
  "s.#r.after(this.#d===\"poisson\"?this.#_():this.#U(e),()=>{this.#h=this.#i||this.#d===\"constant\"&&this.#e.pendin" +
  "gBytes>0,this.#C(),this.#m()})}#_(){return-Math.log(1-this.#r.random())*this.#a}#U(e){this.#u=he(this.#u,this." +
  "#a,e);let r=this.#r.random()*z*this.#a;return Math.max((1-z)*this.#a,this.#u-r-e)}#v(){for(;this.#e.pendingByt" +
  "es===0&&this.#t.length>0;){let e=this.#t.findIndex((r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t.splice(0," +
  "e<0?this.#t.length:e))\"cellBytes\"in r?this.#e.cellBytes=r.cellBytes:(this.#o-=r.envelope.length+h,this.#e.push" +
  "(r.lane,r.envelope))}}};function he(t,e,r){if(r<t-e)return r+e;let n=Math.max(0,Math.floor((r-t)/e));return t+" +
  "(n+1)*e}async function D({body:t},e){let r=t?.getReader();if(r===void 0)return\"\";let n=new TextDecoder,o=\"\";tr" +
  "y{for(let s=await r.read();s.value!==void 0;s=await r.read())if(o+=n.decode(s.value,{stream:!0}),o.length>e)re" +
  "turn;return o}finally{await r.cancel()}}var b=class extends Error{name=\"StaticError\";code;retryAfterMs;epoch;c" +
  "onstructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.retryAfterMs=n.retryAft" +
  "erMs,this.epoch=n.epoch}},W=class extends b{name=\"TransportError\"},L=class extends b{name=\"AuthError\"},K=class" +
  " extends b{name=\"ChannelError\"},H=class extends b{name=\"QuotaExceededError\"},F=class extends b{name=\"MlsError\"" +
  "},pe={TransportError:W,AuthError:L,ChannelError:K,QuotaExceededError:H,MlsError:F};function q(t,e,r){return ne" +
  "w pe[B[t].errorClass](t,e,r)}var J=2,v=5,fe=64*1024,me=10;function G(t){let e=new Uint8Array(v+t.length);retur" +
  "n ge(e,1,t.length),e.set(t,v),e}function X(t){let{value:e,end:r}=Q(t,0,me);if(r!==t.length)throw new p(\"protoc" +
  "ol_error\",\"A cell's message holds more than a cell\");return e}function Y(t,e,r){let[n,o]=[$(10,t.length),$(26," +
  "r.length)],s=new Uint8Array(9);return s[0]=17,new DataView(s.buffer).setBigUint64(1,BigInt(e),!0),P([n,t,s,o,r" +
  "])}function Z(t){return P([$(10,t.length),t])}function ee(t){let e=new TextDecoder,r=Q(t,0,10);return r.end===" +
  "t.length?{code:e.decode(r.value),message:\"\"}:{code:e.decode(r.value),message:e.decode(Q(t,r.end,18).value)}}va" +
  "r T=class{#r=new Uint8Array(v);#e=0;#t=new Uint8Array(0);#o=0;read(e,r){let n=0;for(;n<e.length;){if(this.#e<v" +
  "){let s=e.subarray(n,n+v-this.#e);if(this.#r.set(s,this.#e),this.#e+=s.length,n+=s.length,this.#e<v)return;thi" +
  "s.#n()}let o=e.subarray(n,n+this.#t.length-this.#o);n+=o.length,o.length===this.#t.length?this.#s(o,r):(this.#" +
  "t.set(o,this.#o),this.#o+=o.length,this.#o===this.#t.length&&this.#s(this.#t,r))}}#n(){let e=new DataView(this" +
  ".#r.buffer).getUint32(1);if(e===0||e>fe)throw new p(\"protocol_error\",`A message of ${e} bytes where cells are " +
  "expected`);this.#t.length!==e&&(this.#t=new Uint8Array(e)),this.#o=0}#s(e,r){this.#e=0,r(this.#r[0]??0,e)}};fu" +
  "nction P(t){let e=new Uint8Array(t.reduce((n,{length:o})=>n+o,0)),r=0;for(let n of t)e.set(n,r),r+=n.length;re" +
  "turn e}function $(t,e){let r=[t];for(let n=e;n>0||r.length===1;n>>>=7)r.push(n>127?n&127|128:n);return Uint8Ar" +
  "ray.from(r)}function Q(t,e,r){if(t[e]!==r)throw new p(\"protocol_error\",\"A message without the field that it mu" +
  "st have\");let[n,o]=[0,e+1];for(let s=1;s<=2**14;s*=128){let c=t[o++]??0;if(n+=(c&127)*s,c<128){if(n>t.length-o" +
  ")break;return{value:t.subarray(o,o+n),end:o+n}}}throw new p(\"protocol_error\",\"A field goes beyond the end of i" +
  "ts message\")}function ge(t,e,r){new DataView(t.buffer,t.byteOffset).setUint32(e,r)}var be=\"static.relay.v1.Err" +
  "orDetail\";function j(t,e){let r=xe(t),{message:n,details:o}=N(r.error??r);for(let s of Array.isArray(o)?o:[]){" +
  "let{type:c,value:u}=N(s);if(!(c!==be||typeof u!=\"string\"))try{let i=ee(Uint8Array.from(atob(u),a=>a.charCodeAt" +
  "(0)));if(E(i.code))return{code:i.code,message:i.message}}catch{}}return{message:typeof n==\"string\"?n.slice(0,1" +
  "024):e}}function xe(t){try{return N(JSON.parse(t))}catch{return{}}}function N(t){return typeof t==\"object\"&&t!" +
  "==null?t:{}}function x(t){let e=[];for(let r=t;r!==void 0&&e.length<3;r=r instanceof Error?r.cause:void 0){let" +
  " n=r instanceof Error?r.message:String(r);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e.join(\": \")}var" +
  " we=32,Ce=1e3,ve=64*1024,Ae={\"connect-protocol-version\":\"1\"};function re(t){let{openHttp:e,unusable:r,randomBy" +
  "tes:n}=t;return{transport:\"cells\",carrier:\"tcp\",unusable:r,connect:(o,s)=>{let c=e(o.trust),u=new AbortControl" +
  "ler;u.signal.addEventListener(\"abort\",()=>c.close());let i=Be(c,o,u.signal),a=n(we),y=i(\"CellDown\",\"applicatio" +
  "n/connect+proto\",G(Z(a))),m=(g,R)=>i(\"CellUp\",\"application/proto\",Y(a,g,R)),w=new V(y,m,u,t);return s.aborted&" +
  "&w.close(),Promise.resolve(w)}}}function Be(t,{host:e,port:r},n){let o=`${e.includes(\":\")?`[${e}]`:e}:${r}`;re" +
  "turn async(s,c,u)=>{let i=await t.request(`https://${o}/static.relay.v1.Relay/${s}`,{method:\"POST\",headers:{.." +
  ".Ae,\"content-type\":c},body:u,signal:n,redirect:\"error\",credentials:\"omit\",cache:\"no-store\"});if(i.status===200" +
  ")return i;let a=await D(i,ve)??\"\",{code:y,message:m}=j(a,`${s} was answered ${i.status}`);throw q(y??\"transpor" +
  "t_error\",m)}}var V=class{#r;#e;#t;#o;#n=new Set;#s=new T;#d=0;#a=()=>{};closed;constructor(e,r,n,o){this.#r=e." +
  "then(s=>s.body?.getReader()),this.#r.catch(()=>{}),this.#e=r,this.#t=o,this.#o=n,this.closed=new Promise(s=>th" +
  "is.#a=s)}async read(){try{for(;;){let e=await(await this.#r)?.read();if(e?.value===void 0)return this.#i({mess" +
  "age:\"the connection was cut off\"});let{cells:r,end:n}=this.#u(e.value);if(n!==void 0&&this.#i(n),r.length>0)re" +
  "turn P(r);if(n!==void 0)return}}catch(e){return this.#i({message:x(e)})}}async write(e,r){for(let n=0;n<e.leng" +
  "th;n+=r){this.#o.signal.throwIfAborted();let o=this.#c(e.subarray(n,n+r)).finally(()=>this.#n.delete(o));this." +
  "#n.add(o),this.#n.size>=this.#t.callsAtOnce&&await Promise.race(this.#n)}this.#o.signal.throwIfAborted()}async" +
  "#c(e){try{await(await this.#e(++this.#d,e)).arrayBuffer()}catch(r){this.#i({message:x(r)})}}close(){let e={mes" +
  "sage:\"it was closed by this side\"};if(this.#n.size===0)return this.#i(e);this.#a(e);let r=this.#t.after(Ce,()=" +
  ">this.#i(e));Promise.all(this.#n).then(()=>{r(),this.#i(e)})}#u(e){let r=[],n;return this.#s.read(e,(o,s)=>{o=" +
  "==0?r.push(X(s).slice()):n=o===J?Ee(s):{message:\"compressed cells were not asked for\"}}),{cells:r,end:n}}#i(e)" +
  "{this.#a(e),this.#o.abort(q(\"transport_error\",e.message))}};function Ee(t){return j(new TextDecoder().decode(t" +
  "),\"the relay ended the stream\")}function te(){return Date.now()}function A(t,e){let r=setTimeout(e,t);return()" +
  "=>clearTimeout(r)}function M(t){return crypto.getRandomValues(new Uint8Array(t))}var ke=2e4;function _e({caCer" +
  "ts:t}){let{Deno:e}=globalThis,r=e.createHttpClient({caCerts:t,http2:!1,poolIdleTimeout:ke}),n=!0;return{reques" +
  "t:(o,s)=>{let c={...s,client:r};return fetch(o,c)},close:()=>{n&&r.close(),n=!1}}}var Ue=4,ne=re({openHttp:_e," +
  "unusable:Se,randomBytes:M,callsAtOnce:Ue,after:A});function Se({certificateHashes:t}){return t.length>0?\"Deno " +
  "can check tls.certificateHashes only over QUIC\":void 0}var Te=1500,Pe=64*1024;function oe(t){let e=t.readable." +
  "getReader({mode:\"byob\"}),r=t.writable.getWriter();r.closed.catch(()=>{});let n=new ArrayBuffer(Pe),o=()=>{},s=" +
  "new Promise(a=>o=a),c,u=a=>{c?.(),o(a)};t.closed.then(({closeCode:a=0})=>u(Me(a)),a=>u({message:x(a)}));let i=" +
  "()=>{r.close().catch(()=>{}),c??=t.after(Te,()=>{t.close(0),o({message:\"the relay ended the stream\"})})};retur" +
  "n{read:async()=>{try{let{value:a}=await e.read(new Uint8Array(n));if(a!==void 0&&a.length>0)return n=a.buffer," +
  "a}catch{}i()},write:async a=>{try{await r.write(a)}catch(y){throw i(),y}},close:a=>{o({message:\"it was closed " +
  "by this side\"}),a===0?i():t.close(a)},closed:s}}function Me(t){let e=I(t);return e===void 0?{message:\"the rela" +
  "y closed the connection\"}:{code:e,message:`the relay closed the connection with ${e}`}}var Re=\"static-relay/1\"" +
  ",Ie={maxIdleTimeout:1e4,keepAliveInterval:4e3},Oe=\"low-latency\",ie={transport:\"quic\",carrier:\"udp\",unusable:()" +
  "=>se()===void 0?\"Deno offers QUIC only with --unstable-net\":void 0,connect:async({host:t,port:e,trust:r},n)=>{" +
  "let o=se();if(o===void 0)throw new Error(\"Deno offers QUIC only with --unstable-net\");n.throwIfAborted();let s" +
  "=r.certificateHashes.map(a=>({algorithm:\"sha-256\",value:a})),c=De(o),u=a=>c.close({closeCode:a,reason:\"\"}),i=(" +
  ")=>u(0);n.addEventListener(\"abort\",i);try{let a=await o.connectQuic({hostname:t,port:e,alpnProtocols:[Re],caCe" +
  "rts:r.caCerts,...s.length>0&&{serverCertificateHashes:s},endpoint:c,...Ie,congestionControl:Oe}),{readable:y,w" +
  "ritable:m}=await a.createBidirectionalStream(),w=a.closed.finally(()=>u(0));return oe({readable:y,writable:m,c" +
  "losed:w,close:u,after:A})}catch(a){throw u(0),n.aborted?n.reason:a}finally{n.removeEventListener(\"abort\",i)}}}" +
  ";function De({QuicEndpoint:t}){try{return new t({hostname:\"::\"})}catch{return new t({hostname:\"0.0.0.0\"})}}fun" +
  "ction se(){let{Deno:t}=globalThis;return t?.connectQuic===void 0?void 0:t}var We=2e3;function ae(t,e){let r,n," +
  "o=0,s=i=>{t.post({kind:\"written\",takenBytes:o-i.pendingBytes,counts:i.counts})},c=async({transport:i,target:a}" +
  ")=>{let y=e.connectors.find(g=>g.transport===i);if(y===void 0)throw new Error(`no way to connect by ${i} in a " +
  "thread of its own`);let m=r=await y.connect(a,new AbortController().signal),w=n=new _({cellBytes:f.cellBytes,w" +
  "rite:(g,R)=>m.write(g,R),after:e.after,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUint3" +
  "2(0)/2**32,onWritten:()=>s(w),onFailed:()=>t.post({kind:\"failed\"})});m.closed.then(g=>t.post({kind:\"closed\",en" +
  "d:g})),t.post({kind:\"connected\"})},u=async()=>{let i=await r?.read();t.post({kind:\"chunk\",bytes:i?.slice()})};" +
  "t.listen(i=>{switch(i.kind){case\"connect\":return void c(i).catch(a=>t.post({kind:\"refused\",message:x(a)}));cas" +
  "e\"push\":return o+=i.envelope.length+h,n?.push(i.lane,i.envelope);case\"cellBytes\":return n?.setCellBytes(i.cell" +
  "Bytes);case\"configure\":return n?.configure(i.mode,i.intervalMs);case\"covering\":return n?.setCovering(i.coverin" +
  "g);case\"flush\":return void n?.flush(i.timeoutMs).then(a=>{t.post({kind:\"flushed\",id:i.id,flushed:a})});case\"re" +
  "ad\":return void u();case\"stop\":return n?.stop();case\"close\":return r?.close(i.closeCode),void e.after(We,e.exi" +
  "t)}})}function le(t){let e=globalThis;ae({post:r=>e.postMessage(r),listen:r=>{e.onmessage=({data:n})=>r(n)}},{" +
  "connectors:t,nowMs:te,after:A,randomBytes:M,exit:()=>e.close()})}le([ie,ne]);\n";
