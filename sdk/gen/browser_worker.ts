/** Built from sdk/platform/browser_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var a={invalidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8," +
  "failedPrecondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16}," +
  "d=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClass:n}),C={join_timeout:d(504,a.deadlineExceeded,257,\"TransportErr" +
  "or\"),auth_failed:d(401,a.unauthenticated,258,\"AuthError\"),auth_key_invalid:d(401,a.unauthenticated,259,\"AuthEr" +
  "ror\"),transport_error:d(502,a.unavailable,260,\"TransportError\"),connection_error:d(502,a.unavailable,261,\"Tran" +
  "sportError\"),listener_died:d(500,a.internal,262,\"TransportError\"),channel_error:d(400,a.invalidArgument,263,\"C" +
  "hannelError\"),quota_exceeded:d(429,a.resourceExhausted,264,\"QuotaExceededError\"),mls_error:d(409,a.failedPreco" +
  "ndition,265,\"MlsError\"),invalid_request:d(400,a.invalidArgument,272,\"TransportError\"),not_found:d(404,a.notFou" +
  "nd,273,\"ChannelError\"),method_not_allowed:d(405,a.unimplemented,274,\"TransportError\"),payload_too_large:d(413," +
  "a.outOfRange,275,\"ChannelError\"),unsupported_media_type:d(415,a.invalidArgument,276,\"TransportError\"),rate_lim" +
  "ited:d(429,a.resourceExhausted,277,\"TransportError\"),internal:d(500,a.internal,278,\"TransportError\"),overloade" +
  "d:d(503,a.unavailable,279,\"TransportError\"),email_taken:d(409,a.alreadyExists,288,\"AuthError\"),key_limit_reach" +
  "ed:d(409,a.resourceExhausted,289,\"AuthError\"),protocol_error:d(400,a.invalidArgument,304,\"TransportError\"),uns" +
  "upported_version:d(400,a.failedPrecondition,305,\"TransportError\"),unknown_operation:d(404,a.unimplemented,306," +
  "\"TransportError\"),session_expired:d(401,a.unauthenticated,307,\"AuthError\"),session_replaced:d(409,a.aborted,30" +
  "8,\"TransportError\"),slow_reader:d(429,a.resourceExhausted,309,\"TransportError\"),relay_draining:d(503,a.unavail" +
  "able,310,\"TransportError\"),name_taken:d(409,a.alreadyExists,320,\"ChannelError\"),epoch_conflict:d(409,a.aborted" +
  ",321,\"MlsError\"),not_allowed:d(403,a.permissionDenied,322,\"ChannelError\"),member_limit_reached:d(409,a.resourc" +
  "eExhausted,323,\"ChannelError\"),already_member:d(409,a.alreadyExists,324,\"ChannelError\"),queue_full:d(429,a.res" +
  "ourceExhausted,325,\"ChannelError\"),cursor_invalid:d(416,a.outOfRange,326,\"ChannelError\"),key_package_invalid:d" +
  "(400,a.invalidArgument,327,\"MlsError\"),key_package_missing:d(404,a.failedPrecondition,328,\"MlsError\"),join_rej" +
  "ected:d(403,a.permissionDenied,329,\"ChannelError\"),membership_lapsed:d(410,a.failedPrecondition,330,\"ChannelEr" +
  "ror\"),store_locked:d(409,a.failedPrecondition,336,\"ChannelError\"),store_corrupt:d(500,a.internal,337,\"MlsError" +
  "\"),passphrase_wrong:d(401,a.unauthenticated,338,\"AuthError\")};function B(t){return Object.hasOwn(C,t)}function" +
  " W(t){return le.get(t)}var le=new Map(Object.entries(C).flatMap(([t,{close:e}])=>B(t)?[[e,t]]:[])),p=class ext" +
  "ends Error{name=\"WireError\";code;requestId;constructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.caus" +
  "e}),this.code=e,this.requestId=n.requestId}};var f=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellByte" +
  "s:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:209" +
  "7152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborDepth:" +
  "6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500,answ" +
  "ersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,featuresPerSession:64,identityBytes:" +
  "256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64,nameComponentBy" +
  "tes:63,channelNameBytes:191,emailBytes:254,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:1677721" +
  "6,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverInterval" +
  "Ms:10,maxCoverIntervalMs:36e5});var x=3,y=4,R={control:0,data:1};function U(t){if(!Number.isInteger(t)||t<f.mi" +
  "nCellBytes||t>f.maxCellBytes)throw new p(\"protocol_error\",`A cell has ${f.minCellBytes} to ${f.maxCellBytes} b" +
  "ytes, not ${t}`);return t}function S(t){if(t===0||t>f.envelopeBytes)throw new p(\"payload_too_large\",`Cannot se" +
  "nd an envelope of ${t} bytes; 1 to ${f.envelopeBytes} are allowed`)}var E=class{#r;#e=[];#t=[];#o=[0,0];#n=0;c" +
  "onstructor(e){this.#r=U(e)}set cellBytes(e){if(this.#n>0)throw new TypeError(\"Cannot change the cell size whil" +
  "e envelopes are waiting\");this.#r=U(e)}get cellBytes(){return this.#r}get pendingBytes(){return this.#n}push(e" +
  ",r){S(r.length),(e===\"control\"?this.#e:this.#t).push(r),this.#n+=r.length+y}next(e){let r=this.#e.length>0?R.c" +
  "ontrol:R.data,n=r===R.control?this.#e:this.#t;if(n.length===0)return;let o=e?.length===this.#r?e:new Uint8Arra" +
  "y(this.#r);return this.#s(o,n,r),o}#s(e,r,n){let o=x,s=0,c=this.#o[n]??0;for(let i of r){if(c===0){if(e.length" +
  "-o<=y)break;ce(e,o,i.length),o+=y,c=y}let l=c-y,h=i.subarray(l,l+e.length-o);if(e.set(h,o),o+=h.length,c+=h.le" +
  "ngth,c-y<i.length)break;s++,c=0}let u=o-x;s===1?r.shift():r.splice(0,s),this.#o[n]=c,this.#n-=u,e[0]=n,e[1]=u>" +
  ">8,e[2]=u&255,e.fill(0,o)}};function ce(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var ue=64*1024," +
  "J=.5,he=2,k=class{#r;#e;#t=[];#o=0;#n=0;#s=new Uint8Array(0);#l=\"off\";#a=0;#c;#u=0;#i=!0;#y=!1;#p=!1;#d=!1;#f=" +
  "new Set;#h={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#r=e,this.#e=new E(e.cellByt" +
  "es)}get pendingBytes(){return this.#e.pendingBytes+this.#o+this.#n}get counts(){return{...this.#h}}push(e,r){t" +
  "his.#d||(this.#t.length===0?this.#e.push(e,r):(S(r.length),this.#t.push({lane:e,envelope:r}),this.#o+=r.length" +
  "+y),this.#m())}setCellBytes(e){this.#t.push({cellBytes:U(e)}),this.#A()}configure(e,r){if(!this.#d){if(e!==\"of" +
  "f\"&&!(r>0))throw new RangeError(`Cover needs an interval above 0, not ${r}`);this.#c?.(),this.#c=void 0,this.#" +
  "l=e,this.#a=r,this.#y=!1,this.#u=this.#r.nowMs(),e!==\"off\"&&this.#v(),this.#m()}}setCovering(e){this.#i=e}flus" +
  "h(e){return this.#d?Promise.resolve(this.pendingBytes===0):!this.#p&&this.pendingBytes===0?Promise.resolve(!0)" +
  ":new Promise(r=>{let n=s=>{this.#f.delete(n),o(),r(s)},o=this.#r.after(e,()=>n(!1));this.#f.add(n)})}stop(){th" +
  "is.#d=!0,this.#c?.(),this.#c=void 0,this.#s=new Uint8Array(0);for(let e of this.#f)e(!1)}#m(){this.#p||this.#d" +
  "||!this.#b()||(this.#p=!0,this.#C())}#b(){return this.#y||this.#l!==\"constant\"&&this.#e.pendingBytes>0}async#C" +
  "(){await void 0;try{for(;!this.#d&&this.#b();){let e=this.#l===\"constant\"?this.#E():this.#k();if(await this.#r" +
  ".write(e,this.#e.cellBytes),this.#n=0,this.#d)break;this.#A(),this.#r.onWritten?.()}}catch(e){this.#n=0;let r=" +
  "this.#d;this.stop(),r||this.#r.onFailed?.(e)}this.#p=!1,this.#B()}#B(){if(!(this.#d||this.pendingBytes>0)){thi" +
  "s.#s.length>he*this.#e.cellBytes&&(this.#s=new Uint8Array(0));for(let e of this.#f)e(!0)}}#E(){this.#y=!1;let " +
  "e=this.#g(1);return this.#w(e)?e:this.#x(e)}#k(){let{cellBytes:e,pendingBytes:r}=this.#e;if(r===0)return this." +
  "#y=!1,this.#x(this.#g(1));let n=Math.ceil(r/(e-x))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(ue/e)))),s=0;f" +
  "or(;s<o.length&&this.#w(o.subarray(s,s+e));)s+=e;return o.subarray(0,s)}#g(e){let r=e*this.#e.cellBytes;return" +
  " this.#s.length<r&&(this.#s=new Uint8Array(r)),this.#s.subarray(0,r)}#w(e){let r=this.#e.pendingBytes;if(this." +
  "#e.next(e)===void 0)return!1;let n=r-this.#e.pendingBytes;return this.#n+=n,this.#h.cells++,this.#h.paddingByt" +
  "es+=e.length-x-n,!0}#x(e){return this.#h.cells++,this.#h.coverCells++,this.#h.coverBytes+=e.length,e.fill(0)}#" +
  "v(){let e=this.#r.nowMs();this.#c=this.#r.after(this.#l===\"poisson\"?this.#_():this.#U(e),()=>{this.#y=this.#i|" +
  "|this.#l===\"constant\"&&this.#e.pendingBytes>0,this.#v(),this.#m()})}#_(){return-Math.log(1-this.#r.random())*t" +
  "his.#a}#U(e){this.#u=ye(this.#u,this.#a,e);let r=this.#r.random()*J*this.#a;return Math.max((1-J)*this.#a,this" +
  ".#u-r-e)}#A(){for(;this.#e.pendingBytes===0&&this.#t.length>0;){let e=this.#t.findIndex((r,n)=>n>0&&\"cellBytes" +
  "\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"in r?this.#e.cellBytes=r.cellBytes:(this" +
  ".#o-=r.envelope.length+y,this.#e.push(r.lane,r.envelope))}}};function ye(t,e,r){if(r<t-e)return r+e;let n=Math" +
  ".max(0,Math.floor((r-t)/e));return t+(n+1)*e}async function I({body:t},e){let r=t?.getReader();if(r===void 0)r" +
  "eturn\"\";let n=new TextDecoder,o=\"\";try{for(let s=await r.read();s.value!==void 0;s=await r.read())if(o+=n.deco" +
  "de(s.value,{stream:!0}),o.length>e)return;return o}finally{await r.cancel()}}var b=class extends Error{name=\"S" +
  "taticError\";code;retryAfterMs;epoch;constructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.cause}),thi" +
  "s.code=e,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch}},L=class extends b{name=\"TransportError\"},K=clas" +
  "s extends b{name=\"AuthError\"},F=class extends b{name=\"ChannelError\"},$=class extends b{name=\"QuotaExceededErro" +
  "r\"},D=class extends b{name=\"MlsError\"},pe={TransportError:L,AuthError:K,ChannelError:F,QuotaExceededError:$,Ml" +
  "sError:D};function H(t,e,r){return new pe[C[t].errorClass](t,e,r)}var G=2,v=5,fe=64*1024,me=10;function Q(t){l" +
  "et e=new Uint8Array(v+t.length);return ge(e,1,t.length),e.set(t,v),e}function X(t){let{value:e,end:r}=N(t,0,me" +
  ");if(r!==t.length)throw new p(\"protocol_error\",\"A cell's message holds more than a cell\");return e}function Y(" +
  "t,e,r){let[n,o]=[q(10,t.length),q(26,r.length)],s=new Uint8Array(9);return s[0]=17,new DataView(s.buffer).setB" +
  "igUint64(1,BigInt(e),!0),P([n,t,s,o,r])}function Z(t){return P([q(10,t.length),t])}function ee(t){let e=new Te" +
  "xtDecoder,r=N(t,0,10);return r.end===t.length?{code:e.decode(r.value),message:\"\"}:{code:e.decode(r.value),mess" +
  "age:e.decode(N(t,r.end,18).value)}}var T=class{#r=new Uint8Array(v);#e=0;#t=new Uint8Array(0);#o=0;read(e,r){l" +
  "et n=0;for(;n<e.length;){if(this.#e<v){let s=e.subarray(n,n+v-this.#e);if(this.#r.set(s,this.#e),this.#e+=s.le" +
  "ngth,n+=s.length,this.#e<v)return;this.#n()}let o=e.subarray(n,n+this.#t.length-this.#o);n+=o.length,o.length=" +
  "==this.#t.length?this.#s(o,r):(this.#t.set(o,this.#o),this.#o+=o.length,this.#o===this.#t.length&&this.#s(this" +
  ".#t,r))}}#n(){let e=new DataView(this.#r.buffer).getUint32(1);if(e===0||e>fe)throw new p(\"protocol_error\",`A m" +
  "essage of ${e} bytes where cells are expected`);this.#t.length!==e&&(this.#t=new Uint8Array(e)),this.#o=0}#s(e" +
  ",r){this.#e=0,r(this.#r[0]??0,e)}};function P(t){let e=new Uint8Array(t.reduce((n,{length:o})=>n+o,0)),r=0;for" +
  "(let n of t)e.set(n,r),r+=n.length;return e}function q(t,e){let r=[t];for(let n=e;n>0||r.length===1;n>>>=7)r.p" +
  "ush(n>127?n&127|128:n);return Uint8Array.from(r)}function N(t,e,r){if(t[e]!==r)throw new p(\"protocol_error\",\"A" +
  " message without the field that it must have\");let[n,o]=[0,e+1];for(let s=1;s<=2**14;s*=128){let c=t[o++]??0;i" +
  "f(n+=(c&127)*s,c<128){if(n>t.length-o)break;return{value:t.subarray(o,o+n),end:o+n}}}throw new p(\"protocol_err" +
  "or\",\"A field goes beyond the end of its message\")}function ge(t,e,r){new DataView(t.buffer,t.byteOffset).setUi" +
  "nt32(e,r)}var be=\"static.relay.v1.ErrorDetail\";function V(t,e){let r=we(t),{message:n,details:o}=j(r.error??r)" +
  ";for(let s of Array.isArray(o)?o:[]){let{type:c,value:u}=j(s);if(!(c!==be||typeof u!=\"string\"))try{let i=ee(Ui" +
  "nt8Array.from(atob(u),l=>l.charCodeAt(0)));if(B(i.code))return{code:i.code,message:i.message}}catch{}}return{m" +
  "essage:typeof n==\"string\"?n.slice(0,1024):e}}function we(t){try{return j(JSON.parse(t))}catch{return{}}}functi" +
  "on j(t){return typeof t==\"object\"&&t!==null?t:{}}function w(t){let e=[];for(let r=t;r!==void 0&&e.length<3;r=r" +
  " instanceof Error?r.cause:void 0){let n=r instanceof Error?r.message:String(r);n!==\"\"&&!e.some(o=>o.includes(n" +
  "))&&e.push(n)}return e.join(\": \")}var xe=32,ve=1e3,Ae=64*1024,Ce={\"connect-protocol-version\":\"1\"};function re(" +
  "t){let{openHttp:e,unusable:r,randomBytes:n}=t;return{transport:\"cells\",carrier:\"tcp\",unusable:r,connect:(o,s)=" +
  ">{let c=e(o.trust),u=new AbortController;u.signal.addEventListener(\"abort\",()=>c.close());let i=Be(c,o,u.signa" +
  "l),l=n(xe),h=i(\"CellDown\",\"application/connect+proto\",Q(Z(l))),m=(g,O)=>i(\"CellUp\",\"application/proto\",Y(l,g,O" +
  ")),_=new z(h,m,u,t);return s.aborted&&_.close(),Promise.resolve(_)}}}function Be(t,{host:e,port:r},n){let o=`$" +
  "{e.includes(\":\")?`[${e}]`:e}:${r}`;return async(s,c,u)=>{let i=await t.request(`https://${o}/static.relay.v1.R" +
  "elay/${s}`,{method:\"POST\",headers:{...Ce,\"content-type\":c},body:u,signal:n,redirect:\"error\",credentials:\"omit\"" +
  ",cache:\"no-store\"});if(i.status===200)return i;let l=await I(i,Ae)??\"\",{code:h,message:m}=V(l,`${s} was answer" +
  "ed ${i.status}`);throw H(h??\"transport_error\",m)}}var z=class{#r;#e;#t;#o;#n=new Set;#s=new T;#l=0;#a=()=>{};c" +
  "losed;constructor(e,r,n,o){this.#r=e.then(s=>s.body?.getReader()),this.#r.catch(()=>{}),this.#e=r,this.#t=o,th" +
  "is.#o=n,this.closed=new Promise(s=>this.#a=s)}async read(){try{for(;;){let e=await(await this.#r)?.read();if(e" +
  "?.value===void 0)return this.#i({message:\"the connection was cut off\"});let{cells:r,end:n}=this.#u(e.value);if" +
  "(n!==void 0&&this.#i(n),r.length>0)return P(r);if(n!==void 0)return}}catch(e){return this.#i({message:w(e)})}}" +
  "async write(e,r){for(let n=0;n<e.length;n+=r){this.#o.signal.throwIfAborted();let o=this.#c(e.subarray(n,n+r))" +
  ".finally(()=>this.#n.delete(o));this.#n.add(o),this.#n.size>=this.#t.callsAtOnce&&await Promise.race(this.#n)}" +
  "this.#o.signal.throwIfAborted()}async#c(e){try{await(await this.#e(++this.#l,e)).arrayBuffer()}catch(r){this.#" +
  "i({message:w(r)})}}close(){let e={message:\"it was closed by this side\"};if(this.#n.size===0)return this.#i(e);" +
  "this.#a(e);let r=this.#t.after(ve,()=>this.#i(e));Promise.all(this.#n).then(()=>{r(),this.#i(e)})}#u(e){let r=" +
  "[],n;return this.#s.read(e,(o,s)=>{o===0?r.push(X(s).slice()):n=o===G?Ee(s):{message:\"compressed cells were no" +
  "t asked for\"}}),{cells:r,end:n}}#i(e){this.#a(e),this.#o.abort(H(\"transport_error\",e.message))}};function Ee(t" +
  "){return V(new TextDecoder().decode(t),\"the relay ended the stream\")}function te(){return Date.now()}function " +
  "A(t,e){let r=setTimeout(e,t);return()=>clearTimeout(r)}function M(t){return crypto.getRandomValues(new Uint8Ar" +
  "ray(t))}function ke(){return{request:(t,e)=>fetch(t,e),close:()=>{}}}var _e=16,ne=re({openHttp:ke,unusable:Ue," +
  "randomBytes:M,callsAtOnce:_e,after:A});function Ue({caCerts:t,certificateHashes:e}){return t.length>0||e.lengt" +
  "h>0?\"a browser's fetch trusts only what the browser trusts; tls options do not apply\":void 0}var Se=1500,Te=64" +
  "*1024;function oe(t){let e=t.readable.getReader({mode:\"byob\"}),r=t.writable.getWriter();r.closed.catch(()=>{})" +
  ";let n=new ArrayBuffer(Te),o=()=>{},s=new Promise(l=>o=l),c,u=l=>{c?.(),o(l)};t.closed.then(({closeCode:l=0})=" +
  ">u(Pe(l)),l=>u({message:w(l)}));let i=()=>{r.close().catch(()=>{}),c??=t.after(Se,()=>{t.close(0),o({message:\"" +
  "the relay ended the stream\"})})};return{read:async()=>{try{let{value:l}=await e.read(new Uint8Array(n));if(l!=" +
  "=void 0&&l.length>0)return n=l.buffer,l}catch{}i()},write:async l=>{try{await r.write(l)}catch(h){throw i(),h}" +
  "},close:l=>{o({message:\"it was closed by this side\"}),l===0?i():t.close(l)},closed:s}}function Pe(t){let e=W(t" +
  ");return e===void 0?{message:\"the relay closed the connection\"}:{code:e,message:`the relay closed the connecti" +
  "on with ${e}`}}var ie={transport:\"webtransport\",carrier:\"udp\",unusable:({caCerts:t})=>se()===void 0?\"this brow" +
  "ser has no WebTransport\":t.length>0?\"a browser takes no certificates; give tls.certificateHashes\":void 0,conne" +
  "ct:async({host:t,port:e,trust:r},n)=>{let o=se();if(o===void 0)throw new Error(\"this browser has no WebTranspo" +
  "rt\");n.throwIfAborted();let s=r.certificateHashes.map(h=>({algorithm:\"sha-256\",value:h})),c=`${t.includes(\":\")" +
  "?`[${t}]`:t}:${e}`,u=new o(`https://${c}/`,{...s.length>0&&{serverCertificateHashes:s}});u.closed.catch(()=>{}" +
  ");let i=h=>u.close({closeCode:h}),l=()=>i(0);n.addEventListener(\"abort\",l);try{await u.ready;let{readable:h,wr" +
  "itable:m}=await u.createBidirectionalStream();return oe({readable:h,writable:m,closed:u.closed,close:i,after:A" +
  "})}catch(h){throw n.aborted?n.reason:h}finally{n.removeEventListener(\"abort\",l)}}};function se(){return global" +
  "This.WebTransport}var Me=2e3;function ae(t,e){let r,n,o=0,s=i=>{t.post({kind:\"written\",takenBytes:o-i.pendingB" +
  "ytes,counts:i.counts})},c=async({transport:i,target:l})=>{let h=e.connectors.find(g=>g.transport===i);if(h===v" +
  "oid 0)throw new Error(`no way to connect by ${i} in a thread of its own`);let m=r=await h.connect(l,new AbortC" +
  "ontroller().signal),_=n=new k({cellBytes:f.cellBytes,write:(g,O)=>m.write(g,O),after:e.after,nowMs:e.nowMs,ran" +
  "dom:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,onWritten:()=>s(_),onFailed:()=>t.post({kind:" +
  "\"failed\"})});m.closed.then(g=>t.post({kind:\"closed\",end:g})),t.post({kind:\"connected\"})},u=async()=>{let i=awa" +
  "it r?.read();t.post({kind:\"chunk\",bytes:i?.slice()})};t.listen(i=>{switch(i.kind){case\"connect\":return void c(" +
  "i).catch(l=>t.post({kind:\"refused\",message:w(l)}));case\"push\":return o+=i.envelope.length+y,n?.push(i.lane,i.e" +
  "nvelope);case\"cellBytes\":return n?.setCellBytes(i.cellBytes);case\"configure\":return n?.configure(i.mode,i.inte" +
  "rvalMs);case\"covering\":return n?.setCovering(i.covering);case\"flush\":return void n?.flush(i.timeoutMs).then(l=" +
  ">{t.post({kind:\"flushed\",id:i.id,flushed:l})});case\"read\":return void u();case\"stop\":return n?.stop();case\"clo" +
  "se\":return r?.close(i.closeCode),void e.after(Me,e.exit)}})}function de(t){let e=globalThis;ae({post:r=>e.post" +
  "Message(r),listen:r=>{e.onmessage=({data:n})=>r(n)}},{connectors:t,nowMs:te,after:A,randomBytes:M,exit:()=>e.c" +
  "lose()})}de([ie,ne]);\n";
