/** Built from sdk/platform/deno_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var a={invalidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8," +
  "failedPrecondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16}," +
  "d=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClass:n,retryable:!1}),y=(...t)=>({...d(...t),retryable:!0}),E={join" +
  "_timeout:y(504,a.deadlineExceeded,257,\"TransportError\"),auth_failed:d(401,a.unauthenticated,258,\"AuthError\"),a" +
  "uth_key_invalid:d(401,a.unauthenticated,259,\"AuthError\"),transport_error:y(502,a.unavailable,260,\"TransportErr" +
  "or\"),connection_error:y(502,a.unavailable,261,\"TransportError\"),listener_died:d(500,a.internal,262,\"TransportE" +
  "rror\"),channel_error:d(400,a.invalidArgument,263,\"ChannelError\"),quota_exceeded:d(429,a.resourceExhausted,264," +
  "\"QuotaExceededError\"),mls_error:d(409,a.failedPrecondition,265,\"MlsError\"),invalid_request:d(400,a.invalidArgu" +
  "ment,272,\"InvalidArgumentError\"),not_found:d(404,a.notFound,273,\"ChannelError\"),method_not_allowed:d(405,a.uni" +
  "mplemented,274,\"InvalidArgumentError\"),payload_too_large:d(413,a.outOfRange,275,\"InvalidArgumentError\"),unsupp" +
  "orted_media_type:d(415,a.invalidArgument,276,\"InvalidArgumentError\"),rate_limited:y(429,a.resourceExhausted,27" +
  "7,\"UnavailableError\"),internal:d(500,a.internal,278,\"InternalError\"),overloaded:y(503,a.unavailable,279,\"Unava" +
  "ilableError\"),email_taken:d(409,a.alreadyExists,288,\"AuthError\"),key_limit_reached:d(409,a.resourceExhausted,2" +
  "89,\"AuthError\"),account_suspended:d(403,a.permissionDenied,290,\"AuthError\"),conflict:d(409,a.aborted,291,\"Auth" +
  "Error\"),code_invalid:d(400,a.invalidArgument,292,\"AuthError\"),csrf_failed:d(403,a.permissionDenied,293,\"AuthEr" +
  "ror\"),protocol_error:d(400,a.invalidArgument,304,\"TransportError\"),unsupported_version:d(400,a.failedPrecondit" +
  "ion,305,\"TransportError\"),unknown_operation:d(404,a.unimplemented,306,\"TransportError\"),session_expired:d(401," +
  "a.unauthenticated,307,\"AuthError\"),session_replaced:d(409,a.aborted,308,\"TransportError\"),slow_reader:y(429,a." +
  "resourceExhausted,309,\"UnavailableError\"),relay_draining:y(503,a.unavailable,310,\"UnavailableError\"),certifica" +
  "te_changed:d(502,a.failedPrecondition,311,\"TransportError\"),name_taken:d(409,a.alreadyExists,320,\"ChannelError" +
  "\"),epoch_conflict:y(409,a.aborted,321,\"MlsError\"),not_allowed:d(403,a.permissionDenied,322,\"ChannelError\"),mem" +
  "ber_limit_reached:d(409,a.resourceExhausted,323,\"ChannelError\"),already_member:d(409,a.alreadyExists,324,\"Chan" +
  "nelError\"),identity_present:d(409,a.alreadyExists,356,\"ChannelError\"),queue_full:y(429,a.resourceExhausted,325" +
  ",\"ChannelError\"),cursor_invalid:d(416,a.outOfRange,326,\"ChannelError\"),key_package_invalid:d(400,a.invalidArgu" +
  "ment,327,\"MlsError\"),key_package_missing:y(404,a.failedPrecondition,328,\"MlsError\"),join_rejected:d(403,a.perm" +
  "issionDenied,329,\"ChannelError\"),membership_lapsed:d(410,a.failedPrecondition,330,\"ChannelError\"),state_confli" +
  "ct:d(409,a.failedPrecondition,331,\"MlsError\"),storage_full:y(507,a.resourceExhausted,332,\"ChannelError\"),link_" +
  "invalid:d(400,a.invalidArgument,333,\"InvalidArgumentError\"),removed:d(410,a.failedPrecondition,355,\"RemovedErr" +
  "or\"),members_must_update:d(409,a.failedPrecondition,334,\"ChannelError\"),successor_needed:d(409,a.failedPrecond" +
  "ition,335,\"ChannelError\"),content_invalid:d(400,a.invalidArgument,352,\"ChannelError\"),request_timeout:y(504,a." +
  "deadlineExceeded,353,\"TransportError\"),remote_error:d(502,a.aborted,354,\"RemoteError\"),store_locked:y(409,a.fa" +
  "iledPrecondition,336,\"StoreError\"),store_corrupt:d(500,a.internal,337,\"StoreError\"),store_failed:d(500,a.inter" +
  "nal,339,\"StoreError\"),passphrase_wrong:d(401,a.unauthenticated,338,\"StoreError\")};function B(t){return Object." +
  "hasOwn(E,t)}function Q(t){return Pe.get(t)}var Pe=new Map(Object.entries(E).flatMap(([t,{close:e}])=>B(t)?[[e," +
  "t]]:[])),m=class extends Error{name=\"WireError\";code;requestId;constructor(e,r,n={}){super(r,n.cause===void 0?" +
  "void 0:{cause:n.cause}),this.code=e,this.requestId=n.requestId}};var g=Object.freeze({cellBytes:4096,minCellBy" +
  "tes:1024,maxCellBytes:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262" +
  "144,welcomeBytes:2097152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBy" +
  "tes:16384,cborDepth:6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,chan" +
  "nelsPerPage:500,answersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,ownersChangeByte" +
  "s:2048,admissions:16,claimsForFounding:100,confirmationsPerPage:10,unconfirmedPerPage:40,featuresPerSession:64" +
  ",identityBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64," +
  "nameComponentBytes:63,channelNameBytes:191,emailBytes:254,contentFieldsBytes:8192,contentTypeBytes:127,content" +
  "Addressees:64,conversationBytes:128,contentHeaders:32,contentHeaderNameBytes:64,contentHeaderValueBytes:1024,c" +
  "ontentErrorBytes:64,contentConfirmationBytes:120,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:1" +
  "6777216,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIn" +
  "tervalMs:10,maxCoverIntervalMs:36e5});var A=3,p=4,P=2,$={control:0,data:1};function R(t){if(!Number.isInteger(" +
  "t)||t<g.minCellBytes||t>g.maxCellBytes)throw new m(\"protocol_error\",`A cell has ${g.minCellBytes} to ${g.maxCe" +
  "llBytes} bytes, not ${t}`);return t}function I(t){if(t===0||t>g.envelopeBytes)throw new m(\"payload_too_large\"," +
  "`Cannot send an envelope of ${t} bytes; 1 to ${g.envelopeBytes} are allowed`)}var S=class{#e;#r=[];#t=[];#n=[0" +
  ",0];#o=0;constructor(e){this.#e=R(e)}set cellBytes(e){if(this.#o>0)throw new TypeError(\"Cannot change the cell" +
  " size while envelopes are waiting\");this.#e=R(e)}get cellBytes(){return this.#e}get pendingBytes(){return this" +
  ".#o}push(e,r){I(r.length),(e===\"control\"?this.#r:this.#t).push(r),this.#o+=r.length+p}next(e){let r=this.#r.le" +
  "ngth>0?$.control:$.data,n=r===$.control?this.#r:this.#t;if(n.length===0)return;let o=e?.length===this.#e?e:new" +
  " Uint8Array(this.#e);return this.#i(o,n,r),o}#i(e,r,n){let o=A,i=0,c=this.#n[n]??0;for(let l of r){if(c===0){i" +
  "f(e.length-o<=p)break;Me(e,o,l.length),o+=p,c=p}let s=c-p,f=l.subarray(s,s+e.length-o);if(e.set(f,o),o+=f.leng" +
  "th,c+=f.length,c-p<l.length)break;i++,c=0}let u=o-A;i===1?r.shift():r.splice(0,i),this.#n[n]=c,this.#o-=u,e[0]" +
  "=n,e[1]=u>>8,e[2]=u&255,e.fill(0,o)}};function j(t,e,r){let n=e+P;return t.set(r,n),t[e]=r.length>>8,t[e+1]=r." +
  "length&255,n+r.length}function Me(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var Te=64*1024,de=.5," +
  "Oe=2,M=class{#e;#r;#t=[];#n=0;#o=0;#i=new Uint8Array(0);#a=\"off\";#s=0;#c;#u=0;#d=!0;#y=!1;#p=!1;#l=!1;#h=new S" +
  "et;#f={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#e=e,this.#r=new S(e.cellBytes)}g" +
  "et pendingBytes(){return this.#r.pendingBytes+this.#n+this.#o}get counts(){return{...this.#f}}push(e,r){this.#" +
  "l||(this.#t.length===0?this.#r.push(e,r):(I(r.length),this.#t.push({lane:e,envelope:r}),this.#n+=r.length+p),t" +
  "his.#m())}setCellBytes(e){this.#t.push({cellBytes:R(e)}),this.#C()}configure(e,r){if(!this.#l){if(e!==\"off\"&&!" +
  "(r>0))throw new RangeError(`Cover needs an interval above 0, not ${r}`);this.#c?.(),this.#c=void 0,this.#a=e,t" +
  "his.#s=r,this.#y=!1,this.#u=this.#e.nowMs(),e!==\"off\"&&this.#A(),this.#m()}}setCovering(e){this.#d=e}flush(e){" +
  "return this.#l?Promise.resolve(this.pendingBytes===0):!this.#p&&this.pendingBytes===0?Promise.resolve(!0):new " +
  "Promise(r=>{let n=i=>{this.#h.delete(n),o(),r(i)},o=this.#e.after(e,()=>n(!1));this.#h.add(n)})}stop(){this.#l" +
  "=!0,this.#c?.(),this.#c=void 0,this.#i=new Uint8Array(0);for(let e of this.#h)e(!1)}#m(){this.#p||this.#l||!th" +
  "is.#b()||(this.#p=!0,this.#E())}#b(){return this.#y||this.#a!==\"constant\"&&this.#r.pendingBytes>0}async#E(){aw" +
  "ait void 0;try{for(;!this.#l&&this.#b();){let e=this.#a===\"constant\"?this.#_():this.#k();if(await this.#e.writ" +
  "e(e,this.#r.cellBytes),this.#o=0,this.#l)break;this.#C(),this.#e.onWritten?.()}}catch(e){this.#o=0;let r=this." +
  "#l;this.stop(),r||this.#e.onFailed?.(e)}this.#p=!1,this.#B()}#B(){if(!(this.#l||this.pendingBytes>0)){this.#i." +
  "length>Oe*this.#r.cellBytes&&(this.#i=new Uint8Array(0));for(let e of this.#h)e(!0)}}#_(){this.#y=!1;let e=thi" +
  "s.#g(1);return this.#x(e)?e:this.#v(e)}#k(){let{cellBytes:e,pendingBytes:r}=this.#r;if(r===0)return this.#y=!1" +
  ",this.#v(this.#g(1));let n=Math.ceil(r/(e-A))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(Te/e)))),i=0;for(;i" +
  "<o.length&&this.#x(o.subarray(i,i+e));)i+=e;return o.subarray(0,i)}#g(e){let r=e*this.#r.cellBytes;return this" +
  ".#i.length<r&&(this.#i=new Uint8Array(r)),this.#i.subarray(0,r)}#x(e){let r=this.#r.pendingBytes;if(this.#r.ne" +
  "xt(e)===void 0)return!1;let n=r-this.#r.pendingBytes;return this.#o+=n,this.#f.cells++,this.#f.paddingBytes+=e" +
  ".length-A-n,this.#w(e,A+n),!0}#v(e){return this.#f.cells++,this.#f.coverCells++,this.#f.coverBytes+=e.length,t" +
  "his.#w(e.fill(0),A),e}#w(e,r){let{rider:n}=this.#e;if(n!==void 0)for(let o=r;e.length-o>P;){let i=n(e.length-o" +
  "-P);if(i===void 0)return;o=j(e,o,i)}}#A(){let e=this.#e.nowMs();this.#c=this.#e.after(this.#a===\"poisson\"?this" +
  ".#U():this.#S(e),()=>{this.#y=this.#d||this.#a===\"constant\"&&this.#r.pendingBytes>0,this.#A(),this.#m()})}#U()" +
  "{return-Math.log(1-this.#e.random())*this.#s}#S(e){this.#u=Re(this.#u,this.#s,e);let r=this.#e.random()*de*thi" +
  "s.#s;return Math.max((1-de)*this.#s,this.#u-r-e)}#C(){for(;this.#r.pendingBytes===0&&this.#t.length>0;){let e=" +
  "this.#t.findIndex((r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"" +
  "in r?this.#r.cellBytes=r.cellBytes:(this.#n-=r.envelope.length+p,this.#r.push(r.lane,r.envelope))}}};function " +
  "Re(t,e,r){if(r<t-e)return r+e;let n=Math.max(0,Math.floor((r-t)/e));return t+(n+1)*e}async function V({body:t}" +
  ",e){let r=t?.getReader();if(r===void 0)return\"\";let n=new TextDecoder,o=\"\";try{for(let i=await r.read();i.valu" +
  "e!==void 0;i=await r.read())if(o+=n.decode(i.value,{stream:!0}),o.length>e)return;return o}finally{await r.can" +
  "cel()}}var h=class extends Error{name=\"StaticError\";code;retryable;retryAfterMs;epoch;channel;unreachable;memb" +
  "ers;constructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.retryable=n.retrya" +
  "ble??E[e].retryable,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch,this.channel=n.channel,this.unreachabl" +
  "e=n.unreachable,this.members=n.members}},T=class extends h{name=\"TransportError\"},J=class extends T{name=\"Unav" +
  "ailableError\"},z=class extends T{name=\"InternalError\"},G=class extends h{name=\"AuthError\"},D=class extends h{n" +
  "ame=\"ChannelError\"},X=class extends D{name=\"RemovedError\";by;atMs;constructor(e,r,n={}){super(e,r,n),this.by=n" +
  ".by,this.atMs=n.atMs}},Y=class extends h{name=\"QuotaExceededError\"},Z=class extends h{name=\"MlsError\"},ee=clas" +
  "s extends h{name=\"InvalidArgumentError\"},re=class extends h{name=\"StoreError\"},te=class extends h{name=\"Remote" +
  "Error\";remoteCode;constructor(e,{remoteCode:r=\"failed\",...n}={}){super(\"remote_error\",e,n),this.remoteCode=r}}" +
  ";function b(t){return(e,r,n)=>new t(e,r,n)}var Ie={TransportError:b(T),AuthError:b(G),ChannelError:b(D),QuotaE" +
  "xceededError:b(Y),MlsError:b(Z),InvalidArgumentError:b(ee),StoreError:b(re),UnavailableError:b(J),RemovedError" +
  ":b(X),RemoteError:(t,e,r)=>new te(e,r),InternalError:b(z)};function O(t,e,r){return Ie[E[t].errorClass](t,e,r)" +
  "}function le(t,e){return e!==void 0&&B(e)?e:t===429?\"rate_limited\":t===503?\"overloaded\":void 0}var ue=2,_=5,De" +
  "=64*1024,We=10,ce=new TextDecoder;function fe(t){let e=new Uint8Array(_+t.length);return Ke(e,1,t.length),e.se" +
  "t(t,_),e}function ye(t){let{value:e,end:r}=ge(t,0,We);if(r!==t.length)throw new m(\"protocol_error\",\"A cell's m" +
  "essage holds more than a cell\");return e}function pe(t,e,r){let[n,o]=[ne(10,t.length),ne(26,r.length)],i=new U" +
  "int8Array(9);return i[0]=17,new DataView(i.buffer).setBigUint64(1,BigInt(e),!0),L([n,t,i,o,r])}function he(t){" +
  "return L([ne(10,t.length),t])}function me(t){let e={code:\"\",message:\"\"};for(let{field:r,value:n}of Le(t))r===4" +
  "&&typeof n==\"number\"&&(e={...e,retryAfterMs:n}),typeof n!=\"number\"&&(r===1&&(e={...e,code:ce.decode(n)}),r===2" +
  "&&(e={...e,message:ce.decode(n)}));return e}var W=class{#e=new Uint8Array(_);#r=0;#t=new Uint8Array(0);#n=0;re" +
  "ad(e,r){let n=0;for(;n<e.length;){if(this.#r<_){let i=e.subarray(n,n+_-this.#r);if(this.#e.set(i,this.#r),this" +
  ".#r+=i.length,n+=i.length,this.#r<_)return;this.#o()}let o=e.subarray(n,n+this.#t.length-this.#n);n+=o.length," +
  "o.length===this.#t.length?this.#i(o,r):(this.#t.set(o,this.#n),this.#n+=o.length,this.#n===this.#t.length&&thi" +
  "s.#i(this.#t,r))}}#o(){let e=new DataView(this.#e.buffer).getUint32(1);if(e===0||e>De)throw new m(\"protocol_er" +
  "ror\",`A message of ${e} bytes where cells are expected`);this.#t.length!==e&&(this.#t=new Uint8Array(e)),this." +
  "#n=0}#i(e,r){this.#r=0,r(this.#e[0]??0,e)}};function L(t){let e=new Uint8Array(t.reduce((n,{length:o})=>n+o,0)" +
  "),r=0;for(let n of t)e.set(n,r),r+=n.length;return e}function ne(t,e){let r=[t];for(let n=e;n>0||r.length===1;" +
  "n>>>=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}function ge(t,e,r){if(t[e]!==r)throw new m(\"protoco" +
  "l_error\",\"A message without the field that it must have\");let{value:n,end:o}=be(t,e+1);if(n>t.length-o)throw x" +
  "e();return{value:t.subarray(o,o+n),end:o+n}}function*Le(t){for(let e=0;e<t.length;){let r=t[e]??0,{value:n,end" +
  ":o}=(r&7)===0?be(t,e+1):ge(t,e,r&-8|2);yield{field:r>>3,value:n},e=o}}function be(t,e){let r=0;for(let[n,o]=[1" +
  ",e];o<t.length&&n<2**63;n*=128){let i=t[o++]??0;if(r+=(i&127)*n,i<128)return{value:r,end:o}}throw xe()}functio" +
  "n xe(){return new m(\"protocol_error\",\"A field goes beyond the end of its message\")}function Ke(t,e,r){new Data" +
  "View(t.buffer,t.byteOffset).setUint32(e,r)}var He=\"static.relay.v1.ErrorDetail\",Fe=1024;function ie(t,e){let r" +
  "=Qe(t),{message:n,details:o}=oe(r.error??r);for(let i of Array.isArray(o)?o:[]){let{type:c,value:u}=oe(i),l=c=" +
  "==He&&typeof u==\"string\"?qe(()=>Ne(u)):void 0;if(l!==void 0)return l}return{message:typeof n==\"string\"?n.slice" +
  "(0,Fe):e}}function ve(t,e,{message:r,...n}){let o=le(t);if(o===void 0)return{message:r};if(n.code!==void 0)ret" +
  "urn{message:r,...n};let i=typeof e==\"string\"?Number(e)*1e3:NaN;return{code:o,message:r,...i>=0&&{retryAfterMs:" +
  "i}}}function qe(t){try{let{code:e,message:r,retryAfterMs:n}=me(t());return B(e)?{code:e,message:r,...n!==void " +
  "0&&{retryAfterMs:n}}:void 0}catch{return}}function Ne(t){return Uint8Array.from(atob(t),e=>e.charCodeAt(0))}fu" +
  "nction Qe(t){try{return oe(JSON.parse(t))}catch{return{}}}function oe(t){return typeof t==\"object\"&&t!==null?t" +
  ":{}}function k(t){let e=[];for(let r=t;r!==void 0&&e.length<3;r=r instanceof Error?r.cause:void 0){let n=r ins" +
  "tanceof Error?r.message:String(r);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e.join(\": \")}var $e=32,j" +
  "e=1e3,Ve=64*1024,Je={\"connect-protocol-version\":\"1\"};function Ae(t){let{openHttp:e,unusable:r,randomBytes:n}=t" +
  ";return{transport:\"cells\",carrier:\"tcp\",unusable:r,connect:(o,i)=>{let c=e(o.trust),u=new AbortController;u.si" +
  "gnal.addEventListener(\"abort\",()=>c.close());let l=ze(c,o,u.signal),s=n($e),f=l(\"CellDown\",\"application/connec" +
  "t+proto\",fe(he(s))),C=(v,N)=>l(\"CellUp\",\"application/proto\",pe(s,v,N)),x=new se(f,C,u,t);return i.aborted&&x.c" +
  "lose(),Promise.resolve(x)}}}function ze(t,{host:e,port:r},n){let o=`${e.includes(\":\")?`[${e}]`:e}:${r}`;return" +
  " async(i,c,u)=>{let l=await t.request(`https://${o}/static.relay.v1.Relay/${i}`,{method:\"POST\",headers:{...Je," +
  "\"content-type\":c},body:u,signal:n,redirect:\"error\",credentials:\"omit\",cache:\"no-store\"});if(l.status===200)ret" +
  "urn l;let s=await V(l,Ve)??\"\",f=ie(s,`The relay returned HTTP status ${l.status} for ${i}`),{code:C,message:x," +
  "retryAfterMs:v}=ve(l.status,l.headers.get(\"retry-after\"),f);throw O(C??\"transport_error\",x,v===void 0?{}:{retr" +
  "yAfterMs:v})}}var se=class{#e;#r;#t;#n;#o=new Set;#i=new W;#a=0;#s=()=>{};closed;constructor(e,r,n,o){this.#e=" +
  "e.then(i=>i.body?.getReader()),this.#e.catch(()=>{}),this.#r=r,this.#t=o,this.#n=n,this.closed=new Promise(i=>" +
  "this.#s=i)}async read(){try{for(;;){let e=await(await this.#e)?.read();if(e?.value===void 0)return this.#d({me" +
  "ssage:\"the connection was cut off\"});let{cells:r,end:n}=this.#u(e.value);if(n!==void 0&&this.#d(n),r.length>0)" +
  "return L(r);if(n!==void 0)return}}catch(e){return this.#d(we(e))}}async write(e,r){for(let n=0;n<e.length;n+=r" +
  "){this.#n.signal.throwIfAborted();let o=this.#c(e.subarray(n,n+r)).finally(()=>this.#o.delete(o));this.#o.add(" +
  "o),this.#o.size>=this.#t.callsAtOnce&&await Promise.race(this.#o)}this.#n.signal.throwIfAborted()}async#c(e){t" +
  "ry{await(await this.#r(++this.#a,e)).arrayBuffer()}catch(r){this.#d(we(r))}}close(){let e={message:\"it was clo" +
  "sed by this side\"};if(this.#o.size===0)return this.#d(e);this.#s(e);let r=this.#t.after(je,()=>this.#d(e));Pro" +
  "mise.all(this.#o).then(()=>{r(),this.#d(e)})}#u(e){let r=[],n;return this.#i.read(e,(o,i)=>{o===0?r.push(ye(i)" +
  ".slice()):n=o===ue?Ge(i):{message:\"compressed cells were not asked for\"}}),{cells:r,end:n}}#d(e){this.#s(e),th" +
  "is.#n.abort(O(\"transport_error\",e.message))}};function we(t){if(!(t instanceof h)||t.code===\"transport_error\")" +
  "return{message:k(t)};let{code:e,message:r,retryAfterMs:n}=t;return{code:e,message:r,retryAfterMs:n}}function G" +
  "e(t){return ie(new TextDecoder().decode(t),\"the relay ended the stream\")}var K=class{#e=new Map;#r;#t=1/0;#n=0" +
  ";after(e,r){let n=Math.ceil((performance.now()+e)/250),o={run:r},i=this.#e.get(n);return i===void 0?this.#e.se" +
  "t(n,new Set([o])):i.add(o),this.#n++,n<this.#t?this.#a(n):this.#n===1&&this.#i(!0),()=>{this.#o(n,o)}}#o(e,r){" +
  "let n=this.#e.get(e);return n===void 0||!n.delete(r)?!1:(n.size===0&&this.#e.delete(e),this.#n--,this.#n===0&&" +
  "this.#i(!1),!0)}#i(e){typeof this.#r==\"object\"&&(e?this.#r.ref():this.#r.unref())}#a(e){clearTimeout(this.#r)," +
  "this.#t=e;let r=Math.max(0,e*250-performance.now());this.#r=setTimeout(()=>this.#s(),Math.min(r,2147483647))}#" +
  "s(){this.#r=void 0,this.#t=1/0;let e=performance.now(),r=1/0;for(let[n,o]of this.#e)if(n*250>e)r=Math.min(r,n)" +
  ";else for(let i of o)queueMicrotask(()=>this.#o(n,i)&&i.run());r<1/0&&this.#a(r)}};function Ce(){return Date.n" +
  "ow()}var Xe=5e3,Ye=new K;function U(t,e){if(t>=Xe)return Ye.after(t,e);let r=setTimeout(e,t);return()=>clearTi" +
  "meout(r)}function H(t){return crypto.getRandomValues(new Uint8Array(t))}var Ze=2e4;function er({caCerts:t}){le" +
  "t{Deno:e}=globalThis,r=e.createHttpClient({caCerts:t,http2:!1,poolIdleTimeout:Ze}),n=!0;return{request:(o,i)=>" +
  "fetch(o,Object.assign({},i,{client:r})),close:()=>{n&&r.close(),n=!1}}}var rr=4,Ee=Ae({openHttp:er,unusable:tr" +
  ",randomBytes:H,callsAtOnce:rr,after:U});function tr({certificateHashes:t}){return t.length>0?\"Deno can check t" +
  "ls.certificateHashes only over QUIC\":void 0}var nr=1500,or=64*1024;function Be(t){let e=t.readable.getReader({" +
  "mode:\"byob\"}),r=t.writable.getWriter();r.closed.catch(()=>{});let n=new ArrayBuffer(or),o=()=>{},i=new Promise" +
  "(s=>o=s),c,u=s=>{c?.(),o(s)};t.closed.then(({closeCode:s=0})=>u(F(s)),s=>u({message:k(s)}));let l=()=>{r.close" +
  "().catch(()=>{}),c??=t.after(nr,()=>{t.close(0),o({message:\"the relay ended the stream\"})})};return{read:async" +
  "()=>{try{let{value:s}=await e.read(new Uint8Array(n));if(s!==void 0&&s.length>0)return n=s.buffer,s}catch{}l()" +
  "},write:async s=>{try{await r.write(s)}catch(f){throw l(),f}},close:s=>{o({message:\"it was closed by this side" +
  "\"}),s===0?l():t.close(s)},closed:i}}function F(t){let e=Q(t);return e===void 0?{message:\"the relay closed the " +
  "connection\"}:{code:e,message:`the relay closed the connection with ${e}`}}var ir=\"static-relay/1\",sr={maxIdleT" +
  "imeout:1e4},ar=\"low-latency\",ke={transport:\"quic\",carrier:\"udp\",unusable:()=>_e()===void 0?\"Deno offers QUIC o" +
  "nly with --unstable-net\":void 0,connect:async({host:t,port:e,trust:r},n)=>{let o=_e();if(o===void 0)throw new " +
  "Error(\"Deno offers QUIC only with --unstable-net\");n.throwIfAborted();let i=r.certificateHashes.map(s=>({algor" +
  "ithm:\"sha-256\",value:s})),c=lr(o),u=s=>c.close({closeCode:s,reason:\"\"}),l=()=>u(0);n.addEventListener(\"abort\"," +
  "l);try{let s=await o.connectQuic({hostname:t,port:e,alpnProtocols:[ir],caCerts:r.caCerts,...i.length>0&&{serve" +
  "rCertificateHashes:i},endpoint:c,...sr,congestionControl:ar}),{readable:f,writable:C}=await s.createBidirectio" +
  "nalStream().catch(v=>dr(s,v)),x=s.closed.finally(()=>u(0));return Be({readable:f,writable:C,closed:x,close:u,a" +
  "fter:U})}catch(s){throw u(0),n.aborted?n.reason:s}finally{n.removeEventListener(\"abort\",l)}}};async function d" +
  "r({closed:t},e){let{code:r,message:n}=await t.then(({closeCode:o})=>F(o),()=>F(0));throw r===void 0?e:O(r,n)}f" +
  "unction lr({QuicEndpoint:t}){try{return new t({hostname:\"::\"})}catch{return new t({hostname:\"0.0.0.0\"})}}funct" +
  "ion _e(){let{Deno:t}=globalThis;return t?.connectQuic===void 0?void 0:t}var q=class{#e=new Map;offer(e,r){this" +
  ".#e.delete(e),this.#e.set(e,r)}take(e){for(let[r,n]of this.#e)if(!(n.length>e))return this.#e.delete(r),n}};va" +
  "r cr=2e3;function Ue(t,e){let r,n,o=0,i=new q,c=s=>{t.post({kind:\"written\",takenBytes:o-s.pendingBytes,counts:" +
  "s.counts})},u=async({transport:s,target:f,isTapped:C})=>{let x=e.connectors.find(w=>w.transport===s);if(x===vo" +
  "id 0)throw new Error(`no way to connect by ${s} in a thread of its own`);let v=r=await x.connect(f,new AbortCo" +
  "ntroller().signal),N=n=new M({cellBytes:g.cellBytes,write:(w,ae)=>(C&&t.post({kind:\"sent\",cells:w.slice(),cell" +
  "Bytes:ae}),v.write(w,ae)),after:e.after,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUint" +
  "32(0)/2**32,rider:w=>i.take(w),onWritten:()=>c(N),onFailed:()=>t.post({kind:\"failed\"})});v.closed.then(w=>t.po" +
  "st({kind:\"closed\",end:w})),t.post({kind:\"connected\"})},l=async()=>{let s=await r?.read();t.post({kind:\"chunk\"," +
  "bytes:s?.slice()})};t.listen(s=>{switch(s.kind){case\"connect\":return void u(s).catch(f=>t.post({kind:\"refused\"" +
  ",message:k(f)}));case\"push\":return o+=s.envelope.length+p,n?.push(s.lane,s.envelope);case\"offer\":return i.offe" +
  "r(s.key,s.envelope);case\"cellBytes\":return n?.setCellBytes(s.cellBytes);case\"configure\":return n?.configure(s." +
  "mode,s.intervalMs);case\"covering\":return n?.setCovering(s.covering);case\"flush\":return void n?.flush(s.timeout" +
  "Ms).then(f=>{t.post({kind:\"flushed\",id:s.id,flushed:f})});case\"read\":return void l();case\"stop\":return n?.stop" +
  "();case\"close\":return r?.close(s.closeCode),void e.after(cr,e.exit)}})}function Se(t){let e=globalThis;Ue({pos" +
  "t:r=>e.postMessage(r),listen:r=>{e.onmessage=({data:n})=>r(n)}},{connectors:t,nowMs:Ce,after:U,randomBytes:H,e" +
  "xit:()=>e.close()})}Se([ke,Ee]);\n";
