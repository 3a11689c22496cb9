/** Built from sdk/platform/browser_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var s={invalidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8," +
  "failedPrecondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16}," +
  "d=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClass:n,retryable:!1}),y=(...t)=>({...d(...t),retryable:!0}),E={join" +
  "_timeout:y(504,s.deadlineExceeded,257,\"TransportError\"),auth_failed:d(401,s.unauthenticated,258,\"AuthError\"),a" +
  "uth_key_invalid:d(401,s.unauthenticated,259,\"AuthError\"),transport_error:y(502,s.unavailable,260,\"TransportErr" +
  "or\"),connection_error:y(502,s.unavailable,261,\"TransportError\"),listener_died:d(500,s.internal,262,\"TransportE" +
  "rror\"),channel_error:d(400,s.invalidArgument,263,\"ChannelError\"),quota_exceeded:d(429,s.resourceExhausted,264," +
  "\"QuotaExceededError\"),mls_error:d(409,s.failedPrecondition,265,\"MlsError\"),invalid_request:d(400,s.invalidArgu" +
  "ment,272,\"InvalidArgumentError\"),not_found:d(404,s.notFound,273,\"ChannelError\"),method_not_allowed:d(405,s.uni" +
  "mplemented,274,\"InvalidArgumentError\"),payload_too_large:d(413,s.outOfRange,275,\"InvalidArgumentError\"),unsupp" +
  "orted_media_type:d(415,s.invalidArgument,276,\"InvalidArgumentError\"),rate_limited:y(429,s.resourceExhausted,27" +
  "7,\"UnavailableError\"),internal:d(500,s.internal,278,\"InternalError\"),overloaded:y(503,s.unavailable,279,\"Unava" +
  "ilableError\"),email_taken:d(409,s.alreadyExists,288,\"AuthError\"),key_limit_reached:d(409,s.resourceExhausted,2" +
  "89,\"AuthError\"),account_suspended:d(403,s.permissionDenied,290,\"AuthError\"),conflict:d(409,s.aborted,291,\"Auth" +
  "Error\"),code_invalid:d(400,s.invalidArgument,292,\"AuthError\"),csrf_failed:d(403,s.permissionDenied,293,\"AuthEr" +
  "ror\"),protocol_error:d(400,s.invalidArgument,304,\"TransportError\"),unsupported_version:d(400,s.failedPrecondit" +
  "ion,305,\"TransportError\"),unknown_operation:d(404,s.unimplemented,306,\"TransportError\"),session_expired:d(401," +
  "s.unauthenticated,307,\"AuthError\"),session_replaced:d(409,s.aborted,308,\"TransportError\"),slow_reader:y(429,s." +
  "resourceExhausted,309,\"UnavailableError\"),relay_draining:y(503,s.unavailable,310,\"UnavailableError\"),certifica" +
  "te_changed:d(502,s.failedPrecondition,311,\"TransportError\"),name_taken:d(409,s.alreadyExists,320,\"ChannelError" +
  "\"),epoch_conflict:y(409,s.aborted,321,\"MlsError\"),not_allowed:d(403,s.permissionDenied,322,\"ChannelError\"),mem" +
  "ber_limit_reached:d(409,s.resourceExhausted,323,\"ChannelError\"),already_member:d(409,s.alreadyExists,324,\"Chan" +
  "nelError\"),identity_present:d(409,s.alreadyExists,356,\"ChannelError\"),queue_full:y(429,s.resourceExhausted,325" +
  ",\"ChannelError\"),cursor_invalid:d(416,s.outOfRange,326,\"ChannelError\"),key_package_invalid:d(400,s.invalidArgu" +
  "ment,327,\"MlsError\"),key_package_missing:y(404,s.failedPrecondition,328,\"MlsError\"),join_rejected:d(403,s.perm" +
  "issionDenied,329,\"ChannelError\"),membership_lapsed:d(410,s.failedPrecondition,330,\"ChannelError\"),state_confli" +
  "ct:d(409,s.failedPrecondition,331,\"MlsError\"),storage_full:y(507,s.resourceExhausted,332,\"ChannelError\"),link_" +
  "invalid:d(400,s.invalidArgument,333,\"InvalidArgumentError\"),removed:d(410,s.failedPrecondition,355,\"RemovedErr" +
  "or\"),members_must_update:d(409,s.failedPrecondition,334,\"ChannelError\"),successor_needed:d(409,s.failedPrecond" +
  "ition,335,\"ChannelError\"),content_invalid:d(400,s.invalidArgument,352,\"ChannelError\"),request_timeout:y(504,s." +
  "deadlineExceeded,353,\"TransportError\"),remote_error:d(502,s.aborted,354,\"RemoteError\"),store_locked:y(409,s.fa" +
  "iledPrecondition,336,\"StoreError\"),store_corrupt:d(500,s.internal,337,\"StoreError\"),store_failed:d(500,s.inter" +
  "nal,339,\"StoreError\"),passphrase_wrong:d(401,s.unauthenticated,338,\"StoreError\")};function B(t){return Object." +
  "hasOwn(E,t)}function q(t){return Se.get(t)}var Se=new Map(Object.entries(E).flatMap(([t,{close:e}])=>B(t)?[[e," +
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
  "tervalMs:10,maxCoverIntervalMs:36e5});var v=3,p=4,P=2,N={control:0,data:1};function O(t){if(!Number.isInteger(" +
  "t)||t<g.minCellBytes||t>g.maxCellBytes)throw new m(\"protocol_error\",`A cell has ${g.minCellBytes} to ${g.maxCe" +
  "llBytes} bytes, not ${t}`);return t}function R(t){if(t===0||t>g.envelopeBytes)throw new m(\"payload_too_large\"," +
  "`Cannot send an envelope of ${t} bytes; 1 to ${g.envelopeBytes} are allowed`)}var S=class{#e;#r=[];#t=[];#n=[0" +
  ",0];#o=0;constructor(e){this.#e=O(e)}set cellBytes(e){if(this.#o>0)throw new TypeError(\"Cannot change the cell" +
  " size while envelopes are waiting\");this.#e=O(e)}get cellBytes(){return this.#e}get pendingBytes(){return this" +
  ".#o}push(e,r){R(r.length),(e===\"control\"?this.#r:this.#t).push(r),this.#o+=r.length+p}next(e){let r=this.#r.le" +
  "ngth>0?N.control:N.data,n=r===N.control?this.#r:this.#t;if(n.length===0)return;let o=e?.length===this.#e?e:new" +
  " Uint8Array(this.#e);return this.#i(o,n,r),o}#i(e,r,n){let o=v,i=0,f=this.#n[n]??0;for(let l of r){if(f===0){i" +
  "f(e.length-o<=p)break;Pe(e,o,l.length),o+=p,f=p}let a=f-p,u=l.subarray(a,a+e.length-o);if(e.set(u,o),o+=u.leng" +
  "th,f+=u.length,f-p<l.length)break;i++,f=0}let c=o-v;i===1?r.shift():r.splice(0,i),this.#n[n]=f,this.#o-=c,e[0]" +
  "=n,e[1]=c>>8,e[2]=c&255,e.fill(0,o)}};function $(t,e,r){let n=e+P;return t.set(r,n),t[e]=r.length>>8,t[e+1]=r." +
  "length&255,n+r.length}function Pe(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var Me=64*1024,ae=.5," +
  "Te=2,M=class{#e;#r;#t=[];#n=0;#o=0;#i=new Uint8Array(0);#a=\"off\";#s=0;#c;#u=0;#d=!0;#y=!1;#p=!1;#l=!1;#h=new S" +
  "et;#f={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#e=e,this.#r=new S(e.cellBytes)}g" +
  "et pendingBytes(){return this.#r.pendingBytes+this.#n+this.#o}get counts(){return{...this.#f}}push(e,r){this.#" +
  "l||(this.#t.length===0?this.#r.push(e,r):(R(r.length),this.#t.push({lane:e,envelope:r}),this.#n+=r.length+p),t" +
  "his.#m())}setCellBytes(e){this.#t.push({cellBytes:O(e)}),this.#C()}configure(e,r){if(!this.#l){if(e!==\"off\"&&!" +
  "(r>0))throw new RangeError(`Cover needs an interval above 0, not ${r}`);this.#c?.(),this.#c=void 0,this.#a=e,t" +
  "his.#s=r,this.#y=!1,this.#u=this.#e.nowMs(),e!==\"off\"&&this.#A(),this.#m()}}setCovering(e){this.#d=e}flush(e){" +
  "return this.#l?Promise.resolve(this.pendingBytes===0):!this.#p&&this.pendingBytes===0?Promise.resolve(!0):new " +
  "Promise(r=>{let n=i=>{this.#h.delete(n),o(),r(i)},o=this.#e.after(e,()=>n(!1));this.#h.add(n)})}stop(){this.#l" +
  "=!0,this.#c?.(),this.#c=void 0,this.#i=new Uint8Array(0);for(let e of this.#h)e(!1)}#m(){this.#p||this.#l||!th" +
  "is.#b()||(this.#p=!0,this.#E())}#b(){return this.#y||this.#a!==\"constant\"&&this.#r.pendingBytes>0}async#E(){aw" +
  "ait void 0;try{for(;!this.#l&&this.#b();){let e=this.#a===\"constant\"?this.#_():this.#k();if(await this.#e.writ" +
  "e(e,this.#r.cellBytes),this.#o=0,this.#l)break;this.#C(),this.#e.onWritten?.()}}catch(e){this.#o=0;let r=this." +
  "#l;this.stop(),r||this.#e.onFailed?.(e)}this.#p=!1,this.#B()}#B(){if(!(this.#l||this.pendingBytes>0)){this.#i." +
  "length>Te*this.#r.cellBytes&&(this.#i=new Uint8Array(0));for(let e of this.#h)e(!0)}}#_(){this.#y=!1;let e=thi" +
  "s.#g(1);return this.#x(e)?e:this.#v(e)}#k(){let{cellBytes:e,pendingBytes:r}=this.#r;if(r===0)return this.#y=!1" +
  ",this.#v(this.#g(1));let n=Math.ceil(r/(e-v))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(Me/e)))),i=0;for(;i" +
  "<o.length&&this.#x(o.subarray(i,i+e));)i+=e;return o.subarray(0,i)}#g(e){let r=e*this.#r.cellBytes;return this" +
  ".#i.length<r&&(this.#i=new Uint8Array(r)),this.#i.subarray(0,r)}#x(e){let r=this.#r.pendingBytes;if(this.#r.ne" +
  "xt(e)===void 0)return!1;let n=r-this.#r.pendingBytes;return this.#o+=n,this.#f.cells++,this.#f.paddingBytes+=e" +
  ".length-v-n,this.#w(e,v+n),!0}#v(e){return this.#f.cells++,this.#f.coverCells++,this.#f.coverBytes+=e.length,t" +
  "his.#w(e.fill(0),v),e}#w(e,r){let{rider:n}=this.#e;if(n!==void 0)for(let o=r;e.length-o>P;){let i=n(e.length-o" +
  "-P);if(i===void 0)return;o=$(e,o,i)}}#A(){let e=this.#e.nowMs();this.#c=this.#e.after(this.#a===\"poisson\"?this" +
  ".#U():this.#S(e),()=>{this.#y=this.#d||this.#a===\"constant\"&&this.#r.pendingBytes>0,this.#A(),this.#m()})}#U()" +
  "{return-Math.log(1-this.#e.random())*this.#s}#S(e){this.#u=Oe(this.#u,this.#s,e);let r=this.#e.random()*ae*thi" +
  "s.#s;return Math.max((1-ae)*this.#s,this.#u-r-e)}#C(){for(;this.#r.pendingBytes===0&&this.#t.length>0;){let e=" +
  "this.#t.findIndex((r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"" +
  "in r?this.#r.cellBytes=r.cellBytes:(this.#n-=r.envelope.length+p,this.#r.push(r.lane,r.envelope))}}};function " +
  "Oe(t,e,r){if(r<t-e)return r+e;let n=Math.max(0,Math.floor((r-t)/e));return t+(n+1)*e}async function j({body:t}" +
  ",e){let r=t?.getReader();if(r===void 0)return\"\";let n=new TextDecoder,o=\"\";try{for(let i=await r.read();i.valu" +
  "e!==void 0;i=await r.read())if(o+=n.decode(i.value,{stream:!0}),o.length>e)return;return o}finally{await r.can" +
  "cel()}}var h=class extends Error{name=\"StaticError\";code;retryable;retryAfterMs;epoch;channel;unreachable;memb" +
  "ers;constructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.retryable=n.retrya" +
  "ble??E[e].retryable,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch,this.channel=n.channel,this.unreachabl" +
  "e=n.unreachable,this.members=n.members}},T=class extends h{name=\"TransportError\"},V=class extends T{name=\"Unav" +
  "ailableError\"},J=class extends T{name=\"InternalError\"},z=class extends h{name=\"AuthError\"},W=class extends h{n" +
  "ame=\"ChannelError\"},G=class extends W{name=\"RemovedError\";by;atMs;constructor(e,r,n={}){super(e,r,n),this.by=n" +
  ".by,this.atMs=n.atMs}},Q=class extends h{name=\"QuotaExceededError\"},X=class extends h{name=\"MlsError\"},Y=class" +
  " extends h{name=\"InvalidArgumentError\"},Z=class extends h{name=\"StoreError\"},ee=class extends h{name=\"RemoteEr" +
  "ror\";remoteCode;constructor(e,{remoteCode:r=\"failed\",...n}={}){super(\"remote_error\",e,n),this.remoteCode=r}};f" +
  "unction b(t){return(e,r,n)=>new t(e,r,n)}var Re={TransportError:b(T),AuthError:b(z),ChannelError:b(W),QuotaExc" +
  "eededError:b(Q),MlsError:b(X),InvalidArgumentError:b(Y),StoreError:b(Z),UnavailableError:b(V),RemovedError:b(G" +
  "),RemoteError:(t,e,r)=>new ee(e,r),InternalError:b(J)};function re(t,e,r){return Re[E[t].errorClass](t,e,r)}fu" +
  "nction de(t,e){return e!==void 0&&B(e)?e:t===429?\"rate_limited\":t===503?\"overloaded\":void 0}var ce=2,_=5,We=64" +
  "*1024,Ie=10,le=new TextDecoder;function ue(t){let e=new Uint8Array(_+t.length);return Ke(e,1,t.length),e.set(t" +
  ",_),e}function fe(t){let{value:e,end:r}=me(t,0,Ie);if(r!==t.length)throw new m(\"protocol_error\",\"A cell's mess" +
  "age holds more than a cell\");return e}function ye(t,e,r){let[n,o]=[te(10,t.length),te(26,r.length)],i=new Uint" +
  "8Array(9);return i[0]=17,new DataView(i.buffer).setBigUint64(1,BigInt(e),!0),L([n,t,i,o,r])}function pe(t){ret" +
  "urn L([te(10,t.length),t])}function he(t){let e={code:\"\",message:\"\"};for(let{field:r,value:n}of Le(t))r===4&&t" +
  "ypeof n==\"number\"&&(e={...e,retryAfterMs:n}),typeof n!=\"number\"&&(r===1&&(e={...e,code:le.decode(n)}),r===2&&(" +
  "e={...e,message:le.decode(n)}));return e}var I=class{#e=new Uint8Array(_);#r=0;#t=new Uint8Array(0);#n=0;read(" +
  "e,r){let n=0;for(;n<e.length;){if(this.#r<_){let i=e.subarray(n,n+_-this.#r);if(this.#e.set(i,this.#r),this.#r" +
  "+=i.length,n+=i.length,this.#r<_)return;this.#o()}let o=e.subarray(n,n+this.#t.length-this.#n);n+=o.length,o.l" +
  "ength===this.#t.length?this.#i(o,r):(this.#t.set(o,this.#n),this.#n+=o.length,this.#n===this.#t.length&&this.#" +
  "i(this.#t,r))}}#o(){let e=new DataView(this.#e.buffer).getUint32(1);if(e===0||e>We)throw new m(\"protocol_error" +
  "\",`A message of ${e} bytes where cells are expected`);this.#t.length!==e&&(this.#t=new Uint8Array(e)),this.#n=" +
  "0}#i(e,r){this.#r=0,r(this.#e[0]??0,e)}};function L(t){let e=new Uint8Array(t.reduce((n,{length:o})=>n+o,0)),r" +
  "=0;for(let n of t)e.set(n,r),r+=n.length;return e}function te(t,e){let r=[t];for(let n=e;n>0||r.length===1;n>>" +
  ">=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}function me(t,e,r){if(t[e]!==r)throw new m(\"protocol_e" +
  "rror\",\"A message without the field that it must have\");let{value:n,end:o}=ge(t,e+1);if(n>t.length-o)throw be()" +
  ";return{value:t.subarray(o,o+n),end:o+n}}function*Le(t){for(let e=0;e<t.length;){let r=t[e]??0,{value:n,end:o}" +
  "=(r&7)===0?ge(t,e+1):me(t,e,r&-8|2);yield{field:r>>3,value:n},e=o}}function ge(t,e){let r=0;for(let[n,o]=[1,e]" +
  ";o<t.length&&n<2**63;n*=128){let i=t[o++]??0;if(r+=(i&127)*n,i<128)return{value:r,end:o}}throw be()}function b" +
  "e(){return new m(\"protocol_error\",\"A field goes beyond the end of its message\")}function Ke(t,e,r){new DataVie" +
  "w(t.buffer,t.byteOffset).setUint32(e,r)}var De=\"static.relay.v1.ErrorDetail\",He=1024;function oe(t,e){let r=Ne" +
  "(t),{message:n,details:o}=ne(r.error??r);for(let i of Array.isArray(o)?o:[]){let{type:f,value:c}=ne(i),l=f===D" +
  "e&&typeof c==\"string\"?Fe(()=>qe(c)):void 0;if(l!==void 0)return l}return{message:typeof n==\"string\"?n.slice(0," +
  "He):e}}function xe(t,e,{message:r,...n}){let o=de(t);if(o===void 0)return{message:r};if(n.code!==void 0)return" +
  "{message:r,...n};let i=typeof e==\"string\"?Number(e)*1e3:NaN;return{code:o,message:r,...i>=0&&{retryAfterMs:i}}" +
  "}function Fe(t){try{let{code:e,message:r,retryAfterMs:n}=he(t());return B(e)?{code:e,message:r,...n!==void 0&&" +
  "{retryAfterMs:n}}:void 0}catch{return}}function qe(t){return Uint8Array.from(atob(t),e=>e.charCodeAt(0))}funct" +
  "ion Ne(t){try{return ne(JSON.parse(t))}catch{return{}}}function ne(t){return typeof t==\"object\"&&t!==null?t:{}" +
  "}function k(t){let e=[];for(let r=t;r!==void 0&&e.length<3;r=r instanceof Error?r.cause:void 0){let n=r instan" +
  "ceof Error?r.message:String(r);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e.join(\": \")}var $e=32,je=1" +
  "e3,Ve=64*1024,Je={\"connect-protocol-version\":\"1\"};function we(t){let{openHttp:e,unusable:r,randomBytes:n}=t;re" +
  "turn{transport:\"cells\",carrier:\"tcp\",unusable:r,connect:(o,i)=>{let f=e(o.trust),c=new AbortController;c.signa" +
  "l.addEventListener(\"abort\",()=>f.close());let l=ze(f,o,c.signal),a=n($e),u=l(\"CellDown\",\"application/connect+p" +
  "roto\",ue(pe(a))),w=(C,F)=>l(\"CellUp\",\"application/proto\",ye(a,C,F)),A=new ie(u,w,c,t);return i.aborted&&A.clos" +
  "e(),Promise.resolve(A)}}}function ze(t,{host:e,port:r},n){let o=`${e.includes(\":\")?`[${e}]`:e}:${r}`;return as" +
  "ync(i,f,c)=>{let l=await t.request(`https://${o}/static.relay.v1.Relay/${i}`,{method:\"POST\",headers:{...Je,\"co" +
  "ntent-type\":f},body:c,signal:n,redirect:\"error\",credentials:\"omit\",cache:\"no-store\"});if(l.status===200)return" +
  " l;let a=await j(l,Ve)??\"\",u=oe(a,`The relay returned HTTP status ${l.status} for ${i}`),{code:w,message:A,ret" +
  "ryAfterMs:C}=xe(l.status,l.headers.get(\"retry-after\"),u);throw re(w??\"transport_error\",A,C===void 0?{}:{retryA" +
  "fterMs:C})}}var ie=class{#e;#r;#t;#n;#o=new Set;#i=new I;#a=0;#s=()=>{};closed;constructor(e,r,n,o){this.#e=e." +
  "then(i=>i.body?.getReader()),this.#e.catch(()=>{}),this.#r=r,this.#t=o,this.#n=n,this.closed=new Promise(i=>th" +
  "is.#s=i)}async read(){try{for(;;){let e=await(await this.#e)?.read();if(e?.value===void 0)return this.#d({mess" +
  "age:\"the connection was cut off\"});let{cells:r,end:n}=this.#u(e.value);if(n!==void 0&&this.#d(n),r.length>0)re" +
  "turn L(r);if(n!==void 0)return}}catch(e){return this.#d(ve(e))}}async write(e,r){for(let n=0;n<e.length;n+=r){" +
  "this.#n.signal.throwIfAborted();let o=this.#c(e.subarray(n,n+r)).finally(()=>this.#o.delete(o));this.#o.add(o)" +
  ",this.#o.size>=this.#t.callsAtOnce&&await Promise.race(this.#o)}this.#n.signal.throwIfAborted()}async#c(e){try" +
  "{await(await this.#r(++this.#a,e)).arrayBuffer()}catch(r){this.#d(ve(r))}}close(){let e={message:\"it was close" +
  "d by this side\"};if(this.#o.size===0)return this.#d(e);this.#s(e);let r=this.#t.after(je,()=>this.#d(e));Promi" +
  "se.all(this.#o).then(()=>{r(),this.#d(e)})}#u(e){let r=[],n;return this.#i.read(e,(o,i)=>{o===0?r.push(fe(i).s" +
  "lice()):n=o===ce?Ge(i):{message:\"compressed cells were not asked for\"}}),{cells:r,end:n}}#d(e){this.#s(e),this" +
  ".#n.abort(re(\"transport_error\",e.message))}};function ve(t){if(!(t instanceof h)||t.code===\"transport_error\")r" +
  "eturn{message:k(t)};let{code:e,message:r,retryAfterMs:n}=t;return{code:e,message:r,retryAfterMs:n}}function Ge" +
  "(t){return oe(new TextDecoder().decode(t),\"the relay ended the stream\")}var K=class{#e=new Map;#r;#t=1/0;#n=0;" +
  "after(e,r){let n=Math.ceil((performance.now()+e)/250),o={run:r},i=this.#e.get(n);return i===void 0?this.#e.set" +
  "(n,new Set([o])):i.add(o),this.#n++,n<this.#t?this.#a(n):this.#n===1&&this.#i(!0),()=>{this.#o(n,o)}}#o(e,r){l" +
  "et n=this.#e.get(e);return n===void 0||!n.delete(r)?!1:(n.size===0&&this.#e.delete(e),this.#n--,this.#n===0&&t" +
  "his.#i(!1),!0)}#i(e){typeof this.#r==\"object\"&&(e?this.#r.ref():this.#r.unref())}#a(e){clearTimeout(this.#r),t" +
  "his.#t=e;let r=Math.max(0,e*250-performance.now());this.#r=setTimeout(()=>this.#s(),Math.min(r,2147483647))}#s" +
  "(){this.#r=void 0,this.#t=1/0;let e=performance.now(),r=1/0;for(let[n,o]of this.#e)if(n*250>e)r=Math.min(r,n);" +
  "else for(let i of o)queueMicrotask(()=>this.#o(n,i)&&i.run());r<1/0&&this.#a(r)}};function Ae(){return Date.no" +
  "w()}var Qe=5e3,Xe=new K;function U(t,e){if(t>=Qe)return Xe.after(t,e);let r=setTimeout(e,t);return()=>clearTim" +
  "eout(r)}function D(t){return crypto.getRandomValues(new Uint8Array(t))}function Ye(){return{request:(t,e)=>fet" +
  "ch(t,e),close:()=>{}}}var Ze=16,Ce=we({openHttp:Ye,unusable:er,randomBytes:D,callsAtOnce:Ze,after:U});function" +
  " er({caCerts:t,certificateHashes:e}){return t.length>0||e.length>0?\"a browser's fetch trusts only what the bro" +
  "wser trusts; tls options do not apply\":void 0}var rr=1500,tr=64*1024;function Ee(t){let e=t.readable.getReader" +
  "({mode:\"byob\"}),r=t.writable.getWriter();r.closed.catch(()=>{});let n=new ArrayBuffer(tr),o=()=>{},i=new Promi" +
  "se(a=>o=a),f,c=a=>{f?.(),o(a)};t.closed.then(({closeCode:a=0})=>c(nr(a)),a=>c({message:k(a)}));let l=()=>{r.cl" +
  "ose().catch(()=>{}),f??=t.after(rr,()=>{t.close(0),o({message:\"the relay ended the stream\"})})};return{read:as" +
  "ync()=>{try{let{value:a}=await e.read(new Uint8Array(n));if(a!==void 0&&a.length>0)return n=a.buffer,a}catch{}" +
  "l()},write:async a=>{try{await r.write(a)}catch(u){throw l(),u}},close:a=>{o({message:\"it was closed by this s" +
  "ide\"}),a===0?l():t.close(a)},closed:i}}function nr(t){let e=q(t);return e===void 0?{message:\"the relay closed " +
  "the connection\"}:{code:e,message:`the relay closed the connection with ${e}`}}var _e={transport:\"webtransport\"" +
  ",carrier:\"udp\",unusable:({caCerts:t})=>Be()===void 0?\"this browser has no WebTransport\":t.length>0?\"a browser " +
  "takes no certificates; give tls.certificateHashes\":void 0,connect:async({host:t,port:e,trust:r},n)=>{let o=Be(" +
  ");if(o===void 0)throw new Error(\"this browser has no WebTransport\");n.throwIfAborted();let i=r.certificateHash" +
  "es.map(u=>({algorithm:\"sha-256\",value:u})),f=`${t.includes(\":\")?`[${t}]`:t}:${e}`,c=new o(`https://${f}/`,{..." +
  "i.length>0&&{serverCertificateHashes:i}});c.closed.catch(()=>{});let l=u=>c.close({closeCode:u}),a=()=>l(0);n." +
  "addEventListener(\"abort\",a);try{await c.ready;let{readable:u,writable:w}=await c.createBidirectionalStream();r" +
  "eturn Ee({readable:u,writable:w,closed:c.closed,close:l,after:U})}catch(u){throw n.aborted?n.reason:u}finally{" +
  "n.removeEventListener(\"abort\",a)}}};function Be(){return globalThis.WebTransport}var H=class{#e=new Map;offer(" +
  "e,r){this.#e.delete(e),this.#e.set(e,r)}take(e){for(let[r,n]of this.#e)if(!(n.length>e))return this.#e.delete(" +
  "r),n}};var or=2e3;function ke(t,e){let r,n,o=0,i=new H,f=a=>{t.post({kind:\"written\",takenBytes:o-a.pendingByte" +
  "s,counts:a.counts})},c=async({transport:a,target:u,isTapped:w})=>{let A=e.connectors.find(x=>x.transport===a);" +
  "if(A===void 0)throw new Error(`no way to connect by ${a} in a thread of its own`);let C=r=await A.connect(u,ne" +
  "w AbortController().signal),F=n=new M({cellBytes:g.cellBytes,write:(x,se)=>(w&&t.post({kind:\"sent\",cells:x.sli" +
  "ce(),cellBytes:se}),C.write(x,se)),after:e.after,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer" +
  ").getUint32(0)/2**32,rider:x=>i.take(x),onWritten:()=>f(F),onFailed:()=>t.post({kind:\"failed\"})});C.closed.the" +
  "n(x=>t.post({kind:\"closed\",end:x})),t.post({kind:\"connected\"})},l=async()=>{let a=await r?.read();t.post({kind" +
  ":\"chunk\",bytes:a?.slice()})};t.listen(a=>{switch(a.kind){case\"connect\":return void c(a).catch(u=>t.post({kind:" +
  "\"refused\",message:k(u)}));case\"push\":return o+=a.envelope.length+p,n?.push(a.lane,a.envelope);case\"offer\":retu" +
  "rn i.offer(a.key,a.envelope);case\"cellBytes\":return n?.setCellBytes(a.cellBytes);case\"configure\":return n?.con" +
  "figure(a.mode,a.intervalMs);case\"covering\":return n?.setCovering(a.covering);case\"flush\":return void n?.flush(" +
  "a.timeoutMs).then(u=>{t.post({kind:\"flushed\",id:a.id,flushed:u})});case\"read\":return void l();case\"stop\":retur" +
  "n n?.stop();case\"close\":return r?.close(a.closeCode),void e.after(or,e.exit)}})}function Ue(t){let e=globalThi" +
  "s;ke({post:r=>e.postMessage(r),listen:r=>{e.onmessage=({data:n})=>r(n)}},{connectors:t,nowMs:Ae,after:U,random" +
  "Bytes:D,exit:()=>e.close()})}Ue([_e,Ce]);\n";
